"""Values, gradients, bounds and minimisers of every loss."""

import inspect

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import log_softmax
from sklearn import metrics

from corollary import risk
from corollary.risk import (
    AbsoluteLoss,
    CostLoss,
    CrossEntropyLoss,
    EpsilonInsensitiveLoss,
    ExponentialLoss,
    HingeLoss,
    HuberLoss,
    LogisticLoss,
    PerceptronLoss,
    PinballLoss,
    PoissonLoss,
    RampLoss,
    SquaredHingeLoss,
    SquareLoss,
    SquareMarginLoss,
    TweedieLoss,
    ZeroOneLoss,
)

MARGIN = [
    HingeLoss(),
    SquaredHingeLoss(),
    LogisticLoss(),
    ExponentialLoss(),
    PerceptronLoss(),
    RampLoss(0.7),
    SquareMarginLoss(),
]
REGRESSION = [
    SquareLoss(),
    AbsoluteLoss(),
    PinballLoss(0.3),
    EpsilonInsensitiveLoss(0.4),
    HuberLoss(0.6),
]
# Losses of a law's mean, whose truths are positive.
MEANS = [PoissonLoss(), *(TweedieLoss(power) for power in (0, 1, 1.5, 2, 3))]
GRID = np.linspace(-3, 3, 601)


# -- values against formulas written out and against peers -----------------------------------


def test_margin_losses_equal_their_formulas():
    s = np.array([-2.0, 0.0, 0.35, 0.7, 1.0, 3.0])
    expected = {
        "HingeLoss": [3, 1, 0.65, 0.3, 0, 0],
        "SquaredHingeLoss": [9, 1, 0.4225, 0.09, 0, 0],
        "LogisticLoss": np.log(1 + np.exp(-s)),
        "ExponentialLoss": np.exp(-s),
        "PerceptronLoss": [2, 0, 0, 0, 0, 0],
        "RampLoss": [1, 1, 0.5, 0, 0, 0],
        "SquareMarginLoss": [9, 1, 0.4225, 0.09, 0, 4],
    }
    for loss in MARGIN:
        np.testing.assert_allclose(loss.of_margin(s), expected[type(loss).__name__], atol=1e-15)
        for y in (-1, 1):
            np.testing.assert_allclose(loss(np.full(6, y), y * s), loss.of_margin(s))


def test_values_agree_with_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    y, f = rng.choice([-1, 1], 200), rng.normal(size=200)
    assert np.isclose(HingeLoss()(y, f).mean(), metrics.hinge_loss(y, f))
    assert np.isclose(ZeroOneLoss()(y, np.sign(f)).mean(), metrics.zero_one_loss(y, np.sign(f)))
    t = rng.normal(size=200)
    assert np.isclose(SquareLoss()(t, f).mean(), metrics.mean_squared_error(t, f))
    assert np.isclose(AbsoluteLoss()(t, f).mean(), metrics.mean_absolute_error(t, f))
    for q in (0.1, 0.5, 0.85):
        peer = metrics.mean_pinball_loss(t, f, alpha=q)
        assert np.isclose(PinballLoss(q)(t, f).mean(), peer)
    codes, scores = rng.integers(3, size=200), rng.normal(size=(200, 3))
    peer = metrics.log_loss(codes, np.exp(log_softmax(scores, axis=1)), labels=[0, 1, 2])
    assert np.isclose(CrossEntropyLoss()(codes, scores).mean(), peer)


def test_zero_one_on_the_four_sign_pairs():
    y, label = np.array([-1, -1, 1, 1]), np.array([-1, 1, -1, 1])
    np.testing.assert_array_equal(ZeroOneLoss()(y, label), [0, 1, 1, 0])
    np.testing.assert_array_equal(ZeroOneLoss()(y, label), (1 - y * label) / 2)
    # A score of zero is read as +1: a mistake for -1 only.
    np.testing.assert_array_equal(ZeroOneLoss(scores=True)([-1, 1], [0.0, 0.0]), [1, 0])


