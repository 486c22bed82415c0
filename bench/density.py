"""Kernel densities: 10,000 queries on 10,000 rows of 5 columns, exactly.

All have the same bandwidth, in one case that of Scott's rule and in the other a third of it, where
most kernels do not reach. SciPy's kernels have the shape of the rows' covariance, which is nearly
round here. Quality is the mean log density.
"""

from typing import Any

import numpy as np

from bench.harness import Contest, Peer, Row, run

ROWS, QUERIES, COLUMNS = 10_000, 10_000, 5
SCOTT = ROWS ** (-1 / (COLUMNS + 4))
Data = tuple[np.ndarray, np.ndarray, float]


def make(bandwidth: float) -> Data:
    random = np.random.default_rng(0)
    X, Q = random.normal(size=(ROWS, COLUMNS)), random.normal(size=(QUERIES, COLUMNS))
    return X, Q, bandwidth


def make_scott() -> Data:
    return make(SCOTT)


def make_narrow() -> Data:
    return make(SCOTT / 3)


def ours(data: Data) -> np.ndarray:
    from corollary.density import KernelDensity

    X, Q, h = data
    return KernelDensity(bandwidth=h).fit(X).score_samples(Q)


def with_scikit_learn(data: Data) -> np.ndarray:
    from sklearn.neighbors import KernelDensity

    X, Q, h = data
    return KernelDensity(bandwidth=h).fit(X).score_samples(Q)


def with_scipy(data: Data) -> np.ndarray:
    from scipy.stats import gaussian_kde

    X, Q, h = data
    return gaussian_kde(X.T, bw_method=h).logpdf(Q.T)


def mean_log_density(data: Data, values: Any) -> float:
    return float(np.mean(values))


def contest(name: str, data: Any, **options: Any) -> Contest:
    return Contest(
        name=f"kernel density, {QUERIES:,} queries on {ROWS:,} x {COLUMNS}, {name}",
        data=data,
        ours=ours,
        peers=[
            Peer("scikit-learn", with_scikit_learn, goal=10.0),
            Peer("SciPy", with_scipy, goal=10.0),
        ],
        quality=mean_log_density,
        tolerance=0.02,
        rounds=3,
        **options,
    )


CONTESTS = [contest("Scott's rule", make_scott), contest("narrow", make_narrow, cold=False)]


def rows() -> list[Row]:
    return [row for each in CONTESTS for row in run(each)]
