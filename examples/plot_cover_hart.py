"""
One neighbour errs at most twice as often as the best rule
==========================================================

Left: for two classes, the limit error of one neighbour lies between the Bayes error and the bounds
of the Cover-Hart chain; more neighbours come closer to the Bayes error. Right: on a world whose
Bayes error is known, one neighbour stays at its limit however many rows there are, while a number
of neighbours that grows with the rows approaches the best.
"""

import matplotlib.pyplot as plt
import numpy as np

from corollary.datasets import LogisticWorld
from corollary.neighbors import KNeighborsClassifier, cover_hart_chain, knn_limit_error

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4))

eta = np.linspace(0, 0.5, 200)
chain = cover_hart_chain(np.c_[eta, 1 - eta])
left.plot(chain.bayes, chain.twice, "k:", label="twice the Bayes error")
left.plot(chain.bayes, chain.one_neighbor, label="one neighbour (equals the bound for two classes)")
left.plot(chain.bayes, knn_limit_error(eta, 5), label="five neighbours")
left.plot(chain.bayes, chain.bayes, "k--", linewidth=1, label="Bayes error")
left.set(xlabel="Bayes error at a point", ylabel="limit error", ylim=(0, 0.6))
left.legend(frameon=False, fontsize="small")

world = LogisticWorld(np.array([2.0, 0.0]))
X_new, y_new = world.sample(20_000, 1)
probability = world.posterior(X_new)
sizes = [100, 300, 1000, 3000, 10_000, 30_000]
for k, label in ((1, "one neighbour"), ("consistent", "k = sqrt(m) neighbours")):
    errors = []
    for m in sizes:
        X, y = world.sample(m, m)
        errors.append(np.mean(KNeighborsClassifier(k).fit(X, y).predict(X_new) != y_new))
    right.semilogx(sizes, errors, "o-", label=label)
limit = float(np.mean(knn_limit_error(probability, 1)))
right.axhline(limit, color="C0", linestyle=":", label="limit of one neighbour")
right.axhline(world.bayes_risk, color="black", linestyle="--", linewidth=1, label="Bayes error")
right.set(xlabel="training rows", ylabel="error")
right.legend(frameon=False, fontsize="small")
figure.tight_layout()