def test_square_loss_on_labels_is_a_margin_loss_and_on_bits_the_zero_one_loss():
    y, f = np.array([-1, 1, -1]), np.array([0.3, -2.0, -1.0])
    np.testing.assert_allclose(SquareLoss()(y, f), SquareMarginLoss()(y, f))
    bits, guess = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    np.testing.assert_array_equal(SquareLoss()(bits, guess), ZeroOneLoss()(bits, guess))


def test_mean_square_error_sum_form_matrix_form_and_gradient(seed):
    rng = np.random.default_rng(seed)
    X, y, w = rng.normal(size=(7, 3)), rng.normal(size=7), rng.normal(size=3)
    by_rows = sum((y[i] - w @ X[i]) ** 2 for i in range(7)) / 7
    assert np.isclose(SquareLoss()(y, X @ w).mean(), by_rows)
    assert np.isclose(np.linalg.norm(X @ w - y) ** 2 / 7, by_rows)
    gradient = X.T @ SquareLoss().slope(y, X @ w) / 7
    by_hand = [2 / 7 * sum((w @ X[i] - y[i]) * X[i, k] for i in range(7)) for k in range(3)]
    np.testing.assert_allclose(gradient, by_hand)


def test_ramp_is_between_two_zero_one_losses_and_a_clipped_hinge():
    for gamma in (0.5, 1.0, 2.0):
        s = np.concatenate([GRID, [0.0, gamma]])
        ramp = RampLoss(gamma).of_margin(s)
        assert np.all((s <= 0) <= ramp)
        assert np.all(ramp <= (s < gamma))
        np.testing.assert_allclose(ramp, np.minimum(1, HingeLoss().of_margin(s / gamma)))


def test_half_pinball_is_half_the_absolute_loss():
    y, f = np.zeros(5), np.array([-2.0, -1.0, 0.0, 0.5, 3.0])
    np.testing.assert_allclose(PinballLoss(0.5)(y, f), AbsoluteLoss()(y, f) / 2)


def test_epsilon_insensitive_loss_and_support_vector_regression():
    from sklearn.svm import SVR

    s = np.array([-1.0, -0.4, 0.0, 0.3, 0.4, 2.4])
    np.testing.assert_allclose(
        EpsilonInsensitiveLoss(0.4)(s, np.zeros(6)), [0.6, 0, 0, 0, 0, 2.0], atol=1e-12
    )
    # SVR minimises ||w||^2 / 2 + C sum of this loss: nothing nearby is better, and points
    # strictly inside the tube have no weight.
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 1))
    y = 2 * X[:, 0] + rng.normal(size=40)
    model = SVR(kernel="linear", C=1.0, epsilon=0.4, tol=1e-8).fit(X, y)

    def objective(w, b):
        losses = EpsilonInsensitiveLoss(0.4)(y, w * X[:, 0] + b)
        return w**2 / 2 + losses.sum()

    w, b = model.coef_[0, 0], model.intercept_[0]
    for dw, db in [(0.05, 0), (-0.05, 0), (0, 0.05), (0, -0.05), (0.03, -0.03)]:
        assert objective(w, b) <= objective(w + dw, b + db) + 1e-6
    inside = np.flatnonzero(np.abs(y - model.predict(X)) < 0.4 - 1e-4)
    assert inside.size > 0
    assert not set(inside) & set(model.support_)


def test_stable_where_naive_formulas_overflow():
    assert LogisticLoss()([-1], [1e4])[0] == 1e4
    assert LogisticLoss()([1], [1e4])[0] == 0
    assert 0 < LogisticLoss()([1], [40.0])[0] < 1e-17  # log(1 + tiny) would be 0
    np.testing.assert_allclose(CrossEntropyLoss()([0, 1], [[1e4, 0.0], [1e4, 0.0]]), [0, 1e4])
    assert np.isposinf(ExponentialLoss()([-1], [1e4])[0])


