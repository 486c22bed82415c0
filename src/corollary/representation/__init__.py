"""What a measurement is: its type, its scale, its geometry, and its preparation for learning.

The package answers the questions that come before a model. What was measured, and on which scale
(:class:`DataType`, :class:`ScaleType`, :func:`infer_scale_type`)? Does a statistic make sense on
that scale (:func:`is_invariant`)? Is this matrix a metric, an ultrametric, Euclidean
(:func:`check_metric` and its neighbours)? And it prepares data: :class:`TableEncoder` turns mixed
columns into numbers, :class:`StandardScaler` and :class:`Whitener` put them on a common footing,
:func:`remove_outliers` cleans training rows by a stated rule. Images and sounds become rows by
:func:`edge_features` and :func:`mel_cepstrum`.

Checkers return an :class:`AxiomCheck`, which counts as true if the axioms hold and otherwise names
the axiom that fails and a witness.
"""

from corollary.representation.geometry.metrics import EuclideanCheck as EuclideanCheck
from corollary.representation.geometry.metrics import check_euclidean as check_euclidean
from corollary.representation.geometry.metrics import check_metric as check_metric
from corollary.representation.geometry.metrics import check_scalar_product as check_scalar_product
from corollary.representation.geometry.metrics import check_ultrametric as check_ultrametric
from corollary.representation.geometry.metrics import discrete_metric as discrete_metric
from corollary.representation.geometry.metrics import induced_norm as induced_norm
from corollary.representation.geometry.topology import check_topology as check_topology
from corollary.representation.geometry.topology import generate_topology as generate_topology
from corollary.representation.measurement.data_types import DataType as DataType
from corollary.representation.measurement.data_types import Measurement as Measurement
from corollary.representation.measurement.data_types import check_pairwise as check_pairwise
from corollary.representation.measurement.data_types import classify_data_type as classify_data_type
from corollary.representation.measurement.data_types import contingency_table as contingency_table
from corollary.representation.measurement.data_types import to_pairwise as to_pairwise
from corollary.representation.measurement.probability import (
    FiniteProbabilitySpace as FiniteProbabilitySpace,
)
from corollary.representation.measurement.probability import atoms as atoms
from corollary.representation.measurement.probability import check_algebra as check_algebra
from corollary.representation.measurement.probability import coin_flips as coin_flips
from corollary.representation.measurement.probability import generate_algebra as generate_algebra
from corollary.representation.measurement.scale_types import ScaleType as ScaleType
from corollary.representation.measurement.scale_types import classify_map as classify_map
from corollary.representation.measurement.scale_types import infer_scale_type as infer_scale_type
from corollary.representation.measurement.scale_types import is_invariant as is_invariant
from corollary.representation.measurement.scale_types import (
    random_transformation as random_transformation,
)
from corollary.representation.measurement.space_sizes import count_colourings as count_colourings
from corollary.representation.measurement.space_sizes import (
    count_permutations as count_permutations,
)
from corollary.representation.measurement.space_sizes import (
    count_spanning_trees as count_spanning_trees,
)
from corollary.representation.measurement.space_sizes import count_tours as count_tours
from corollary.representation.measurement.space_sizes import (
    count_weighted_graphs as count_weighted_graphs,
)
from corollary.representation.measurement.space_sizes import log_data_space as log_data_space
from corollary.representation.measurement.space_sizes import (
    smallest_informative_size as smallest_informative_size,
)
from corollary.representation.scaling.outliers import outlier_mask as outlier_mask
from corollary.representation.scaling.outliers import remove_outliers as remove_outliers
from corollary.representation.scaling.standardise import StandardScaler as StandardScaler
from corollary.representation.scaling.standardise import feature_moments as feature_moments
from corollary.representation.scaling.standardise import standardise as standardise
from corollary.representation.scaling.whitening import Whitener as Whitener
from corollary.representation.scaling.whitening import whitening_matrix as whitening_matrix
from corollary.representation.signals.edges import ImageGradients as ImageGradients
from corollary.representation.signals.edges import edge_features as edge_features
from corollary.representation.signals.edges import sobel_gradients as sobel_gradients
from corollary.representation.signals.mel import hertz_to_mel as hertz_to_mel
from corollary.representation.signals.mel import mel_cepstrum as mel_cepstrum
from corollary.representation.signals.mel import mel_filters as mel_filters
from corollary.representation.signals.mel import mel_to_hertz as mel_to_hertz
from corollary.representation.signals.mel import power_spectrum as power_spectrum
from corollary.representation.table._kinds import ColumnContent as ColumnContent
from corollary.representation.table.column import Column as Column
from corollary.representation.table.column import ColumnTable as ColumnTable
from corollary.representation.table.date_plan import DatePlan as DatePlan
from corollary.representation.table.encoder import TableEncoder as TableEncoder
from corollary.representation.table.level_plans import IndicatorPlan as IndicatorPlan
from corollary.representation.table.level_plans import LevelPlan as LevelPlan
from corollary.representation.table.level_plans import level_statistics as level_statistics
from corollary.representation.table.number_plan import NumberPlan as NumberPlan
from corollary.representation.table.number_plan import is_few as is_few
from corollary.representation.table.number_plan import stays_away_from_zero as stays_away_from_zero
from corollary.representation.table.plan import ColumnPlan as ColumnPlan
from corollary.representation.table.plan import UnusedPlan as UnusedPlan
from corollary.representation.table.text_plan import TextPlan as TextPlan
