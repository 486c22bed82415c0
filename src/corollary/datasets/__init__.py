"""Worlds whose truth is known, and small sets that show a point.

A world (:class:`corollary.core.world.World`) is a data distribution of which we know the best
possible prediction and its risk, so that guarantees can be simulated on it and demonstrations be
drawn from it. The small sets are the standard counter-examples of learning theory, with the
numbers that make them interesting attached.
"""

from corollary.datasets.causal import Confounded as Confounded
from corollary.datasets.causal import Feedback as Feedback
from corollary.datasets.causal import ReverseCausation as ReverseCausation
from corollary.datasets.causal import partial_correlation as partial_correlation
from corollary.datasets.collinear import Equicorrelated as Equicorrelated
from corollary.datasets.collinear import design_with_singular_values as design_with_singular_values
from corollary.datasets.collinear import ols_total_variance as ols_total_variance
from corollary.datasets.dependent import OwnedRows as OwnedRows
from corollary.datasets.dependent import Owners as Owners
from corollary.datasets.dependent import PeriodRows as PeriodRows
from corollary.datasets.dependent import RisingRisk as RisingRisk
from corollary.datasets.lloyd import lloyd_trap as lloyd_trap
from corollary.datasets.logistic import HighDimensionalLogistic as HighDimensionalLogistic
from corollary.datasets.logistic import LogisticWorld as LogisticWorld
from corollary.datasets.low_rank import LowRankTable as LowRankTable
from corollary.datasets.nonlinear import Circle as Circle
from corollary.datasets.nonlinear import Rings as Rings
from corollary.datasets.nonlinear import Xor as Xor
from corollary.datasets.projections import Hypercube as Hypercube
from corollary.datasets.projections import kolmogorov_distance as kolmogorov_distance
from corollary.datasets.rare_event import RareEvent as RareEvent
from corollary.datasets.regression import AdditiveNoise as AdditiveNoise
from corollary.datasets.regression import LinearGaussian as LinearGaussian
from corollary.datasets.separable import SeparableMargin as SeparableMargin
from corollary.datasets.separable import degenerate_pair as degenerate_pair
from corollary.datasets.separable import perceptron_not_max_margin as perceptron_not_max_margin
from corollary.datasets.separable import unsigned_margin as unsigned_margin
from corollary.datasets.shift import GaussianShift as GaussianShift
from corollary.datasets.shift import Shortcut as Shortcut
from corollary.datasets.tasks import Sinusoid as Sinusoid
from corollary.datasets.tasks import SinusoidTasks as SinusoidTasks