def test_cross_entropy_shift_and_two_classes(seed):
    rng = np.random.default_rng(seed)
    y, scores = rng.integers(4, size=20), rng.normal(size=(20, 4))
    loss = CrossEntropyLoss()
    np.testing.assert_allclose(loss(y, scores), loss(y, scores + rng.normal(size=(20, 1))))
    two = scores[:, :2]
    signs = 2 * (y % 2) - 1
    np.testing.assert_allclose(loss(y % 2, two), LogisticLoss()(signs, two[:, 1] - two[:, 0]))


# -- slopes and curvatures -------------------------------------------------------------------


def scalar_losses():
    """All exported losses of one real prediction, with the parameters they are tested with."""
    classes = [
        value
        for value in vars(risk).values()
        if inspect.isclass(value)
        and issubclass(value, risk.Loss)
        and not inspect.isabstract(value)
        and value not in (ZeroOneLoss, CostLoss, CrossEntropyLoss)
    ]
    listed = [*MARGIN, *REGRESSION, *MEANS]
    assert {type(loss) for loss in listed} == set(classes)
    return listed


def compiled_losses():
    """Those of them that loops can use."""
    return [loss for loss in scalar_losses() if loss.code >= 0]


@pytest.fixture(scope="module")
def compiled():
    """Return the compiled value, slope and curvature of a loss at truths and predictions."""
    from corollary.core.jit import jit
    from corollary.risk import loss_curvature, loss_slope, loss_value

    @jit
    def evaluate(code, shape, y, f, out):
        for i in range(len(y)):
            out[0, i] = loss_value(code, shape, y[i], f[i])
            out[1, i] = loss_slope(code, shape, y[i], f[i])
            out[2, i] = loss_curvature(code, shape, y[i], f[i])

    def run(loss, y, f):
        out = np.empty((3, len(y)))
        evaluate(loss.code, float(loss.shape), y, f, out)
        return out

    return run


# Kinks, ties and scores at which naive formulas overflow or lose all digits.
HARD = np.array([0.0, -0.4, 0.4, 0.7, -0.7, 1.0, -1.0, 1.4, 40.0, -40.0, 700.0, -700.0])


@pytest.mark.parametrize("loss", compiled_losses(), ids=repr)
def test_the_compiled_form_is_the_same_loss(loss, compiled, seed):
    rng = np.random.default_rng(seed)
    f = np.concatenate([2 * rng.normal(size=200), HARD, HARD])
    y = np.concatenate([rng.choice([-1.0, 1.0], 200), np.ones(HARD.size), -np.ones(HARD.size)])
    if isinstance(loss, PoissonLoss):
        y = np.abs(np.round(3 * rng.normal(size=y.size)))
    value, slope, curvature = compiled(loss, y, f)
    # Tails of smooth margin losses agree digit by digit; elsewhere terms of size 1 cancel.
    tiny = 1e-300 if loss in MARGIN and loss.differentiable else 1e-14
    np.testing.assert_allclose(value, loss.value(y, f), rtol=1e-13, atol=tiny)
    np.testing.assert_allclose(slope, loss.slope(y, f), rtol=1e-13, atol=tiny)
    np.testing.assert_allclose(curvature, loss.curvature(y, f), rtol=1e-13, atol=tiny)


def test_every_number_of_a_compiled_form_belongs_to_one_loss():
    from corollary.risk import _codes

    codes = [loss.code for loss in compiled_losses()]
    numbers = {value for name, value in vars(_codes).items() if name.isupper()}
    assert sorted(codes) == sorted(numbers)
    assert {ZeroOneLoss.code, CostLoss.code, CrossEntropyLoss.code} == {-1}


