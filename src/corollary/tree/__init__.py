"""Decision trees: exact and histogram splits, pruning, and the flat arrays that hold them.

:class:`DecisionTreeClassifier` and :class:`DecisionTreeRegressor` grow by the split that lowers
the impurity (:func:`gini_index`, :func:`node_entropy`) or the error most, found exactly
(:func:`best_split`) or among bins. :func:`prune_by_cross_validation` cuts a tree back to what
other rows confirm, along its weakest links (:func:`weakest_links`). :class:`TreeDisplay` and
:func:`export_text` show it.

:class:`Tree` and :class:`Trees` are the fitted form that trees, forests and boosting share: flat
arrays that are saved, walked and explained in one way.
"""

from corollary.tree._labels import TreeClassifier as TreeClassifier
from corollary.tree._model import TreeModel as TreeModel
from corollary.tree.binning.bins import Bins as Bins
from corollary.tree.binning.bins import choose_cuts as choose_cuts
from corollary.tree.binning.bins import find_bins as find_bins
from corollary.tree.binning.bitsets import pack_categories as pack_categories
from corollary.tree.binning.bitsets import unpack_categories as unpack_categories
from corollary.tree.binning.categories import Categories as Categories
from corollary.tree.binning.categories import categorical_columns as categorical_columns
from corollary.tree.binning.sketch import ColumnSketch as ColumnSketch
from corollary.tree.binning.table import BinnedTable as BinnedTable
from corollary.tree.decision_tree_classifier import DecisionTreeClassifier as DecisionTreeClassifier
from corollary.tree.decision_tree_regressor import DecisionTreeRegressor as DecisionTreeRegressor
from corollary.tree.explain.contribution_display import ContributionDisplay as ContributionDisplay
from corollary.tree.explain.display import TreeDisplay as TreeDisplay
from corollary.tree.explain.partial_dependence import (
    tree_partial_dependence as tree_partial_dependence,
)
from corollary.tree.explain.rules import export_text as export_text
from corollary.tree.explain.shapley import expected_values as expected_values
from corollary.tree.explain.shapley import tree_contributions as tree_contributions
from corollary.tree.extra_tree import ExtraTreeClassifier as ExtraTreeClassifier
from corollary.tree.extra_tree import ExtraTreeRegressor as ExtraTreeRegressor
from corollary.tree.growth._problem import GrowthProblem as GrowthProblem
from corollary.tree.growth._problem import GrowthRules as GrowthRules
from corollary.tree.growth.exact import grow_exact as grow_exact
from corollary.tree.growth.exact import grow_on_bins as grow_on_bins
from corollary.tree.growth.histogram import grow_histogram as grow_histogram
from corollary.tree.growth.impurity import gini_index as gini_index
from corollary.tree.growth.impurity import information_gain as information_gain
from corollary.tree.growth.impurity import misclassification as misclassification
from corollary.tree.growth.impurity import node_entropy as node_entropy
from corollary.tree.growth.monotone import read_signs as read_signs
from corollary.tree.growth.partition import PiecewiseConstant as PiecewiseConstant
from corollary.tree.growth.partition import fit_partition as fit_partition
from corollary.tree.growth.partition import leaf_boxes as leaf_boxes
from corollary.tree.growth.partition import optimal_segments as optimal_segments
from corollary.tree.growth.split import Split as Split
from corollary.tree.growth.split import best_split as best_split
from corollary.tree.structure.arrays import TreeArrays as TreeArrays
from corollary.tree.structure.pruning import PruningPath as PruningPath
from corollary.tree.structure.pruning import prune as prune
from corollary.tree.structure.pruning import weakest_links as weakest_links
from corollary.tree.structure.pruning_cv import (
    prune_by_cross_validation as prune_by_cross_validation,
)
from corollary.tree.structure.tree import Tree as Tree
from corollary.tree.structure.trees import Trees as Trees
