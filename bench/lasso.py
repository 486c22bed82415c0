"""The lasso path on a wide table, at equal duality gaps."""

from typing import Any

import numpy as np

from bench.harness import Contest, Peer, Row, run

N_ROWS, N_FEATURES, N_RELEVANT, N_ALPHAS, EPS, TOL = 1_000, 10_000, 100, 100, 1e-2, 1e-4


def make_data() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Neighbouring columns correlate by one half; the signal is three times the noise."""
    rng = np.random.default_rng(0)
    X = np.asfortranarray(rng.normal(size=(N_ROWS, N_FEATURES)))
    for j in range(1, N_FEATURES):
        X[:, j] *= np.sqrt(0.75)
        X[:, j] += 0.5 * X[:, j - 1]
    X -= X.mean(axis=0)
    relevant = rng.choice(N_FEATURES, N_RELEVANT, replace=False)
    signal = X[:, relevant] @ rng.choice([-1.0, 1.0], N_RELEVANT)
    y = signal + signal.std() / 3.0 * rng.normal(size=N_ROWS)
    y -= y.mean()
    top = np.abs(X.T @ y).max() / N_ROWS
    return X, y, np.geomspace(top, top * EPS, N_ALPHAS)


def ours(data: Any) -> Any:
    from corollary.linear import lasso_path

    X, y, alphas = data
    return lasso_path(X, y, alphas=alphas, tol=TOL, max_iter=100_000)[1]


def scikit_learn(data: Any) -> Any:
    from sklearn.linear_model import lasso_path

    X, y, alphas = data
    return lasso_path(X, y, alphas=alphas, tol=TOL, max_iter=100_000)[1]


def celer(data: Any) -> Any:
    from celer import celer_path

    X, y, alphas = data
    return celer_path(X, y, "lasso", alphas=alphas, tol=TOL, max_iter=100)[1]


def skglm(data: Any) -> Any:
    from skglm.datafits import Quadratic
    from skglm.penalties import L1
    from skglm.solvers import AndersonCD

    X, y, alphas = data
    # Its tolerance is on the violation of optimality, not on the gap; this one gives gaps like
    # those of the others.
    solver = AndersonCD(tol=5e-4, fit_intercept=False, max_iter=100, max_epochs=100_000)
    return solver.path(X, y, Quadratic(), L1(1.0), alphas=alphas)[1]


def largest_gap(data: Any, coefs: np.ndarray) -> float:
    """Largest duality gap of the path, relative to the square of y."""
    X, y, alphas = data
    gaps = []
    for alpha, w in zip(alphas, coefs.T):
        support = np.flatnonzero(w)
        residual = y - X[:, support] @ w[support]
        scale = min(1.0, N_ROWS * alpha / np.abs(X.T @ residual).max())
        primal = 0.5 * residual @ residual + N_ROWS * alpha * np.abs(w).sum()
        dual = 0.5 * y @ y - 0.5 * np.sum((y - scale * residual) ** 2)
        gaps.append((primal - dual) / (y @ y))
    return float(max(gaps))


CONTESTS = [
    Contest(
        name=f"lasso path, 1,000 x 10,000, {N_ALPHAS} penalties down to {EPS} of the largest",
        data=make_data,
        ours=ours,
        peers=[
            Peer("scikit-learn", scikit_learn, goal=3.0),
            Peer("celer", celer, goal=1.0, requires="celer"),
            Peer("skglm", skglm, goal=1.0, requires="skglm"),
        ],
        quality=largest_gap,
        tolerance=0.05,
        rounds=2,
    ),
]


def rows() -> list[Row]:
    return [row for contest in CONTESTS for row in run(contest)]
