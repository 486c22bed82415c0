"""Bandits: choosing among arms when only the chosen one is seen.

In each round a policy plays one of several arms and learns its loss; what the others would have
cost stays hidden. :func:`play` simulates policies against environments, thousands of games at
once, and puts the theorem's bound beside what happened; :meth:`Policy.start` plays a real problem
by ``ask`` and ``tell``; :func:`off_policy_value` says what another policy would have cost, from
the log of this one. Losses are to be small throughout: a reward r in [0, 1] is the loss 1 - r.
"""

from corollary.bandit.bounds import exp3_anytime_bound as exp3_anytime_bound
from corollary.bandit.bounds import exp3_learning_rate as exp3_learning_rate
from corollary.bandit.bounds import exp3_pathwise_bound as exp3_pathwise_bound
from corollary.bandit.bounds import exp3_regret_bound as exp3_regret_bound
from corollary.bandit.bounds import linucb_regret_bound as linucb_regret_bound
from corollary.bandit.bounds import thompson_bayes_regret_bound as thompson_bayes_regret_bound
from corollary.bandit.bounds import ucb_regret_bound as ucb_regret_bound
from corollary.bandit.display import ArmPullDisplay as ArmPullDisplay
from corollary.bandit.display import RegretDisplay as RegretDisplay
from corollary.bandit.environments import AlternatingArms as AlternatingArms
from corollary.bandit.environments import Arms as Arms
from corollary.bandit.environments import BernoulliArms as BernoulliArms
from corollary.bandit.environments import DriftingArms as DriftingArms
from corollary.bandit.environments import GaussianArms as GaussianArms
from corollary.bandit.environments import LinearArms as LinearArms
from corollary.bandit.environments import LossMatrix as LossMatrix
from corollary.bandit.environments import PythonArms as PythonArms
from corollary.bandit.importance import hallucinated_loss as hallucinated_loss
from corollary.bandit.importance import hallucinated_moments as hallucinated_moments
from corollary.bandit.importance import importance_variance as importance_variance
from corollary.bandit.importance import importance_weighted as importance_weighted
from corollary.bandit.linear_policies import LinearThompson as LinearThompson
from corollary.bandit.linear_policies import LinUCB as LinUCB
from corollary.bandit.off_policy import lower_bound_of_mean as lower_bound_of_mean
from corollary.bandit.off_policy import off_policy_value as off_policy_value
from corollary.bandit.play import Play as Play
from corollary.bandit.play import play as play
from corollary.bandit.player import Player as Player
from corollary.bandit.policies import EXP3 as EXP3
from corollary.bandit.policies import UCB1 as UCB1
from corollary.bandit.policies import BernoulliThompson as BernoulliThompson
from corollary.bandit.policies import EpsilonGreedy as EpsilonGreedy
from corollary.bandit.policies import GaussianThompson as GaussianThompson
from corollary.bandit.policy import Policy as Policy
from corollary.bandit.protocol import arm_mean_radius as arm_mean_radius
from corollary.bandit.protocol import arm_means as arm_means
from corollary.bandit.protocol import mean_so_far as mean_so_far
from corollary.bandit.protocol import regret as regret
