"""
How many clusters?
==================

A mixture of fixed size must be told how many components it has; held-out rows can choose. A
Dirichlet process has a law of the number instead. Left: three groups on a line, and the posterior
of the number of clusters for three concentrations, beside the law that the restaurant process has
before any row is seen. Middle: how many tables it opens as guests come, near alpha log N. Right:
iris without its labels, with the number that held-out rows choose for a Gaussian mixture.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris

from corollary.mixture import (
    DirichletProcessMixture,
    GaussianMixture,
    MixtureDisplay,
    choose_components,
    expected_tables,
    expected_tables_bound,
    tables_distribution,
)

figure, (left, middle, right) = plt.subplots(1, 3, figsize=(14, 4))

rng = np.random.default_rng(0)
X = rng.normal(size=(90, 1)) + np.repeat([[-7.0], [0.0], [7.0]], 30, axis=0)
for place, alpha in enumerate((0.1, 1.0, 5.0)):
    model = DirichletProcessMixture(alpha, n_draws=400, random_state=0).fit(X)
    posterior = model.n_clusters_distribution()
    numbers = np.arange(1, 16)
    left.bar(
        numbers + 0.27 * (place - 1),
        np.pad(posterior, (0, 16))[numbers],
        width=0.27,
        label=f"alpha = {alpha}",
    )
    prior = tables_distribution(len(X), alpha)[numbers]
    left.plot(numbers, prior, ".--", color=f"C{place}", linewidth=0.8)
left.set(xlabel="clusters", ylabel="probability (dashed: before the rows)")
left.legend(frameon=False)

sizes = np.unique(np.geomspace(1, 10_000, 40).astype(int))
for place, alpha in enumerate((0.1, 1.0, 5.0)):
    tables = [expected_tables(int(n), alpha) for n in sizes]
    bounds = [expected_tables_bound(int(n), alpha) for n in sizes]
    middle.semilogx(sizes, tables, color=f"C{place}", label=f"alpha = {alpha}")
    middle.semilogx(sizes, bounds, ":", color=f"C{place}")
middle.set(xlabel="guests", ylabel="expected tables (dotted: bound)")
middle.legend(frameon=False)

iris = load_iris().data
choice = choose_components(GaussianMixture(n_starts=5, random_state=0), iris, range(1, 6))
fit = GaussianMixture(choice.n_components, n_starts=5, random_state=0).fit(iris)
MixtureDisplay.from_estimator(fit, iris, columns=(0, 2), ax=right)
right.set(
    xlabel="sepal length",
    ylabel="petal length",
    title=f"held-out rows choose {choice.n_components} components",
)
figure.tight_layout()
