"""Safe optimisation: sets by brute force, safety by simulation, and that it gets there."""

from functools import cache

import numpy as np
import pytest
from scipy.stats import norm

from corollary.active import (
    Box,
    ExhaustedError,
    GrowingPosterior,
    Prior,
    SafeITL,
    SafeOpt,
    UncertaintySampler,
    View,
    optimistic_lower,
    query_multiplier,
)
from corollary.core.simulate import assert_bound_holds
from corollary.gp import draw_gaussian, gp_posterior
from corollary.kernels import RBF, Matern

GRID = np.linspace(0.0, 3.0, 40)[:, None]
START, VALUE, NOISE = 12, 0.4, 0.05
PRIOR = Prior(0.25 * Matern(0.5, nu=2.5), noise=NOISE**2)
CLASSES = pytest.mark.parametrize("cls", [SafeITL, SafeOpt])


@cache
def worlds(n, seed):
    """Functions from the prior, given that the start was observed as VALUE."""
    K = PRIOR.kernel.gram(GRID)
    law = gp_posterior(K[[[START]], START], [VALUE], PRIOR.noise, K[:, [START]], K)
    return draw_gaussian(law.mean, law.covariance, n, np.random.default_rng(seed)).T


def play(cls, f, rng, rounds=10, **settings):
    """Play one game; return the optimiser and the indices it queried."""
    optimiser = cls(GRID, PRIOR, [START], delta=0.1, horizon=rounds, **settings)
    optimiser.tell([START], [VALUE])
    asked = []
    for _ in range(rounds):
        (i,) = optimiser.ask().indices
        asked.append(i)
        optimiser.tell([i], [f[i] + NOISE * rng.standard_normal()])
    return optimiser, np.array(asked)


def count_unsafe(cls, n, seed, **settings):
    rng = np.random.default_rng(seed + 1)
    return sum((f[play(cls, f, rng, **settings)[1]] < 0).any() for f in worlds(n, seed))


# -- safety ----------------------------------------------------------------------------------


@CLASSES
@pytest.mark.parametrize("rule", ["queries", "grid"])
def test_queries_stay_safe_at_the_stated_rate(cls, rule, seed):
    assert_bound_holds(count_unsafe(cls, 80, seed, rule=rule), 80, 0.1)


@CLASSES
def test_bands_divide_delta_among_points_rounds_and_sides(cls):
    optimiser = cls(GRID, PRIOR, [START], delta=0.1, horizon=5, rule="grid")
    sets, (_, std) = optimiser.sets(), optimiser.predict(GRID)
    wide = norm.isf(0.1 / 5 / (2 * len(GRID)))
    np.testing.assert_allclose(sets.upper[0] - sets.lower[0], 2 * wide * std, rtol=1e-9)
    single = cls(GRID, PRIOR, [START], delta=0.1, horizon=5).sets()
    np.testing.assert_allclose(
        single.upper[0] - single.lower[0], 2 * norm.isf(0.1 / 5) * std, rtol=1e-9
    )


@CLASSES
@pytest.mark.verify
@pytest.mark.parametrize("rule", ["queries", "grid"])
def test_queries_stay_safe_at_the_stated_rate_in_many_games(cls, rule, seed):
    assert_bound_holds(count_unsafe(cls, 1500, seed, rule=rule), 1500, 0.1)


@CLASSES
def test_a_lost_square_root_is_caught(cls, seed, monkeypatch):
    """Variances in place of standard deviations make bands too narrow."""
    monkeypatch.setattr(View, "std", property(View.variance))
    with pytest.raises(AssertionError, match="bound broken"):
        assert_bound_holds(count_unsafe(cls, 80, seed), 80, 0.1)


@CLASSES
def test_a_batch_keeps_to_what_was_safe_before_it(cls, seed, monkeypatch):
    """Bands shrunk by observations that were only imagined must not decide what is safe."""

    def strays():
        count, rng = 0, np.random.default_rng(seed)
        for f in worlds(10, seed):
            optimiser, _ = play(cls, f, rng, rounds=2)
            optimiser.horizon = 10
            safe = optimiser.safe_set()
            count += int((~safe[optimiser.ask(8).indices]).sum())
        return count

    assert strays() == 0
    honest = View.variance
    monkeypatch.setattr(View, "variance", lambda v, imagined=True: honest(v, imagined=True))
    assert strays() > 0


