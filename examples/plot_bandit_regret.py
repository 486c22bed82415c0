"""
Regret beside its bound
=======================

A bandit learner sees the loss of the arm it plays and nothing else. Against independent losses
UCB1 and Thompson sampling pay little; EXP3 assumes nothing of the losses and pays for that.
An adversary who knows the algorithm may write the losses down before the game. UCB1 tosses no
coins, so all its plays can be foreseen and made to cost; EXP3's draws cannot, and its bound
stands. The shaded bands hold 80% of the games, the dashed lines are the theorems.
"""

import matplotlib.pyplot as plt
import numpy as np

from corollary.bandit import (
    EXP3,
    UCB1,
    ArmPullDisplay,
    BernoulliArms,
    BernoulliThompson,
    LossMatrix,
    RegretDisplay,
    play,
)

rounds, repetitions = 5000, 200
steady = BernoulliArms([0.3, 0.5, 0.5, 0.6])

# The adversary plays UCB1 on its own, and lets each arm cost in the rounds in which it is played.
matrix = np.zeros((rounds, 4))
victim = UCB1().start(4)
for row in matrix:
    arm = victim.ask()
    row[arm] = 1.0
    victim.tell(arm, 1.0)

figure, axes = plt.subplots(1, 3, figsize=(13, 4))
worlds = ((steady, "independent losses"), (LossMatrix(matrix), "losses against UCB1"))
for ax, (arms, title) in zip(axes, worlds):
    plays = [
        play(policy, arms, rounds, repetitions, random_state=0)
        for policy in (EXP3(), UCB1(), BernoulliThompson())
    ]
    RegretDisplay.from_plays(plays, ax=ax)
    ax.set_title(title)
    if arms is steady:
        ArmPullDisplay.from_plays(plays, ax=axes[2])
axes[2].set_title("arms played, independent losses")
figure.tight_layout()
