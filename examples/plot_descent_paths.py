"""
Paths, proofs and prices
========================

Three methods on a logistic risk, all from one point. On the left are their ways on its contours, on
the right how far their values are above the least one. Dashed lines are what their rates promise
before the first step: no method is ever above its own line, and acceleration earns its name.
"""

import numpy as np

from corollary.optimize import (
    DescentPathDisplay,
    EmpiricalRisk,
    GapDisplay,
    GradientDescent,
    Nesterov,
    Newton,
    Program,
    SensitivityDisplay,
    linear_equality,
    linear_inequality,
    minimize,
    plan_steps,
    solve,
)

rng = np.random.default_rng(1)
rows = rng.normal(size=(40, 2)) @ [[1.0, 0.6], [0.0, 2.0]]
valley = EmpiricalRisk(rows, np.where(rows[:, 0] + rng.normal(size=40) > 0, 1, -1), alpha=0.02)
start = [-3.0, 2.0]
display = DescentPathDisplay.from_methods(
    valley,
    start,
    {
        "gradient descent": GradientDescent(valley),
        "Nesterov": Nesterov(valley),
        "Newton": Newton(valley),
    },
    n_steps=40,
    plans={
        "gradient descent": plan_steps("gradient descent", valley, start),
        "Nesterov": plan_steps("nesterov", valley, start),
    },
    least=minimize(valley, start, tol=1e-14).value,
)
display.rate_ax_.set_ylim(1e-9, 1e2)
display.figure_.tight_layout()

# %%
# What can be proved while a method runs needs no knowledge of the least value: the gap is computed
# at each point from the gradient there and strong convexity. Quasi-Newton steps on a regularised
# logistic risk, against time:
X = rng.normal(size=(2000, 30)) * np.geomspace(1, 10, 30)
y = np.where(X @ rng.normal(size=30) + 5 * rng.normal(size=2000) > 0, 1, -1)
risk = EmpiricalRisk(X, y, "logistic", alpha=0.01)
runs = {name: minimize(risk, np.zeros(30), method=name, tol=1e-10) for name in ("newton", "bfgs")}
GapDisplay(runs, against="seconds").plot().figure_.tight_layout()
print(runs["newton"])

# %%
# Multipliers are prices: what the least cost of a diet would save if a need were one unit lower.
# Only needs that bind cost something.
nutrients = {"energy": [3.6, 0.6, 2.9], "protein": [0.13, 0.03, 0.21], "iron": [0.04, 0.0, 0.07]}
needs = [8.0, 0.5, 0.1]
diet = Program(
    [0.8, 0.5, 1.1],  # prices of flour, milk and lentils
    [
        *(
            linear_inequality(-np.array(row), -need, name=name)
            for (name, row), need in zip(nutrients.items(), needs)
        ),
        linear_inequality(-np.eye(3), np.zeros(3), name="amount"),
        linear_equality([1.0, 1.0, 1.0], 4.0, name="weight"),
    ],
)
solution = solve(diet)
SensitivityDisplay.from_solution(diet, solution).figure_.tight_layout()
print(solution)
