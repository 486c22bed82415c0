"""Ridge and ordinary least squares on a tall table."""

from typing import Any

import numpy as np

from bench.harness import Contest, Peer, Row, run

N_ROWS, N_FEATURES, ALPHA = 1_000_000, 50, 1.0


def make_data() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ROWS, N_FEATURES))
    X += 3.0
    y = X @ rng.normal(size=N_FEATURES)
    y += 1.0
    y += rng.normal(size=N_ROWS)
    return X, y


def size(data: tuple[np.ndarray, np.ndarray]) -> int:
    return data[0].nbytes + data[1].nbytes


def our_ridge(data: tuple[np.ndarray, np.ndarray]) -> Any:
    from corollary.linear import Ridge

    return Ridge(alpha=ALPHA).fit(*data)


def their_ridge(data: tuple[np.ndarray, np.ndarray]) -> Any:
    from sklearn.linear_model import Ridge

    return Ridge(alpha=ALPHA).fit(*data)


def our_ols(data: tuple[np.ndarray, np.ndarray]) -> Any:
    from corollary.linear import LinearRegression

    return LinearRegression().fit(*data)


def their_ols(data: tuple[np.ndarray, np.ndarray]) -> Any:
    from sklearn.linear_model import LinearRegression

    return LinearRegression().fit(*data)


def penalised(data: tuple[np.ndarray, np.ndarray], model: Any) -> float:
    X, y = data
    residual = y - X @ model.coef_ - model.intercept_
    return float(residual @ residual + ALPHA * model.coef_ @ model.coef_)


def squares(data: tuple[np.ndarray, np.ndarray], model: Any) -> float:
    X, y = data
    residual = y - X @ model.coef_ - model.intercept_
    return float(residual @ residual)


CONTESTS = [
    Contest(
        name="ridge, 1,000,000 x 50",
        data=make_data,
        ours=our_ridge,
        peers=[Peer("scikit-learn", their_ridge, goal=1.5)],
        quality=penalised,
        tolerance=1e-10,
        size=size,
        memory_goal=1.2,
    ),
    Contest(
        name="ordinary least squares, 1,000,000 x 50",
        data=make_data,
        ours=our_ols,
        peers=[Peer("scikit-learn", their_ols, goal=1.5)],
        quality=squares,
        tolerance=1e-10,
        size=size,
        memory_goal=1.2,
    ),
]


def rows() -> list[Row]:
    return [row for contest in CONTESTS for row in run(contest)]