@pytest.mark.parametrize("loss", scalar_losses(), ids=repr)
def test_slope_and_curvature_equal_finite_differences_off_the_kinks(loss, seed):
    rng = np.random.default_rng(seed)
    y, f, h = rng.choice([-1.0, 1.0], 200), rng.normal(size=200), 1e-6
    y = np.abs(y) if loss in MEANS else y
    by_values = (loss(y, f + h) - loss(y, f - h)) / (2 * h)
    by_slopes = (loss.slope(y, f + h) - loss.slope(y, f - h)) / (2 * h)
    smooth = np.abs(by_slopes) < 1e3
    assert smooth.mean() > 0.95
    np.testing.assert_allclose(loss.slope(y, f)[smooth], by_values[smooth], atol=1e-6)
    # The curvature itself may jump; where it does not, it is the slope's slope.
    even = smooth & (loss.curvature(y, f + h) - loss.curvature(y, f - h) < 1e-3)
    assert even.mean() > 0.95
    np.testing.assert_allclose(loss.curvature(y, f)[even], by_slopes[even], atol=1e-6)
    np.testing.assert_array_equal(loss.gradient(y, f), loss.slope(y, f))


def test_the_logistic_slope_and_curvature_keep_their_digits():
    for s in (-800.0, -40.0, 40.0, 700.0):
        _, slope, curvature = LogisticLoss().terms_of_margin(s)
        assert slope == pytest.approx(-1.0 if s < 0 else -np.exp(-s), rel=1e-12)
        assert curvature == pytest.approx(np.exp(-abs(s)), rel=1e-12)


@pytest.mark.parametrize("loss", MARGIN, ids=repr)
def test_terms_of_margin_are_value_slope_and_curvature(loss):
    terms = loss.terms_of_margin(-GRID)
    y = -np.ones(GRID.size)
    np.testing.assert_array_equal(terms[0], loss(y, GRID))
    np.testing.assert_allclose(y * terms[1], loss.slope(y, GRID), rtol=1e-15)
    np.testing.assert_array_equal(terms[2], loss.curvature(y, GRID))


def test_cross_entropy_curvature_is_the_diagonal_and_bounded(seed):
    rng = np.random.default_rng(seed)
    y, scores, loss, h = rng.integers(3, size=6), rng.normal(size=(6, 3)), CrossEntropyLoss(), 1e-6
    for k in range(3):
        step = h * np.eye(3)[k]
        numeric = (loss.slope(y, scores + step) - loss.slope(y, scores - step))[:, k] / (2 * h)
        np.testing.assert_allclose(loss.curvature(y, scores)[:, k], numeric, atol=1e-8)
    p = loss.slope(y, scores) + np.eye(3)[y]
    largest = max(np.linalg.eigvalsh(np.diag(row) - np.outer(row, row)).max() for row in p)
    assert largest <= loss.smoothness
    half = np.array([0.5, 0.5])
    assert np.linalg.eigvalsh(np.diag(half) - np.outer(half, half)).max() == loss.smoothness


def test_cross_entropy_gradient_equals_finite_differences(seed):
    rng = np.random.default_rng(seed)
    y, scores, loss, h = rng.integers(3, size=6), rng.normal(size=(6, 3)), CrossEntropyLoss(), 1e-6
    for k in range(3):
        step = h * np.eye(3)[k]
        numeric = (loss(y, scores + step) - loss(y, scores - step)) / (2 * h)
        np.testing.assert_allclose(loss.slope(y, scores)[:, k], numeric, atol=1e-8)


@pytest.mark.parametrize("loss", [m for m in MARGIN + REGRESSION if m.convex], ids=repr)
def test_subgradients_support_convex_losses_everywhere(loss):
    # Kinks included: f(z) >= f(x) + g (z - x).
    x, z = np.meshgrid(GRID[::20], GRID[::7])
    x, z, y = x.ravel(), z.ravel(), np.ones(x.size)
    assert np.all(loss(y, z) >= loss(y, x) + loss.slope(y, x) * (z - x) - 1e-12)


