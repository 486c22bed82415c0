"""
AdaBoost's training error and what bounds it
============================================

Each round fits a stump to reweighted rows. The training error lies below the exponential loss,
which equals the product of the rounds' normalisers, which lies below a bound made of the edges over
guessing alone. None of them says anything about new rows: the test error goes its own way.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from corollary.ensemble import AdaBoostClassifier, AdaBoostDisplay, majority_error

X, y = load_breast_cancer(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.4, random_state=0)
model = AdaBoostClassifier(n_estimators=60).fit(X_train, y_train)

display = AdaBoostDisplay.from_estimator(model, X_test, y_test)
display.ax_.set_title("stumps on breast cancer data")

# %%
# Independent voters would do better. With the same mean edge, a majority of independent
# classifiers would err at the rate of the dashed line; stumps that see the same rows are anything
# but independent.
rounds = np.arange(1, len(model.estimators_) + 1)
edge = 0.5 - model.estimator_errors_.mean()
independent = [majority_error(int(t), 0.5 + edge) for t in rounds]
figure, ax = plt.subplots()
ax.plot(rounds, 1 - np.array(list(model.staged_score(X_test, y_test))), label="test error")
ax.plot(rounds, independent, linestyle="--", label=f"independent voters, edge {edge:.2f}")
ax.set(xlabel="round", ylabel="error", ylim=(0, None), title="a crowd that is not one")
ax.legend(fontsize="small")

# %%
# The links of the chain after the last round.
print(f"training error         {model.training_errors_[-1]:.4f}")
print(f"exponential loss       {model.exponential_losses_[-1]:.4f}")
print(f"product of normalisers {model.training_bounds_[-1]:.4f}")
print(f"edge bound             {model.edge_bounds_[-1]:.4f}")
