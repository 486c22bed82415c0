"""Logistic regression: two classes, several classes, and an l1 penalty."""

from typing import Any

import numpy as np

from bench.harness import Contest, Peer, Row, run

Data = tuple[np.ndarray, np.ndarray]


def make_binary(correlation: float, n_rows: int = 200_000, n_features: int = 50) -> Data:
    """Rows whose neighbouring features have a given correlation; labels from a logistic model."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_features))
    for j in range(1, n_features):
        X[:, j] = correlation * X[:, j - 1] + np.sqrt(1 - correlation**2) * X[:, j]
    w = 2 * rng.normal(size=n_features) / np.sqrt(n_features)
    y = rng.random(n_rows) < 1 / (1 + np.exp(-(X @ w) - 0.5))
    return X, y.astype(int)


def make_independent() -> Data:
    return make_binary(0.0)


def make_correlated() -> Data:
    return make_binary(0.9)


def make_short() -> Data:
    return make_binary(0.5, n_rows=20_000)


def make_multinomial() -> Data:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100_000, 20)) @ rng.normal(size=(20, 20)) / np.sqrt(20)
    scores = X @ rng.normal(size=(20, 5)) + rng.gumbel(size=(100_000, 5))
    return X, scores.argmax(axis=1)


def ours(data: Data) -> Any:
    from corollary.linear import LogisticRegression

    return LogisticRegression().fit(*data)


def theirs(data: Data) -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(max_iter=1000).fit(*data)


def theirs_to_our_objective(data: Data) -> Any:
    from sklearn.linear_model import LogisticRegression

    # The loosest tolerance, in powers of ten, at which its objective reaches ours to 1e-9.
    return LogisticRegression(max_iter=1000, tol=1e-5).fit(*data)


def our_lasso(data: Data) -> Any:
    from corollary.linear import LogisticRegression

    return LogisticRegression(C=0.01, l1_ratio=1.0).fit(*data)


def their_lasso(data: Data) -> Any:
    from sklearn.linear_model import LogisticRegression

    # At its default tolerance saga stops where the objective is worse than ours.
    model = LogisticRegression(C=0.01, l1_ratio=1.0, solver="saga", tol=1e-5, max_iter=1000)
    return model.fit(*data)


def objective(data: Data, model: Any) -> float:
    from corollary.linear import logistic_objective

    return logistic_objective(*data, model.coef_, model.intercept_)


def lasso_objective(data: Data, model: Any) -> float:
    from corollary.linear import logistic_objective

    return logistic_objective(*data, model.coef_, model.intercept_, C=0.01, l1_ratio=1.0)


CONTESTS = [
    Contest(
        name="logistic regression, 200,000 x 50, independent features",
        data=make_independent,
        ours=ours,
        peers=[
            Peer("scikit-learn", theirs, goal=2.0),
            Peer("scikit-learn to our objective", theirs_to_our_objective, goal=2.0),
        ],
        quality=objective,
        tolerance=1e-8,
    ),
    Contest(
        name="logistic regression, 200,000 x 50, correlated features",
        data=make_correlated,
        ours=ours,
        peers=[Peer("scikit-learn", theirs, goal=2.0)],
        quality=objective,
        tolerance=1e-8,
        cold=False,
    ),
    Contest(
        name="softmax regression, 100,000 x 20, 5 classes",
        data=make_multinomial,
        ours=ours,
        peers=[Peer("scikit-learn", theirs, goal=2.0)],
        quality=objective,
        tolerance=1e-8,
        cold=False,
    ),
    Contest(
        name="logistic regression with l1 penalty, 20,000 x 50",
        data=make_short,
        ours=our_lasso,
        peers=[Peer("scikit-learn saga", their_lasso, goal=5.0)],
        quality=lasso_objective,
        tolerance=1e-8,
        cold=False,
    ),
]


def rows() -> list[Row]:
    return [row for contest in CONTESTS for row in run(contest)]