def test_hinge_subgradient_is_minus_the_indicator_of_small_margins():
    slopes = HingeLoss().slope(np.ones(4), [0.0, 0.999, 1.0, 2.0])
    np.testing.assert_array_equal(slopes, [-1, -1, 0, 0])


def test_expected_pinball_gradient_is_distribution_function_minus_level(seed):
    sample = np.random.default_rng(seed).integers(0, 5, 100).astype(float)
    for f in (0.0, 1.0, 2.5):
        gradient = PinballLoss(0.3).slope(sample, np.full(100, f)).mean()
        assert np.isclose(gradient, (sample <= f).mean() - 0.3)


def test_convexity_and_differentiability_are_declared_truly():
    for loss in MARGIN:
        values = loss.of_margin(GRID)
        middle = values[1:-1] - (values[2:] + values[:-2]) / 2
        assert (middle.max() <= 1e-12) == loss.convex, loss
        jumps = np.abs(np.diff(loss.slope(np.ones(GRID.size), GRID))).max()
        assert (jumps < 0.3) == loss.differentiable, loss


# -- bounds and Lipschitz constants ----------------------------------------------------------


@pytest.mark.parametrize("loss", MARGIN, ids=repr)
@pytest.mark.parametrize(("low", "high"), [(-2.0, 2.0), (-0.5, 1.5), (0.8, 3.0), (-3.0, -0.1)])
def test_margin_bounds_are_attained_on_the_range(loss, low, high):
    f = np.linspace(low, high, 2001)
    losses = np.concatenate([loss(np.full(f.size, y), f) for y in (-1, 1)])
    assert np.isclose(loss.upper_bound_on(low, high), losses.max())
    slopes = [np.abs(np.diff(loss(np.full(f.size, y), f)) / np.diff(f)).max() for y in (-1, 1)]
    assert np.isclose(loss.lipschitz_on(low, high), max(slopes), rtol=2e-3)


@pytest.mark.parametrize("loss", REGRESSION, ids=repr)
def test_regression_bounds_are_attained_on_the_range(loss):
    y, f = np.meshgrid(np.linspace(-1, 2, 301), np.linspace(-1, 2, 301))
    losses = loss(y, f)
    assert np.isclose(loss.upper_bound_on(-1, 2), losses.max())
    steepest = np.abs(np.diff(losses, axis=0)).max() / 0.01
    assert np.isclose(loss.lipschitz_on(-1, 2), steepest, rtol=5e-3)


def test_bounds_without_a_range():
    assert [m.lipschitz for m in MARGIN] == [1, np.inf, 1, np.inf, 1, 1 / 0.7, np.inf]
    assert [m.upper_bound for m in MARGIN] == [np.inf] * 5 + [1, np.inf]
    assert [m.lipschitz for m in REGRESSION] == [np.inf, 1, 0.7, 1, 1.2]
    assert ZeroOneLoss().upper_bound == 1
    assert CostLoss([[0, 2], [7, 0]], [0, 1]).upper_bound == 7
    assert CrossEntropyLoss().upper_bound == np.inf


def test_cross_entropy_is_lipschitz(seed):
    rng = np.random.default_rng(seed)
    scores = 5 * rng.normal(size=(2000, 3))
    norms = np.linalg.norm(CrossEntropyLoss().slope(rng.integers(3, size=2000), scores), axis=1)
    assert 1.3 < norms.max() <= CrossEntropyLoss().lipschitz


@pytest.mark.parametrize("loss", [m for m in MARGIN if m.differentiable], ids=repr)
@pytest.mark.parametrize(("low", "high"), [(-2.0, 2.0), (-0.5, 1.5), (0.8, 3.0), (-3.0, -0.1)])
def test_margin_smoothness_is_attained_on_the_range(loss, low, high):
    f = np.linspace(low, high, 2001)
    curvatures = [loss.curvature(np.full(f.size, y), f) for y in (-1, 1)]
    assert np.isclose(loss.smoothness_on(low, high), np.max(curvatures))


