"""Loops of linear models without the compiler."""

import numpy as np
from scipy import sparse


def _rows(n=20, d=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, X @ np.r_[2.0, -1.0, np.zeros(d - 2)] + 0.1 * rng.normal(size=n)


def check_coordinate_descent():
    from corollary.linear import ElasticNet, Lasso, elastic_net_kkt_violation

    X, y = _rows()
    for model in (
        Lasso(alpha=0.1, tol=1e-12),
        Lasso(alpha=0.1, tol=1e-12, positive=True),
        ElasticNet(alpha=0.1, tol=1e-12),
    ):
        model.fit(X, y)
        violation = elastic_net_kkt_violation(
            X,
            y,
            model.coef_,
            alpha=0.1,
            l1_ratio=getattr(model, "l1_ratio", 1.0),
            intercept=model.intercept_,
            positive=model.positive,
        )
        assert violation.max() < 1e-6


def check_coordinate_descent_on_columns():
    from corollary.optimize import WorkingSetSolver, prepare_columns

    X, y = _rows(d=8)
    whole = prepare_columns(X, y[:, None], None, True)
    reference = WorkingSetSolver(whole.design, whole.Y[:, 0]).solve(
        2.0, 0.0, tol=1e-8, max_iter=1000
    )
    for container in (np.asarray, sparse.csc_matrix):
        design, Y, *_ = prepare_columns(container(X), y[:, None], None, True)
        design.nbytes = 0
        solver = WorkingSetSolver(design, Y[:, 0], gram_order=1)
        solution = solver.solve(2.0, 0.0, tol=1e-8, max_iter=1000)
        np.testing.assert_allclose(solution.coef, reference.coef, atol=1e-4)


def check_bridge():
    from corollary.linear import BridgeRegression, bridge_threshold

    X, y = _rows()
    for q in (0.5, 1.5):
        model = BridgeRegression(alpha=0.5, q=q, n_starts=3, random_state=0).fit(X, y)
        for coef in model.coef_ + 1e-3 * np.vstack([np.eye(4), -np.eye(4)]):
            residual = y - X @ coef - model.intercept_
            assert residual @ residual + 0.5 * (np.abs(coef) ** q).sum() >= model.objective_
    assert bridge_threshold(0.9, 1.0, 0.5) == 0.0


def check_proximal_newton():
    from corollary.linear import LogisticRegression, logistic_objective

    X, y = _rows(n=40)
    model = LogisticRegression(l1_ratio=1.0, C=0.5, tol=1e-8).fit(X, y > 0)
    assert (model.coef_ == 0).any()
    best = logistic_objective(X, y > 0, model.coef_, model.intercept_, C=0.5, l1_ratio=1.0)
    for step in 1e-3 * np.vstack([np.eye(4), -np.eye(4)]):
        moved = logistic_objective(
            X, y > 0, model.coef_ + step, model.intercept_, C=0.5, l1_ratio=1.0
        )
        assert moved >= best


def check_perceptron():
    from corollary.linear import Perceptron, perceptron_run

    X, _ = _rows()
    y = np.where(X[:, 0] > 0, 1, -1)
    X[:, 0] += 0.5 * y
    for rows in (X, sparse.csr_matrix(X)):
        run = perceptron_run(rows, y)
        assert run.separated
        assert (y * (X @ run.weights) > 0).all()
        np.testing.assert_allclose(run.weights, (run.mistakes * y) @ X, atol=1e-12)
        model = Perceptron(penalty="elasticnet", fit_intercept=False, shuffle=False, tol=None)
        model.set_params(alpha=0.01, max_iter=5).fit(rows, y, sample_weight=np.ones(len(y)))
        assert model.score(rows, y) > 0.8
