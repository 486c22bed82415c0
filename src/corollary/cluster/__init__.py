"""Clusters: rows grouped around centres, and how far a grouping is from the best one.

:class:`KMeans` starts by k-means++ and descends by Lloyd's iteration, in memory, over files and on
clusters of machines with the same bits; :class:`MiniBatchKMeans` learns from batches.
:func:`exact_kmeans` and :func:`kmeans_1d` find the least cost itself, and
:func:`certify_least_cost` bounds it where that is too much to ask. :class:`KMedoids` has rows as
centres and :class:`KMedians` medians, which outliers move less. :class:`VectorQuantizer` replaces
rows by the codes of their centres, and :class:`PseudoLabelFeatures` trains a network to predict
them. :func:`find_valley` tests whether there are clusters at all, and :func:`split_at_valleys` cuts
rows only where that is shown.
"""

from corollary.cluster._windows import valley_p_value as valley_p_value
from corollary.cluster.display import ClusterDisplay as ClusterDisplay
from corollary.cluster.exact import count_partitions as count_partitions
from corollary.cluster.exact import exact_kmeans as exact_kmeans
from corollary.cluster.exact import kmeans_1d as kmeans_1d
from corollary.cluster.means.kmeans import KMeans as KMeans
from corollary.cluster.means.lloyd import lloyd as lloyd
from corollary.cluster.means.lloyd import lloyd_step as lloyd_step
from corollary.cluster.means.mini_batch import MiniBatchKMeans as MiniBatchKMeans
from corollary.cluster.means.seeding import certify_least_cost as certify_least_cost
from corollary.cluster.means.seeding import kmeans_plusplus as kmeans_plusplus
from corollary.cluster.means.seeding import kmeans_plusplus_factor as kmeans_plusplus_factor
from corollary.cluster.means.seeding import least_cost_bound as least_cost_bound
from corollary.cluster.means.seeding import seeding_probabilities as seeding_probabilities
from corollary.cluster.medians import KMedians as KMedians
from corollary.cluster.medians import coordinate_median as coordinate_median
from corollary.cluster.medians import geometric_median as geometric_median
from corollary.cluster.medoids import KMedoids as KMedoids
from corollary.cluster.medoids import find_medoids as find_medoids
from corollary.cluster.objective import centers_cost as centers_cost
from corollary.cluster.objective import centroids as centroids
from corollary.cluster.objective import nearest_centers as nearest_centers
from corollary.cluster.objective import pairwise_cost as pairwise_cost
from corollary.cluster.objective import pairwise_variance as pairwise_variance
from corollary.cluster.objective import partition_cost as partition_cost
from corollary.cluster.pseudo_labels import PseudoLabelFeatures as PseudoLabelFeatures
from corollary.cluster.pseudo_labels import refill_by_splitting as refill_by_splitting
from corollary.cluster.quantisation import VectorQuantizer as VectorQuantizer
from corollary.cluster.valley import find_valley as find_valley
from corollary.cluster.valley import split_at_valleys as split_at_valleys
