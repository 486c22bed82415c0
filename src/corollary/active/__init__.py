"""What to ask next: queries that teach the most, and stay safe.

Learners are used by ``ask`` and ``tell`` on a finite :class:`Pool` or in a :class:`Box`: they say
what to query, alone or in batches, and take the answers in any order. :class:`TransductiveLearner`
and :class:`UncertaintySampler` ask for information about a function with a Gaussian process prior,
:class:`SafeITL` and :class:`SafeOpt` maximise one and keep every query above a threshold with
stated probability, :class:`CoverageSampler` covers a pool with balls. Classifiers of any kind are
served by :func:`query_uncertain`. The mathematics behind each is a function of its own.
"""

from corollary.active.covering.coverage import coverage_bound as coverage_bound
from corollary.active.covering.coverage import coverage_regions as coverage_regions
from corollary.active.covering.coverage import enemy_distances as enemy_distances
from corollary.active.covering.coverage import impurity as impurity
from corollary.active.covering.coverage import pure_radius as pure_radius
from corollary.active.covering.greedy_coverage import CoverageSampler as CoverageSampler
from corollary.active.covering.greedy_coverage import greedy_ball_coverage as greedy_ball_coverage
from corollary.active.display import ActiveLearningDisplay as ActiveLearningDisplay
from corollary.active.domain import Box as Box
from corollary.active.domain import ExhaustedError as ExhaustedError
from corollary.active.domain import Pool as Pool
from corollary.active.domain import Queries as Queries
from corollary.active.gaussian.growing import GrowingPosterior as GrowingPosterior
from corollary.active.gaussian.growing import View as View
from corollary.active.gaussian.information import conditional_variance as conditional_variance
from corollary.active.gaussian.information import mutual_information as mutual_information
from corollary.active.gaussian.information import query_information as query_information
from corollary.active.gaussian.prior import Prior as Prior
from corollary.active.gaussian.transductive import TransductiveLearner as TransductiveLearner
from corollary.active.gaussian.transductive import UncertaintySampler as UncertaintySampler
from corollary.active.safe.confidence import grid_multiplier as grid_multiplier
from corollary.active.safe.confidence import query_multiplier as query_multiplier
from corollary.active.safe.confidence import rkhs_multiplier as rkhs_multiplier
from corollary.active.safe.confidence import round_delta as round_delta
from corollary.active.safe.safe_itl import SafeITL as SafeITL
from corollary.active.safe.safe_opt import SafeOpt as SafeOpt
from corollary.active.safe.safe_opt import optimistic_lower as optimistic_lower
from corollary.active.safe.sets import SafeSets as SafeSets
from corollary.active.uncertainty import entropy as entropy
from corollary.active.uncertainty import least_confidence as least_confidence
from corollary.active.uncertainty import margin as margin
from corollary.active.uncertainty import query_uncertain as query_uncertain
