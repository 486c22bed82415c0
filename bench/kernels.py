"""Gram matrices, kernel ridge regression, and permutation tests."""

from typing import Any

import numpy as np

from bench.harness import Contest, Peer, Row, run

N_ROWS, N_FEATURES, LENGTH_SCALE, ALPHA, PERMUTATIONS = 5_000, 20, 3.0, 1.0, 199
GAMMA = 1.0 / (2.0 * LENGTH_SCALE**2)


def make_rows() -> np.ndarray:
    return np.random.default_rng(0).normal(size=(N_ROWS, N_FEATURES))


def our_gram(X: np.ndarray) -> Any:
    from corollary.kernels import RBF

    return RBF(LENGTH_SCALE).gram(X)


def scikit_learn_gram(X: np.ndarray) -> Any:
    from sklearn.metrics.pairwise import rbf_kernel

    return rbf_kernel(X, gamma=GAMMA)


def gram_error(X: np.ndarray, K: np.ndarray) -> float:
    """Largest error on a corner, from differences, rounded to what counts as equal."""
    corner = X[:200]
    exact = np.exp(-GAMMA * ((corner[:, None] - corner[None]) ** 2).sum(axis=2))
    return max(1e-12, float(np.abs(K[:200, :200] - exact).max()))


def make_regression() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(N_ROWS, N_FEATURES))
    return X, np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.normal(size=N_ROWS)


def our_ridge(data: Any) -> Any:
    from corollary.kernels import RBF, KernelRidge

    return KernelRidge(alpha=ALPHA, kernel=RBF(LENGTH_SCALE)).fit(*data).dual_coef_


def scikit_learn_ridge(data: Any) -> Any:
    from sklearn.kernel_ridge import KernelRidge

    return KernelRidge(alpha=ALPHA, kernel="rbf", gamma=GAMMA).fit(*data).dual_coef_


def ridge_objective(data: Any, coef: np.ndarray) -> float:
    X, y = data
    fitted = our_gram(X) @ coef
    return float(np.sum((y - fitted) ** 2) + ALPHA * coef @ fitted)


def make_samples() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(2)
    return rng.normal(size=(N_ROWS, N_FEATURES)), rng.normal(size=(N_ROWS, N_FEATURES))


def our_mmd(data: Any) -> Any:
    from corollary.kernels import RBF, mmd_test

    return mmd_test(*data, RBF(LENGTH_SCALE), n_permutations=PERMUTATIONS, random_state=0).statistic


def stored_gram_mmd(data: Any) -> Any:
    """Do it the usual way at its best: a stored Gram matrix, all permutations in one product."""
    from sklearn.metrics.pairwise import rbf_kernel

    X, Y = data
    n, m = len(X), len(Y)
    K = rbf_kernel(np.vstack([X, Y]), gamma=GAMMA)
    signs = np.r_[np.full(n, 1.0 / n), np.full(m, -1.0 / m)]
    rng = np.random.default_rng(0)
    W = np.empty((n + m, PERMUTATIONS + 1))
    W[:, 0] = signs
    W[:, 1:] = rng.permuted(np.tile(signs, (PERMUTATIONS, 1)), axis=1).T
    return float(np.einsum("ij,ij->j", W, K @ W)[0])


def indexed_mmd(data: Any) -> Any:
    """Do it as most notebooks do: blocks of the matrix by permuted rows and columns."""
    from sklearn.metrics.pairwise import rbf_kernel

    X, Y = data
    n = len(X)
    K = rbf_kernel(np.vstack([X, Y]), gamma=GAMMA)
    rng = np.random.default_rng(0)

    def statistic(order: np.ndarray) -> float:
        a, b = order[:n], order[n:]
        return K[np.ix_(a, a)].mean() + K[np.ix_(b, b)].mean() - 2.0 * K[np.ix_(a, b)].mean()

    observed = statistic(np.arange(len(K)))
    for _ in range(PERMUTATIONS // 40):  # a fortieth of the work, see its goal
        statistic(rng.permutation(len(K)))
    return float(observed)


def same_statistic(data: Any, statistic: float) -> float:
    return round(statistic, 12)


CONTESTS = [
    Contest(
        name="RBF Gram matrix, 5,000 x 20",
        data=make_rows,
        ours=our_gram,
        peers=[Peer("scikit-learn", scikit_learn_gram, goal=2.0)],
        quality=gram_error,
        tolerance=1e-6,
        cold=False,
        rounds=7,
    ),
    Contest(
        name="kernel ridge, RBF, 5,000 x 20",
        data=make_regression,
        ours=our_ridge,
        peers=[Peer("scikit-learn", scikit_learn_ridge, goal=1.0)],
        quality=ridge_objective,
        tolerance=1e-8,
        size=lambda data: 8 * len(data[0]) ** 2,
        memory_goal=2.1,
        rounds=3,
    ),
    Contest(
        name="MMD test, 5,000 against 5,000 rows, 199 permutations",
        data=make_samples,
        ours=our_mmd,
        peers=[
            Peer("NumPy, stored Gram matrix", stored_gram_mmd, goal=1.5),
            Peer("NumPy, permuted indices, a fortieth of them", indexed_mmd, goal=2.0),
        ],
        quality=same_statistic,
        tolerance=1e-8,
        size=lambda data: data[0].nbytes + data[1].nbytes,
        cold=False,
        rounds=3,
    ),
]


def rows() -> list[Row]:
    return [row for contest in CONTESTS for row in run(contest)]