def test_whole_safe_set_is_safe_under_the_grid_rule(seed):
    rng, wrong = np.random.default_rng(seed), 0
    for f in worlds(60, seed):
        optimiser = SafeITL(GRID, PRIOR, [START], delta=0.1, rule="grid")
        optimiser.tell([START], [VALUE])
        broken = False
        for _ in range(6):
            sets = optimiser.sets()
            broken |= bool((f[sets.safe] < 0).any())
            query = optimiser.ask()
            optimiser.tell(query, f[query.indices] + NOISE * rng.standard_normal(1))
        wrong += broken
    assert_bound_holds(wrong, 60, 0.1)


@CLASSES
def test_fixed_functions_of_bounded_norm_stay_safe(cls, seed):
    rng, unsafe, grown = np.random.default_rng(seed), 0, 0
    kernel, norm = PRIOR.kernel, 3.0
    for _ in range(25):
        centres = GRID[rng.choice(40, size=6)]
        weights = rng.normal(0.5, 1.0, size=6)
        weights *= norm / np.sqrt(weights @ kernel.gram(centres) @ weights)
        f = kernel.gram(GRID, centres) @ weights
        start = int(np.argmax(f))
        optimiser = cls(GRID, PRIOR, [start], rule="rkhs", norm_bound=norm, delta=0.1)
        for _ in range(6):
            (i,) = optimiser.ask().indices
            unsafe += f[i] < 0
            optimiser.tell([i], [f[i] + rng.choice([-NOISE, NOISE])])
        grown += optimiser.safe_set().sum() > 1
    assert grown > 10
    assert_bound_holds(int(unsafe), 150, 0.1)


@CLASSES
def test_separate_constraints_are_what_counts(cls, seed):
    rng, unsafe, low = np.random.default_rng(seed), 0, 0
    for f, g, h in zip(*(worlds(40, seed + i) for i in (2, 3, 4))):
        optimiser = cls(
            GRID,
            Prior(PRIOR.kernel, NOISE**2, mean=-2.0),
            [START],
            constraints=[PRIOR, PRIOR],
            threshold=[0.0, -0.2],
            delta=0.1,
            horizon=8,
        )
        optimiser.tell([START], [f[START] - 2.0], [[VALUE, VALUE]])
        for _ in range(8):
            (i,) = optimiser.ask().indices
            unsafe += g[i] < 0 or h[i] < -0.2
            low += f[i] - 2.0 < 0  # the objective itself may be as low as it likes
            noise = NOISE * rng.standard_normal(3)
            optimiser.tell([i], [f[i] - 2.0 + noise[0]], [[g[i] + noise[1], h[i] + noise[2]]])
        assert optimiser.z_.shape == (9, 2)
    assert low > 0
    assert_bound_holds(int(unsafe), 320, 0.1)


@CLASSES
def test_in_a_box_queries_stay_safe(cls, seed):
    """The disc of radius 0.3 is safe; a lone spread of candidates would rarely meet the start."""

    def f(X):
        return 1.0 - np.linalg.norm(X - 0.5, axis=1) ** 2 / 0.09

    optimiser = cls(
        Box([(0.0, 1.0)] * 2),
        Prior(4.0 * RBF(0.3), 1e-4),
        [[0.52, 0.5]],
        n_candidates=128,
        random_state=seed,
    )
    for _ in range(10):
        query = optimiser.ask(2)
        assert (f(query.X) >= 0).all()
        optimiser.tell(query, f(query.X))
    assert len(np.unique(optimiser.X_, axis=0)) > 10
    assert f(optimiser.best()[None])[0] > 0.95
    assert optimiser.safe_set([[0.5, 0.5], [0.0, 0.0]]).tolist() == [True, False]


# -- sets and rules ----------------------------------------------------------------------------


@CLASSES
def test_pessimistic_set_lies_in_the_optimistic_one(cls, seed):
    rng = np.random.default_rng(seed)
    for f in worlds(5, seed):
        optimiser, _ = play(cls, f - 1.2, rng)  # data that disagree with the start, too
        for X in (None, rng.uniform(0, 3, size=(30, 1))):
            sets = optimiser.sets(X)
            assert (sets.safe <= sets.optimistic).all()
            assert (sets.maximisers <= sets.optimistic).all()
        assert optimiser.sets().safe[START]