def test_smoothness_without_a_range():
    expected = [np.inf, 2, 0.25, np.inf, np.inf, np.inf, 2]
    assert [loss.smoothness for loss in MARGIN] == expected
    assert [loss.smoothness for loss in REGRESSION] == [2, np.inf, np.inf, np.inf, 2]
    assert PoissonLoss().smoothness_on(-1, 2) == np.exp(2)
    assert ZeroOneLoss().smoothness == np.inf


# -- minimisers ------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", MARGIN, ids=repr)
@pytest.mark.parametrize("p", [0.05, 0.3, 0.5, 0.8, 0.97])
def test_link_minimises_the_conditional_risk(loss, p):
    f = np.linspace(-4, 4, 8001)
    risks = p * loss.of_margin(f) + (1 - p) * loss.of_margin(-f)
    at_link = p * loss.of_margin(loss.link(p)) + (1 - p) * loss.of_margin(-loss.link(p))
    assert at_link <= risks.min() + 1e-12
    np.testing.assert_allclose(loss.minimiser([[1 - p, p], [p, 1 - p]], [-1, 1])[0], loss.link(p))


@pytest.mark.parametrize("loss", [SquaredHingeLoss(), LogisticLoss(), ExponentialLoss()], ids=repr)
def test_inverse_link_leads_back(loss):
    p = np.linspace(0, 1, 21)
    np.testing.assert_allclose(loss.inverse_link(loss.link(p)), p, atol=1e-12)


def test_inverse_link_is_refused_where_there_is_none():
    with pytest.raises(TypeError, match="HingeLoss does not determine the probability"):
        HingeLoss().inverse_link(0.3)
    with pytest.raises(ValueError, match=r"must lie in \[0, 1\]"):
        HingeLoss().link(1.2)


@given(
    st.lists(st.integers(1, 9), min_size=2, max_size=5),
    st.sampled_from([*REGRESSION, PinballLoss(0.9), EpsilonInsensitiveLoss(1.5)]),
)
def test_regression_minimiser_beats_a_grid(weights, loss):
    p = np.array(weights) / np.sum(weights)
    outcomes = np.array([3.0, -1.0, 0.5, 2.0, 0.0])[: p.size]
    best = loss.minimiser(p[None, :], outcomes)[0]
    grid = np.linspace(-3, 5, 801)
    risks = sum(w * loss(np.full(801, o), grid) for w, o in zip(p, outcomes))
    assert p @ loss(outcomes, np.full(p.size, best)) <= risks.min() + 1e-9


def test_poisson_minimiser_is_the_log_mean_and_the_selection_leads_back():
    loss, outcomes = PoissonLoss(), np.array([0.0, 1.0, 4.0])
    p = np.array([[0.5, 0.25, 0.25], [1.0, 0.0, 0.0]])
    best = loss.minimiser(p, outcomes)
    np.testing.assert_allclose(loss.select(best), [1.25, 0.0])
    grid = np.linspace(-3, 3, 601)
    risks = sum(w * loss(np.full(601, o), grid) for w, o in zip(p[0], outcomes))
    assert p[0] @ loss(outcomes, np.full(3, best[0])) <= risks.min() + 1e-12
    peer = metrics.mean_poisson_deviance(outcomes, np.exp([0.3, -1.0, 2.0]))
    assert 2 * loss(outcomes, [0.3, -1.0, 2.0]).mean() == pytest.approx(peer)


