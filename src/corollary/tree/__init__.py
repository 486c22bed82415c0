"""Decision trees: exact and histogram splits, pruning, and the flat arrays that hold them.

:class:`Tree` and :class:`Trees` are the fitted form that trees, forests and boosting share: flat
arrays that are saved, walked and explained in one way.
"""

from corollary.tree.binning import Bins as Bins
from corollary.tree.binning import ColumnSketch as ColumnSketch
from corollary.tree.binning import choose_cuts as choose_cuts
from corollary.tree.binning import find_bins as find_bins
from corollary.tree.categories import Categories as Categories
from corollary.tree.shapley import expected_values as expected_values
from corollary.tree.shapley import tree_contributions as tree_contributions
from corollary.tree.structure import Tree as Tree
from corollary.tree.structure import Trees as Trees
from corollary.tree.structure import pack_categories as pack_categories
from corollary.tree.structure import unpack_categories as unpack_categories
