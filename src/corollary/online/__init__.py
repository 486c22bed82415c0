"""Learners that see one round at a time, with their mistake and regret bounds.

In every round a learner predicts, sees the truth and learns. Rounds come in arrays:
``partial_fit`` on a chunk equals its rows one by one, and ``run`` goes through a stream (arrays,
chunks, Parquet or CSV files) and returns a :class:`Record` of losses, mistakes, regret and the
bound of the learner's theorem at every round; :class:`RegretDisplay` draws both.

Experts: :class:`Halving`, :class:`WeightedMajority`, :class:`WeightedAverage`, :class:`Hedge`.
Linear rules: :class:`OnlinePerceptron`, :class:`OnlineGradientDescent`,
:class:`PassiveAggressive`, :class:`KernelPerceptron`. Boolean functions: :class:`Winnow`,
:class:`DisjunctionExperts`, :class:`AllSubsetsWinnow`. Every bound is a function, and every bound
has streams that come close to it (:func:`perceptron_adversary` and its kin). For work on tables
there are two estimators, :class:`OnlineClassifier` and :class:`OnlineRegressor`, with
:class:`HashingEncoder` for strings.
"""

from corollary.online.adversaries import halving_adversary as halving_adversary
from corollary.online.adversaries import hedge_adversary as hedge_adversary
from corollary.online.adversaries import ogd_adversary as ogd_adversary
from corollary.online.adversaries import perceptron_adversary as perceptron_adversary
from corollary.online.adversaries import weighted_majority_adversary as weighted_majority_adversary
from corollary.online.adversaries import winnow_adversary as winnow_adversary
from corollary.online.boolean.all_subsets import AllSubsetsWinnow as AllSubsetsWinnow
from corollary.online.boolean.all_subsets import (
    all_subsets_winnow_bound as all_subsets_winnow_bound,
)
from corollary.online.boolean.disjunctions import DisjunctionExperts as DisjunctionExperts
from corollary.online.boolean.disjunctions import disjunction_experts as disjunction_experts
from corollary.online.boolean.disjunctions import (
    disjunction_experts_bound as disjunction_experts_bound,
)
from corollary.online.boolean.disjunctions import disjunction_witness as disjunction_witness
from corollary.online.boolean.disjunctions import (
    perceptron_disjunction_bound as perceptron_disjunction_bound,
)
from corollary.online.boolean.functions import DNF as DNF
from corollary.online.boolean.functions import all_inputs as all_inputs
from corollary.online.boolean.functions import conjunction as conjunction
from corollary.online.boolean.functions import disjunction as disjunction
from corollary.online.boolean.functions import dnf_from_truth_table as dnf_from_truth_table
from corollary.online.boolean.functions import random_disjunction as random_disjunction
from corollary.online.boolean.functions import random_dnf as random_dnf
from corollary.online.boolean.winnow import Winnow as Winnow
from corollary.online.boolean.winnow import winnow_mistake_bound as winnow_mistake_bound
from corollary.online.display import RegretDisplay as RegretDisplay
from corollary.online.experts.hedge import Hedge as Hedge
from corollary.online.experts.hedge import hedge_anytime_bound as hedge_anytime_bound
from corollary.online.experts.hedge import hedge_draws as hedge_draws
from corollary.online.experts.hedge import hedge_rate as hedge_rate
from corollary.online.experts.hedge import hedge_regret_bound as hedge_regret_bound
from corollary.online.experts.hedge import hedge_second_order_bound as hedge_second_order_bound
from corollary.online.experts.majority import Halving as Halving
from corollary.online.experts.majority import WeightedMajority as WeightedMajority
from corollary.online.experts.majority import halving_bound as halving_bound
from corollary.online.experts.majority import weighted_majority_bound as weighted_majority_bound
from corollary.online.experts.weighted_average import WeightedAverage as WeightedAverage
from corollary.online.experts.weighted_average import entropic_loss as entropic_loss
from corollary.online.experts.weighted_average import entropy_progress as entropy_progress
from corollary.online.experts.weighted_average import exponential_weights as exponential_weights
from corollary.online.experts.weighted_average import (
    weighted_average_bound as weighted_average_bound,
)
from corollary.online.hashing import HashingEncoder as HashingEncoder
from corollary.online.hashing import hash_strings as hash_strings
from corollary.online.linear.classifier import OnlineClassifier as OnlineClassifier
from corollary.online.linear.gradient_descent import OnlineGradientDescent as OnlineGradientDescent
from corollary.online.linear.gradient_descent import adagrad_regret_bound as adagrad_regret_bound
from corollary.online.linear.gradient_descent import ogd_decreasing_bound as ogd_decreasing_bound
from corollary.online.linear.gradient_descent import ogd_rate as ogd_rate
from corollary.online.linear.gradient_descent import ogd_regret_bound as ogd_regret_bound
from corollary.online.linear.gradient_descent import (
    ogd_second_order_bound as ogd_second_order_bound,
)
from corollary.online.linear.kernel_perceptron import KernelPerceptron as KernelPerceptron
from corollary.online.linear.kernel_perceptron import (
    kernel_perceptron_dnf_bound as kernel_perceptron_dnf_bound,
)
from corollary.online.linear.passive_aggressive import PassiveAggressive as PassiveAggressive
from corollary.online.linear.passive_aggressive import (
    passive_aggressive_bound as passive_aggressive_bound,
)
from corollary.online.linear.passive_aggressive import (
    passive_aggressive_step as passive_aggressive_step,
)
from corollary.online.linear.perceptron import OnlinePerceptron as OnlinePerceptron
from corollary.online.linear.perceptron import conservative_ogd_bound as conservative_ogd_bound
from corollary.online.linear.perceptron import perceptron_mistake_bound as perceptron_mistake_bound
from corollary.online.linear.perceptron import perceptron_trace as perceptron_trace
from corollary.online.linear.regressor import OnlineRegressor as OnlineRegressor
from corollary.online.online_to_batch import online_to_batch_bound as online_to_batch_bound
from corollary.online.online_to_batch import stop_at_random as stop_at_random
from corollary.online.protocol import OnlineLearner as OnlineLearner
from corollary.online.protocol import Record as Record
from corollary.online.protocol import Rounds as Rounds
from corollary.online.protocol import cumulative_regret as cumulative_regret