@pytest.mark.parametrize("power", [0, 1, 1.5, 2, 3, -1])
def test_tweedie_deviances_equal_the_peers_and_are_least_at_the_mean(power):
    y, mean = np.array([0.5, 1.0, 4.0]), np.array([1.0, 0.3, 5.0])
    peer = metrics.mean_tweedie_deviance(y, mean, power=power)
    for loss, f in ((TweedieLoss(power), np.log(mean)), (TweedieLoss(power, "identity"), mean)):
        assert 2 * loss(y, f).mean() == pytest.approx(peer)
        np.testing.assert_allclose(loss.select(f), mean)
        np.testing.assert_allclose(loss(y, loss.minimiser(np.eye(3), y)), 0, atol=1e-14)
        best = loss.minimiser([[0.2, 0.3, 0.5]], y)[0]
        assert loss.select(best) == pytest.approx(2.4)
        h = 1e-6
        slope = (loss(y, f + h) - loss(y, f - h)) / (2 * h)
        bend = (loss.slope(y, f + h) - loss.slope(y, f - h)) / (2 * h)
        np.testing.assert_allclose(loss.slope(y, f), slope, rtol=1e-6, atol=1e-7)
        np.testing.assert_allclose(loss.curvature(y, f), bend, rtol=1e-6, atol=1e-7)
        # What is left of the curvature where the truth is the mean.
        np.testing.assert_allclose(loss.information(f), loss.curvature(mean, f))


def test_tweedie_by_hand_and_at_the_edges():
    assert TweedieLoss(2)([2.0], [0.0])[0] == pytest.approx(1 - np.log(2))
    assert TweedieLoss(1.5)([0.0], [np.log(4.0)])[0] == pytest.approx(4.0)
    assert TweedieLoss(3)([1.0], [np.log(2.0)])[0] == pytest.approx(0.125)
    assert TweedieLoss(1, "identity")([1.0], [-1.0])[0] == np.inf
    f = np.array([-2.0, 0.5, 3.0])
    np.testing.assert_allclose(TweedieLoss(1)([0.0, 1.0, 4.0], f), PoissonLoss()([0, 1, 4], f))
    possible = [TweedieLoss(power).is_truth([-1.0, 0.0, 1.0]).sum() for power in (0, 1, 2)]
    assert possible == [3, 2, 1]


def test_minimisers_of_labels():
    posterior = np.array([[0.2, 0.5, 0.3], [0.4, 0.2, 0.4]])
    labels = ZeroOneLoss().minimiser(posterior, ["a", "b", "c"])
    assert labels.tolist() == ["b", "a"]  # the first of equals
    assert ZeroOneLoss(scores=True).minimiser([[0.5, 0.5]], [-1, 1]).tolist() == [1]
    scores = CrossEntropyLoss().minimiser(posterior, [2, 0, 1])
    np.testing.assert_allclose(np.exp(scores), posterior[:, [1, 2, 0]])


# -- interface -------------------------------------------------------------------------------


def test_losses_are_values():
    assert RampLoss(0.5) == RampLoss(0.5)
    assert RampLoss(0.5) != RampLoss(0.6)
    assert len({HingeLoss(), HingeLoss(), LogisticLoss()}) == 2
    costs = CostLoss(np.array([[0, 1], [2, 0]]), np.array(["a", "b"]))
    assert costs == CostLoss([[0, 1], [2, 0]], ["a", "b"])
    assert hash(costs) == hash(CostLoss([[0, 1], [2, 0]], ["a", "b"]))


def test_check_loss_finds_every_name():
    for name in risk.loss_names():
        assert risk.check_loss(name).name == name
    assert risk.check_loss(np.subtract) is np.subtract
    with pytest.raises(ValueError, match=r"must be one of \['absolute'.*Got 'hing' instead"):
        risk.check_loss("hing")
    with pytest.raises(TypeError, match="must be a name, a Loss or a callable"):
        risk.check_loss(3)
    with pytest.raises(TypeError, match="must be a name, a Loss or a callable"):
        risk.check_loss(HingeLoss)
    with pytest.raises(TypeError, match=r"slope\(y_true, prediction\) method is required"):
        risk.check_loss(np.subtract, gradient=True)


