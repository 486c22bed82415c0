"""Decision trees: exact and histogram splits, pruning, and the flat arrays that hold them.

:class:`DecisionTreeClassifier` and :class:`DecisionTreeRegressor` grow by the split that lowers
the impurity (:func:`gini_index`, :func:`node_entropy`) or the error most, found exactly
(:func:`best_split`) or among bins. :func:`prune_by_cross_validation` cuts a tree back to what
other rows confirm, along its weakest links (:func:`weakest_links`). :class:`TreeDisplay` and
:func:`export_text` show it.

:class:`Tree` and :class:`Trees` are the fitted form that trees, forests and boosting share: flat
arrays that are saved, walked and explained in one way.
"""

from corollary.tree.binning import Bins as Bins
from corollary.tree.binning import ColumnSketch as ColumnSketch
from corollary.tree.binning import choose_cuts as choose_cuts
from corollary.tree.binning import find_bins as find_bins
from corollary.tree.bitsets import pack_categories as pack_categories
from corollary.tree.bitsets import unpack_categories as unpack_categories
from corollary.tree.categories import Categories as Categories
from corollary.tree.contribution_display import ContributionDisplay as ContributionDisplay
from corollary.tree.decision_tree_classifier import DecisionTreeClassifier as DecisionTreeClassifier
from corollary.tree.decision_tree_regressor import DecisionTreeRegressor as DecisionTreeRegressor
from corollary.tree.display import TreeDisplay as TreeDisplay
from corollary.tree.impurity import gini_index as gini_index
from corollary.tree.impurity import information_gain as information_gain
from corollary.tree.impurity import misclassification as misclassification
from corollary.tree.impurity import node_entropy as node_entropy
from corollary.tree.partition import PiecewiseConstant as PiecewiseConstant
from corollary.tree.partition import fit_partition as fit_partition
from corollary.tree.partition import leaf_boxes as leaf_boxes
from corollary.tree.partition import optimal_segments as optimal_segments
from corollary.tree.pruning import PruningPath as PruningPath
from corollary.tree.pruning import prune as prune
from corollary.tree.pruning import weakest_links as weakest_links
from corollary.tree.pruning_cv import PruningChoice as PruningChoice
from corollary.tree.pruning_cv import prune_by_cross_validation as prune_by_cross_validation
from corollary.tree.rules import export_text as export_text
from corollary.tree.shapley import expected_values as expected_values
from corollary.tree.shapley import tree_contributions as tree_contributions
from corollary.tree.split import Split as Split
from corollary.tree.split import best_split as best_split
from corollary.tree.structure import Tree as Tree
from corollary.tree.structure import Trees as Trees
