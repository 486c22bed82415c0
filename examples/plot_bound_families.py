"""
Bounds against simulation, family by family
===========================================

Each panel draws samples of growing size from a world whose truth is known, computes a bound as a
user would, and shows it above the quantity that it bounds. Lines are medians, the grey band holds
nine tenths of the simulated quantity, and the dotted line is the smallest number that would have
kept the promise in that world. How far a bound lies above it is the price of not knowing the world.
"""

import math
import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression, Ridge

from corollary import certify
from corollary.linear import Perceptron
from corollary.theory import (
    BoundDisplay,
    betting_sequence,
    bound_curve,
    clopper_pearson_upper,
    euclidean_ball_bound,
    hoeffding_bound,
    rademacher_bound,
    ridge_stability,
    stability_bound,
    stitched_sequence,
    vc_bound,
)

delta = 0.05


def simulate(trials, sizes, repetitions=30):
    """One curve per name, all on the same draws."""
    how = {"delta": delta, "repetitions": repetitions, "random_state": 0}
    return {name: bound_curve(trial, sizes, **how) for name, trial in trials.items()}


def sizes(low, high):
    """Return six numbers of rows."""
    return np.unique(np.geomspace(low, high, 6).astype(int))


# %%
# Rows that the model never saw
# -----------------------------
# A model errs on one row in ten. The exact bound and Hoeffding's are for a number of rows that was
# fixed beforehand; the confidence sequences hold after every row at once.


def errors(n, rng):
    """Draw which rows are wrong."""
    return (rng.random(n) < 0.1).astype(float)


def exact(n, rng):
    """Bound the error rate by the binomial law."""
    return clopper_pearson_upper(int(errors(n, rng).sum()), n, delta), 0.1


def hoeffding(n, rng):
    """Bound the error rate by its range."""
    return errors(n, rng).mean() + hoeffding_bound(n_samples=n, delta=delta), 0.1


def betting(n, rng):
    """Bound the error rate at all times by bets."""
    return betting_sequence(errors(n, rng), delta, sides=1).upper[-1], 0.1


def stitched(n, rng):
    """Bound the error rate at all times by straight boundaries."""
    return stitched_sequence(errors(n, rng), delta, sides=1).upper[-1], 0.1


held_out = simulate({"exact binomial": exact, "Hoeffding": hoeffding}, sizes(20, 5000))
anytime = simulate({"betting": betting, "stitched": stitched}, sizes(20, 2000), 20)

# %%
# Classes of functions
# --------------------
# Thresholds on the line have VC dimension one; with labels that nothing predicts every threshold
# errs on half of the population, and the largest gap to the training error can be computed exactly.
# For linear functions of length one the largest gap is the length of a mean.


def thresholds(n, rng):
    """Bound the largest gap of a threshold."""
    signs = rng.choice([-1.0, 1.0], n)
    walk = np.concatenate([[0.0], np.cumsum(signs)])
    return vc_bound(n_samples=n, dimension=1, delta=delta), np.max(walk - walk[-1] / 2) / n


def unit_ball(n, rng):
    """Bound the largest gap of a linear function."""
    X = rng.normal(size=(n, 20))
    X /= np.linalg.norm(X, axis=1)[:, None]
    bound = rademacher_bound(
        euclidean_ball_bound(X), n_samples=n, delta=delta, low=-1.0, empirical=True
    )
    return bound, float(np.linalg.norm(X.mean(axis=0)))


vc = simulate({"VC bound": thresholds}, sizes(50, 20_000), 200)
rademacher = simulate({"Rademacher bound": unit_ball}, sizes(50, 10_000), 50)

# %%
# Certificates from training rows
# -------------------------------
# A plane with a tenth of the labels flipped. The error of a fitted plane is known from its angle to
# the true one, and :func:`corollary.certify` sees the training rows only.


def certificate(theorem):
    """Certify a fitted plane by a theorem."""

    def trial(n, rng):
        X = rng.normal(size=(n, 2))
        y = (X[:, 0] > 0) ^ (rng.random(n) < 0.1)
        model = LogisticRegression(C=100.0, fit_intercept=False).fit(X, y)
        w = model.coef_[0]
        angle = math.acos(np.clip(w[0] / np.linalg.norm(w), -1, 1))
        found = certify(model, X, y, seen=True, confidence=1 - delta)
        bound = next(c.bound for c in found if c.theorem == theorem)
        return bound, 0.1 + 0.8 * angle / math.pi

    return trial


margin = simulate(
    {"margin bound": certificate("theory.margin-bound-uniform")}, sizes(100, 10_000), 5
)
pac_bayes = simulate(
    {"PAC-Bayes bound": certificate("theory.pac-bayes-gaussian")}, sizes(100, 10_000), 5
)


# %%
# Learners
# --------
# Ridge regression is stable, so that the gap between its risk and its training error is small. A
# perceptron is determined by the rows at which it was ever mistaken, so that the others test it.


def ridge(n, rng):
    """Bound the gap of ridge regression."""
    angle = rng.uniform(0, 2 * math.pi, n)
    X, y = np.stack([np.cos(angle), np.sin(angle)], axis=1), rng.choice([-1.0, 1.0], n)
    model = Ridge(alpha=n, fit_intercept=False).fit(X, y)
    # Given x the target is a fair sign and predictions are at most one half: the risk is one.
    gap = 1.0 - float(np.abs(y - model.predict(X)).mean())
    epsilon = ridge_stability(n_samples=n, alpha=1.0)
    return stability_bound(epsilon, n_samples=n, delta=delta, high=1.5), gap


def perceptron(n, rng):
    """Certify a perceptron by the rows it was mistaken at."""
    X = rng.normal(size=(4 * n, 3))
    X = X[np.abs(X[:, 0]) > 0.5][:n]  # a gap of one half on each side of the plane
    y = (X[:, 0] > 0).astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = Perceptron(max_iter=100, fit_intercept=False, shuffle=False, tol=None).fit(X, y)
    found = certify(model, X, y, seen=True, confidence=1 - delta)
    bound = next(c.bound for c in found if c.theorem == "theory.perceptron-compression")
    fresh = rng.normal(size=(20_000, 3))
    fresh = fresh[np.abs(fresh[:, 0]) > 0.5]
    return bound, float(np.mean(model.predict(fresh) != (fresh[:, 0] > 0)))


stability = simulate({"stability bound": ridge}, sizes(50, 20_000), 50)
compression = simulate({"compression bound": perceptron}, sizes(50, 5000), 10)

# %%
# All families
# ------------
panels = [
    ("Held-out rows", held_out, "error rate", "linear"),
    ("Held-out rows, at any time", anytime, "error rate", "linear"),
    ("VC dimension", vc, "largest gap", "log"),
    ("Rademacher complexity", rademacher, "largest gap", "log"),
    ("Margins", margin, "error rate", "linear"),
    ("PAC-Bayes", pac_bayes, "error rate", "linear"),
    ("Stability", stability, "gap", "log"),
    ("Compression", compression, "error rate", "linear"),
]
figure, axes = plt.subplots(2, 4, figsize=(13, 6), layout="constrained")
for ax, (title, curves, quantity, scale) in zip(axes.flat, panels):
    BoundDisplay(curves, quantity=quantity).plot(ax)
    # On a logarithmic scale a rate is a slope.
    ax.set(title=title, yscale=scale, ylim=(1e-4 if scale == "log" else 0, None))

# %%
# No bound fell below its quantity more often than allowed.
for title, curves, *_ in panels:
    for name, curve in curves.items():
        print(f"{title:27} {name:18} violated in {curve.violations.mean():.1%} of draws")