def test_sets_follow_their_definitions(seed):
    rng = np.random.default_rng(seed)
    f = worlds(1, seed)[0]
    optimiser, asked = play(SafeITL, f, rng, rounds=6)
    law = gp_posterior(
        PRIOR.kernel.gram(optimiser.X_),
        optimiser.y_,
        PRIOR.noise,
        PRIOR.kernel.gram(GRID, optimiser.X_),
        PRIOR.kernel.gram(GRID),
    )
    half = query_multiplier(0.1, 6, horizon=6) * np.sqrt(np.diag(law.covariance))
    lower, upper = law.mean - half, law.mean + half
    sets = optimiser.sets()
    np.testing.assert_allclose(sets.lower[0], lower, atol=1e-9)
    np.testing.assert_allclose(sets.upper[0], upper, atol=1e-9)
    safe = (lower >= 0) | (np.arange(40) == START)
    np.testing.assert_array_equal(sets.safe, safe)
    np.testing.assert_array_equal(sets.maximisers, (upper >= 0) & (upper >= lower[safe].max()))
    told = np.append(START, asked)
    assert optimiser.best() == GRID[told[np.argmax(lower[told])]]


def test_optimistic_answer_is_a_real_update(seed):
    rng = np.random.default_rng(seed)
    posterior = GrowingPosterior(PRIOR, 1)
    posterior.observe(GRID[[3, 9]], [0.5, 1.0])
    view = posterior.view(GRID)
    some, others = rng.choice(40, size=4, replace=False), np.arange(40)
    found = optimistic_lower(view, some, others, 2.0)
    for row, i in zip(found, some):
        again = GrowingPosterior(PRIOR, 1)
        again.observe(GRID[[3, 9, i]], [0.5, 1.0, view.mean[i] + 2.0 * view.std[i]])
        mean, std = again.predict(GRID)
        np.testing.assert_allclose(row, mean - 2.0 * std, atol=1e-9)


def test_safe_opt_takes_the_widest_maximiser_or_expander(seed):
    """The choice against a plain search over all safe points, with and without Lipschitz."""
    rng = np.random.default_rng(seed)
    for f in worlds(8, seed):
        for lipschitz in (None, 4.0):
            optimiser, _ = play(SafeOpt, f, rng, rounds=3, lipschitz=lipschitz)
            optimiser.horizon = 4
            sets = optimiser.sets()
            (chosen,) = optimiser.ask().indices
            wide = query_multiplier(0.1, 4, horizon=4)
            _, std = optimiser.predict(GRID)
            mean = 0.5 * (sets.lower[0] + sets.upper[0])
            best, width = sets.lower[0][sets.safe].max(), -1.0
            for x in np.flatnonzero(sets.safe):
                good = sets.upper[0][x] >= best
                if not good:
                    for other in np.flatnonzero(~sets.safe):
                        if lipschitz is None:
                            again = GrowingPosterior(PRIOR, 1)
                            again.observe(
                                np.append(optimiser.X_, GRID[[x]], axis=0),
                                np.append(optimiser.y_, mean[x] + wide * std[x]),
                            )
                            m, s = again.predict(GRID[[other]])
                            good |= bool(m[0] - wide * s[0] >= 0)
                        else:
                            gap = abs(GRID[x, 0] - GRID[other, 0])
                            good |= bool(mean[x] + wide * std[x] - lipschitz * gap >= 0)
                if good:
                    width = max(width, std[x])
            assert std[chosen] == pytest.approx(width, rel=1e-9)


def test_lipschitz_constants_widen_the_safe_set(seed):
    (f,) = worlds(1, seed)
    plain, _ = play(SafeOpt, f, np.random.default_rng(seed), rounds=1)
    sets = plain.sets()
    steep = SafeOpt(GRID, PRIOR, [START], delta=0.1, horizon=1, lipschitz=0.5).resume(plain.state())
    gaps = np.abs(GRID - GRID.T)
    expected = ((sets.lower[0] - 0.5 * gaps) >= 0).any(axis=1)
    expected[START] = True
    np.testing.assert_array_equal(steep.safe_set(), expected)
    assert steep.safe_set().sum() > sets.safe.sum()


# -- whether it gets anywhere ---------------------------------------------------------------------


def reachable(f, multiplier):
    """Points that can be certified by exact knowledge of what was certified before."""
    safe = np.arange(40) == START
    while True:
        exact = GrowingPosterior(Prior(PRIOR.kernel, 1e-6), 1)
        exact.observe(GRID[safe], f[safe])
        mean, std = exact.predict(GRID)
        more = safe | (mean - multiplier * std >= 0)
        if (more == safe).all():
            return safe
        safe = more


@CLASSES
def test_regret_falls_to_the_best_reachable_point(cls, seed):
    """After 20 queries most of the first regret is gone, on average."""
    rng, first, last = np.random.default_rng(seed), [], []
    for f in worlds(20, seed):
        optimiser, _ = play(cls, f, rng, rounds=20)
        best = f[reachable(f, query_multiplier(0.1, 20, horizon=20))].max()
        first.append(best - f[START])
        last.append(best - f[np.argmin(np.abs(GRID - optimiser.best()))])
    assert np.mean(last) < 0.4 * np.mean(first)


