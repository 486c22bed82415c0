"""Solvers with certificates: a dense quadratic program, and three problems at equal gaps.

Methods meet methods of their kind where the peer has one: FISTA that of skglm, and our Newton steps
on a working set those of skglm, estimator against estimator.
"""

from typing import Any

import numpy as np

from bench.harness import Contest, Peer, Row, run

# Gaps below these count as equal: what the solvers were asked for, relative to the value.
QP_GAP, GAP = 1e-7, 1e-6


def qp_data() -> Any:
    """Make a strongly convex objective and inequalities, a third of which bind."""
    rng = np.random.default_rng(0)
    n, m = 300, 600
    A, G = rng.normal(size=(n, n)), rng.normal(size=(m, n))
    return (
        A.T @ A / n,
        rng.normal(size=n),
        G,
        0.1 * G @ rng.normal(size=n) + rng.exponential(size=m),
    )


def qp_ours(data: Any) -> Any:
    from corollary.optimize import Program, Quadratic, linear_inequality, primal_dual

    P, q, G, h = data
    program = Program(Quadratic(P, q), [linear_inequality(G, h, name="rows")])
    solution = primal_dual(program, tol=QP_GAP)
    return solution.x, solution.dual["rows"]


def clarabel(data: Any) -> Any:
    import clarabel
    from scipy import sparse

    P, q, G, h = data
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    cones = [clarabel.NonnegativeConeT(len(h))]
    P, G = sparse.csc_matrix(np.triu(P)), sparse.csc_matrix(G)
    result = clarabel.DefaultSolver(P, q, G, h, cones, settings).solve()
    return np.array(result.x), np.array(result.z)


def osqp(data: Any) -> Any:
    import osqp
    from scipy import sparse

    P, q, G, h = data
    solver = osqp.OSQP()
    P, G = sparse.csc_matrix(P), sparse.csc_matrix(G)
    options = {"eps_abs": 1e-8, "eps_rel": 1e-8, "max_iter": 100_000, "polishing": True}
    solver.setup(P, q, G, np.full(len(h), -np.inf), h, verbose=False, **options)
    result = solver.solve()
    return result.x, np.maximum(result.y, 0.0)


def qp_gap(data: Any, result: Any) -> float:
    """Duality gap and violation, relative to the value, from the data alone."""
    P, q, G, h = data
    x, z = result
    value = 0.5 * x @ P @ x + q @ x
    w = q + G.T @ np.maximum(z, 0.0)
    bound = -0.5 * w @ np.linalg.solve(P, w) - h @ np.maximum(z, 0.0)
    gap = max(value - bound, float((G @ x - h).max())) / max(1.0, abs(value))
    return max(gap, QP_GAP)


def regression_data(n: int, d: int, n_relevant: int) -> Any:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    X[:, 1:] = np.sqrt(0.75) * X[:, 1:] + 0.5 * X[:, :-1]
    w = np.zeros(d)
    w[rng.choice(d, n_relevant, replace=False)] = rng.normal(size=n_relevant)
    return np.asfortranarray(X), X @ w + rng.normal(size=n)


def lasso_data() -> Any:
    X, y = regression_data(400, 800, 40)
    return X, y, 0.05 * np.abs(X.T @ y).max()


def lasso_ours(data: Any) -> Any:
    from corollary.optimize import coordinate_descent

    X, y, strength = data
    return coordinate_descent(X, y, strength, tol=GAP).x


def lasso_scikit_learn(data: Any) -> Any:
    from sklearn.linear_model import Lasso

    X, y, strength = data
    # Its tolerance is a share of the square of y, which is about twenty times the value here.
    model = Lasso(alpha=strength / len(y), fit_intercept=False, tol=GAP / 20, max_iter=100_000)
    return model.fit(X, y).coef_


def lasso_skglm(data: Any) -> Any:
    from skglm.datafits import Quadratic
    from skglm.penalties import L1
    from skglm.solvers import AndersonCD

    X, y, strength = data
    datafit, penalty = Quadratic(), L1(strength / len(y))
    solver = AndersonCD(tol=2e-6, fit_intercept=False, max_iter=100, max_epochs=100_000)
    return solver.solve(X, y, datafit, penalty)[0]


