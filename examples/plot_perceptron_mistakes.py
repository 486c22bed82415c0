"""
Mistakes on disjunctions: the perceptron and Winnow
===================================================

The label is 1 if one of two inputs among n is. The perceptron adds and subtracts rows, and its
mistakes grow with n; Winnow doubles and halves weights, and its mistakes grow with the logarithm
of n. Dashed lines are the theorems' bounds, which no stream can break. The right picture follows
one stream: mistakes after every round.
"""

import matplotlib.pyplot as plt
import numpy as np

from corollary.online import (
    OnlinePerceptron,
    RegretDisplay,
    Winnow,
    disjunction,
    disjunction_witness,
    perceptron_disjunction_bound,
    winnow_mistake_bound,
)

target, sizes = disjunction(1, 2), [16, 32, 64, 128, 256]
random = np.random.default_rng(0)
counts = []
for n in sizes:
    X = random.integers(0, 2, size=(40 * n, n))
    X[:, :2] *= random.integers(0, 2, size=(40 * n, 2))  # the relevant inputs are rarer
    y = target(X)
    rows = np.hstack([X, np.ones((len(X), 1))])
    winnow = Winnow().run((X, y), comparator=target.literals(n))
    perceptron = OnlinePerceptron().run(
        (rows, 2 * y - 1), comparator=disjunction_witness(target, n)
    )
    counts.append((perceptron.truth[-1], winnow.truth[-1]))

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4))
for column, name, bound in (
    (0, "perceptron", perceptron_disjunction_bound),
    (1, "Winnow", winnow_mistake_bound),
):
    (line,) = left.plot(sizes, [count[column] for count in counts], marker="o", label=name)
    allowed = [bound(2, n) for n in sizes]
    left.plot(sizes, allowed, linestyle="--", color=line.get_color(), label=f"{name}, bound")
left.set(xscale="log", yscale="log", xlabel="inputs n", ylabel="mistakes")
left.set_xticks(sizes, labels=[str(n) for n in sizes])
left.minorticks_off()
left.legend(fontsize="small")
RegretDisplay({"perceptron": perceptron, "Winnow": winnow}).plot(right)
right.set(yscale="log", title=f"n = {sizes[-1]}")
figure.tight_layout()