def test_selection_rules():
    assert HingeLoss().select([-1.0, 0.0, 2.0]).tolist() == [-1, 1, 1]
    assert CrossEntropyLoss().select([[0.0, 1.0], [2.0, 2.0]]).tolist() == [1, 0]
    assert SquareLoss().select([0.5]).tolist() == [0.5]
    assert ZeroOneLoss().select(["a"]).tolist() == ["a"]
    assert ZeroOneLoss(scores=True).select([0.0]).tolist() == [1]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: HingeLoss()([0, 1], [0.1, 0.2]),
            r"HingeLoss needs labels -1 and \+1. Got \[0, 1\]",
        ),
        (lambda: HingeLoss()(["a", "b"], [0.1, 0.2]), "HingeLoss needs labels"),
        (
            lambda: SquareLoss()(np.ones(3), np.ones((3, 1))),
            r"shapes must be equal.*\(3,\).*\(3, 1\)",
        ),
        (lambda: RampLoss(0), r"'gamma' parameter of RampLoss .* range \(0.0, inf\). Got 0"),
        (lambda: PinballLoss(1.0), r"'quantile' parameter of PinballLoss .* \(0.0, 1.0\). Got 1.0"),
        (lambda: EpsilonInsensitiveLoss(-1), r"'epsilon' parameter .* Got -1 instead"),
        (
            lambda: CrossEntropyLoss()([0, 3], np.zeros((2, 3))),
            r"class numbers 0, ..., 2. Got \[0, 3\]",
        ),
        (
            lambda: CrossEntropyLoss()([0, 1], np.zeros(2)),
            r"scores of shape \(n_samples, n_classes\)",
        ),
        (lambda: CostLoss([[0, 1]], [0, 1]), "one row and one column of costs for each class"),
        (lambda: CostLoss([[0, 1], [1, 0]], [1, 1]), "distinct classes"),
        (
            lambda: CostLoss([[0, 1], [1, 0]], [0, 1])([0], [2]),
            r"knows the classes \[0, 1\]. Got \[2\]",
        ),
        (lambda: PoissonLoss()([-1.0], [0.0]), "truths of at least 0"),
        (lambda: TweedieLoss(2)([0.0], [0.0]), "needs positive truths"),
        (lambda: TweedieLoss(0.5), "where no such law exists"),
        (lambda: TweedieLoss(1, "logit"), "must be 'log' or 'identity'"),
        (lambda: HuberLoss(0.0), r"in the range \(0.0, inf\)"),
        (lambda: HingeLoss().upper_bound_on(2, 1), "low <= high. Got low=2, high=1"),
        (lambda: SquareLoss().minimiser([[0.5, 0.6]], [0, 1]), "non-negative and summing to 1"),
        (
            lambda: SquareLoss().minimiser([[0.5, 0.5]], [0, 1, 2]),
            r"Got shapes \(1, 2\) and \(3,\)",
        ),
        (
            lambda: CrossEntropyLoss().minimiser([[0.5, 0.5]], [1, 2]),
            "outcomes 0, ..., n_outcomes - 1",
        ),
    ],
)
def test_errors_say_what_is_wrong(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_labels_have_no_slope():
    with pytest.raises(TypeError, match="Minimise a surrogate"):
        ZeroOneLoss().slope([1], [1])
    with pytest.raises(TypeError, match=r"CostLoss\.minimiser"):
        CostLoss([[0, 1], [1, 0]], [0, 1]).slope([1], [1])


def test_codes_may_be_whole_floats():
    scores = np.array([[0.0, 1.0], [2.0, 0.0]])
    by_hand = np.log1p(np.exp([1.0, 2.0]))
    assert CrossEntropyLoss()(np.array([0, 1]), scores) == pytest.approx(by_hand)
    assert CrossEntropyLoss()(np.array([0.0, 1.0]), scores) == pytest.approx(by_hand)