def lasso_cvxpy(data: Any) -> Any:
    import cvxpy

    X, y, strength = data
    w = cvxpy.Variable(X.shape[1])
    objective = 0.5 * cvxpy.sum_squares(y - X @ w) + strength * cvxpy.norm1(w)
    cvxpy.Problem(cvxpy.Minimize(objective)).solve(solver="CLARABEL")
    return w.value


def lasso_gap(data: Any, w: np.ndarray) -> float:
    X, y, strength = data
    residual = y - X @ w
    dual = residual * min(1.0, strength / np.abs(X.T @ residual).max())
    value = 0.5 * residual @ residual + strength * np.abs(w).sum()
    bound = 0.5 * y @ y - 0.5 * np.sum((y - dual) ** 2)
    return max((value - bound) / value, GAP)


def logistic_data() -> Any:
    X, score = regression_data(2_000, 100, 20)
    y = np.where(score > 0, 1.0, -1.0)
    # As NumPy lays out rows; whoever works by columns turns them round.
    return np.ascontiguousarray(X), y, 0.05 * np.abs(X.T @ y).max() / (2 * len(y))


def logistic_ours(data: Any) -> Any:
    from corollary.optimize import L1, EmpiricalRisk, proximal_gradient

    X, y, strength = data
    risk = EmpiricalRisk(X, y, "logistic")
    return proximal_gradient(risk, np.zeros(X.shape[1]), L1(strength), tol=GAP).x


def logistic_newton(data: Any) -> Any:
    from corollary.linear import LogisticRegression

    X, y, strength = data
    model = LogisticRegression(C=1 / (strength * len(y)), l1_ratio=1, fit_intercept=False, tol=1e-6)
    return model.fit(X, y).coef_[0]


def logistic_scikit_learn(data: Any) -> Any:
    from sklearn.linear_model import LogisticRegression

    X, y, strength = data
    C = 1 / (strength * len(y))
    model = LogisticRegression(
        C=C, l1_ratio=1, solver="saga", fit_intercept=False, tol=1e-6, max_iter=10_000
    )
    return model.fit(X, y).coef_[0]


def logistic_skglm(data: Any) -> Any:
    from skglm.datafits import Logistic
    from skglm.penalties import L1
    from skglm.solvers import FISTA

    X, y, strength = data
    X, solver = np.asfortranarray(X), FISTA(tol=2e-7, max_iter=10_000)
    return solver.solve(X, y, Logistic(), L1(strength))[0]


def newton_skglm(data: Any) -> Any:
    from skglm import SparseLogisticRegression

    X, y, strength = data
    model = SparseLogisticRegression(alpha=strength, tol=5e-7, fit_intercept=False)
    return model.fit(np.asfortranarray(X), y).coef_[0]


def logistic_cvxpy(data: Any) -> Any:
    import cvxpy

    X, y, strength = data
    w = cvxpy.Variable(X.shape[1])
    loss = cvxpy.sum(cvxpy.logistic(cvxpy.multiply(-y, X @ w))) / len(y)
    cvxpy.Problem(cvxpy.Minimize(loss + strength * cvxpy.norm1(w))).solve(solver="CLARABEL")
    return w.value


def logistic_gap(data: Any, w: np.ndarray) -> float:
    X, y, strength = data
    n, margins = len(y), y * (X @ w)
    share = 1 / (1 + np.exp(margins))
    share *= min(1.0, n * strength / np.abs(X.T @ (y * share)).max())
    value = np.logaddexp(0, -margins).mean() + strength * np.abs(w).sum()
    bound = -np.mean(share * np.log(share) + (1 - share) * np.log1p(-share))
    return max((value - bound) / max(1.0, value), GAP)


def signs_data() -> Any:
    return regression_data(10_000, 150, 75)


def signs_ours(data: Any) -> Any:
    from corollary.optimize import Box, Quadratic, admm

    X, y = data
    P = X.T @ X
    half = Quadratic(P, -X.T @ y, 0.5 * float(y @ y))
    rho = float(np.trace(P)) / len(P)
    return admm(half, np.zeros(len(P)), Box(0.0, np.inf), rho=rho, tol=GAP).x