def uncertain(f, rng, careful):
    """Play with the widest band, among safe points or all; return what was queried."""
    free = UncertaintySampler(GRID, PRIOR)
    optimiser = SafeITL(GRID, PRIOR, [START], delta=0.1)
    asked = []
    for learner in (free, optimiser):
        learner.tell([START], [VALUE])
    for _ in range(12):
        allowed = optimiser.safe_set() if careful else np.ones(40, dtype=bool)
        i = int(np.argmax(np.where(allowed, free.predict(GRID).std, -1.0)))
        asked.append(i)
        for learner in (free, optimiser):
            learner.tell([i], [f[i] + NOISE * rng.standard_normal()])
    return np.array(asked)


@CLASSES
def test_unsafe_search_violates_and_a_search_without_aim_earns_less(cls, seed):
    """Uncertainty sampling leaves the safe set; kept inside, its last queries are worth less."""
    rng, unsafe, gaps = np.random.default_rng(seed), 0, []
    for f in worlds(30, seed):
        unsafe += (f[uncertain(f, rng, careful=False)] < 0).any()
        theirs = uncertain(f, rng, careful=True)
        ours = play(cls, f, rng, rounds=12)[1]
        gaps.append(f[ours[-6:]].mean() - f[theirs[-6:]].mean())
    with pytest.raises(AssertionError, match="bound broken"):
        assert_bound_holds(int(unsafe), 30, 0.1)
    assert np.mean(gaps) > 0  # about four standard errors from it


# -- what is refused ----------------------------------------------------------------------------


@CLASSES
def test_wrong_input_is_named(cls):
    name = cls.__name__
    for settings, message in [
        ({"safe_start": []}, f"{name} needs at least one point that is known to be safe"),
        ({"safe_start": [[7.0]]}, r"The point \[7.0\] is not in the pool"),
        ({"delta": 1.0}, f"'delta' parameter of {name} must be a float in the range"),
        ({"rule": "magic"}, f"'rule' parameter of {name} must be one of"),
        ({"rule": "rkhs"}, "needs 'norm_bound' with rule='rkhs', and only then"),
        ({"norm_bound": 1.0}, "needs 'norm_bound' with rule='rkhs', and only then"),
        ({"rule": "rkhs", "norm_bound": -1.0}, f"'norm_bound' parameter of {name} must be a pos"),
        ({"horizon": 0}, f"'horizon' parameter of {name} must be an int"),
        ({"threshold": [0.0, 1.0]}, f"'threshold' parameter of {name} must be a finite float"),
        ({"domain": Box([(0, 1)]), "safe_start": [[0.5]], "rule": "grid"}, "union over the points"),
    ]:
        arguments = {"domain": GRID, "prior": PRIOR, "safe_start": [0], **settings}
        with pytest.raises(ValueError, match=message):
            cls(**arguments)
    optimiser = cls(GRID, PRIOR, [0], horizon=2)
    with pytest.raises(ValueError, match="best needs observations"):
        optimiser.best()
    with pytest.raises(ValueError, match="needs no z"):
        optimiser.tell([0], [1.0], [1.0])
    with pytest.raises(ExhaustedError, match="0 of horizon=2 queries"):
        optimiser.ask(3)
    optimiser.ask(2)
    with pytest.raises(ExhaustedError, match="2 of horizon=2 queries"):
        optimiser.ask()
    both = cls(GRID, PRIOR, [0], constraints=PRIOR)
    with pytest.raises(ValueError, match="needs values z of its constraints"):
        both.tell([0], [1.0])
    with pytest.raises(ValueError, match="as many z as y"):
        both.tell([0], [1.0], [1.0, 2.0])
    with pytest.raises(ValueError, match="sets needs points X in a box"):
        cls(Box([(0, 1)]), PRIOR, [[0.5]]).sets()
    once = cls(GRID, Prior(RBF(0.01), 0.01), [0], repeat=False)
    once.tell(once.ask(), [-1.0])
    with pytest.raises(ExhaustedError, match="no safe point left that was not asked"):
        once.ask()


def test_lipschitz_constant_must_be_positive():
    with pytest.raises(ValueError, match="'lipschitz' parameter of SafeOpt must be a positive"):
        SafeOpt(GRID, PRIOR, [0], lipschitz=0.0)