def signs_scikit_learn(data: Any) -> Any:
    from sklearn.linear_model import LinearRegression

    X, y = data
    return LinearRegression(positive=True, fit_intercept=False).fit(X, y).coef_


def signs_cvxpy(data: Any) -> Any:
    import cvxpy

    X, y = data
    w = cvxpy.Variable(X.shape[1], nonneg=True)
    problem = cvxpy.Problem(cvxpy.Minimize(0.5 * cvxpy.sum_squares(y - X @ w)))
    problem.solve(solver="CLARABEL")
    return w.value


def signs_skglm(data: Any) -> Any:
    from skglm.datafits import Quadratic
    from skglm.penalties import PositiveConstraint
    from skglm.solvers import AndersonCD

    X, y = data
    solver = AndersonCD(tol=1e-4, fit_intercept=False, max_iter=100, max_epochs=100_000)
    return solver.solve(X, y, Quadratic(), PositiveConstraint())[0]


def signs_gap(data: Any, w: np.ndarray) -> float:
    """Bound the distance from the least value by the gradient and strong convexity."""
    X, y = data
    w = np.maximum(w, 0.0)
    gradient = X.T @ (X @ w - y)
    value = 0.5 * float(np.sum((y - X @ w) ** 2))
    m = np.linalg.eigvalsh(X.T @ X)[0]
    away = np.maximum(w - gradient / m, 0.0) - w
    gap = -float(gradient @ away + 0.5 * m * away @ away)
    return max(gap / max(1.0, value), GAP)


CONTESTS = [
    Contest(
        name="quadratic program, 300 variables, 600 inequalities, dense, gap 1e-7",
        data=qp_data,
        ours=qp_ours,
        peers=[
            Peer("Clarabel", clarabel, goal=5.0, requires="clarabel"),
            Peer("OSQP", osqp, goal=1.0, requires="osqp"),
        ],
        quality=qp_gap,
        tolerance=0.05,
    ),
    Contest(
        name="lasso by coordinate descent, 400 x 800, gap 1e-6",
        data=lasso_data,
        ours=lasso_ours,
        peers=[
            Peer("scikit-learn", lasso_scikit_learn, goal=1.0),
            Peer("skglm", lasso_skglm, goal=1.0, requires="skglm"),
            Peer("CVXPY", lasso_cvxpy, goal=5.0, requires="cvxpy", once=True),
        ],
        quality=lasso_gap,
        tolerance=0.05,
    ),
    Contest(
        name="sparse logistic regression by FISTA, 2,000 x 100, gap 1e-6",
        data=logistic_data,
        ours=logistic_ours,
        peers=[
            Peer("scikit-learn", logistic_scikit_learn, goal=1.0),
            Peer("skglm", logistic_skglm, goal=1.0, requires="skglm"),
            Peer("CVXPY", logistic_cvxpy, goal=5.0, requires="cvxpy", once=True),
        ],
        quality=logistic_gap,
        tolerance=0.05,
    ),
    Contest(
        name="sparse logistic regression by Newton steps, 2,000 x 100, gap 1e-6",
        data=logistic_data,
        ours=logistic_newton,
        peers=[Peer("skglm", newton_skglm, goal=1.0, requires="skglm")],
        quality=logistic_gap,
        tolerance=0.05,
    ),
    Contest(
        name="least squares without negative coefficients by ADMM, 10,000 x 150, gap 1e-6",
        data=signs_data,
        ours=signs_ours,
        peers=[
            Peer("scikit-learn", signs_scikit_learn, goal=1.0),
            Peer("skglm", signs_skglm, goal=1.0, requires="skglm"),
            Peer("CVXPY", signs_cvxpy, goal=5.0, requires="cvxpy", once=True),
        ],
        quality=signs_gap,
        tolerance=0.05,
    ),
]


def rows() -> list[Row]:
    return [row for contest in CONTESTS for row in run(contest)]
