"""GaussianMixture: against scikit-learn, its laws, and what it refuses."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture as Theirs

from corollary.mixture import GaussianMixture, MixtureLaw
from tests.mixture.examples import random_law

KINDS = ["full", "tied", "diag", "spherical"]
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def rows(seed=0, n=150, k=3, d=2):
    return random_law(np.random.default_rng(seed), k, d).sample(n, seed)[0]


def precisions(kind, k=3, d=2):
    eye = 0.8 * np.eye(d)
    full = np.tile(eye, (k, 1, 1))
    return {"full": full, "tied": eye, "diag": np.full((k, d), 0.8), "spherical": np.full(k, 0.8)}[
        kind
    ]


def given(cls, X, kind, **options):
    """A model whose start is fixed."""
    start = {
        "weights_init": [0.2, 0.3, 0.5],
        "means_init": X[:3],
        "precisions_init": precisions(kind, d=X.shape[1]),
    }
    return cls(3, covariance_type=kind, random_state=0, **(start | options))


@pytest.mark.parametrize("kind", KINDS)
def test_steps_equal_scikit_learns(kind):
    X = rows(1)
    for options in ({"max_iter": 1}, {"max_iter": 7, "tol": 0}, {"tol": 1e-4, "reg_covar": 1e-3}):
        ours, theirs = (given(cls, X, kind, **options).fit(X) for cls in (GaussianMixture, Theirs))
        for name in ("weights_", "means_", "covariances_", "precisions_", "precisions_cholesky_"):
            value = getattr(theirs, name)
            np.testing.assert_allclose(
                getattr(ours, name), value, rtol=1e-7, atol=1e-9, err_msg=name
            )
        np.testing.assert_allclose(ours.lower_bounds_, theirs.lower_bounds_, rtol=1e-10)
        assert ours.lower_bound_ == pytest.approx(theirs.lower_bound_)
        assert (ours.n_iter_, ours.converged_) == (theirs.n_iter_, theirs.converged_)
    Z = rows(2)
    np.testing.assert_allclose(ours.score_samples(Z), theirs.score_samples(Z), rtol=1e-8)
    np.testing.assert_allclose(ours.predict_proba(Z), theirs.predict_proba(Z), atol=1e-9)
    np.testing.assert_array_equal(ours.predict(Z), theirs.predict(Z))
    assert ours.score(Z) == pytest.approx(theirs.score(Z))
    assert ours.bic(Z) == pytest.approx(theirs.bic(Z))
    assert ours.aic(Z) == pytest.approx(theirs.aic(Z))
    for mine, other in zip(ours.sample(20), theirs.sample(20)):
        np.testing.assert_allclose(mine, other, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("how", ["kmeans", "k-means++", "random", "random_from_data"])
def test_every_fit_rises_from_every_start(kind, how):
    X = rows(3)
    for seed, floor in ((0, 0.0), (1, 0.3)):
        model = GaussianMixture(
            3,
            covariance_type=kind,
            init_params=how,
            random_state=seed,
            tol=1e-6,
            max_iter=60,
            reg_covar=0,
            covariance_floor=floor,
        ).fit(X)
        assert (np.diff(model.lower_bounds_) >= -1e-12).all()
        assert model.score(X) >= model.lower_bound_ - 1e-12
        if floor:
            smallest = np.linalg.eigvalsh(model.to_law().covariances).min()
            assert smallest >= floor * (1 - 1e-9)


def test_missing_values_rise_too():
    rng = np.random.default_rng(4)
    X = rows(4, d=3)
    X[rng.uniform(size=X.shape) < 0.3] = np.nan
    for kind in KINDS:
        model = GaussianMixture(2, covariance_type=kind, reg_covar=0, tol=1e-7, random_state=0).fit(
            X
        )
        assert (np.diff(model.lower_bounds_) >= -1e-12).all()
        assert model.score(X) >= model.lower_bound_ - 1e-12


def brute_step(X, law, weight):
    """One step of EM with missing values, row by row, by the conditional law of each."""
    k, d = law.means.shape
    counts, first, second = np.zeros(k), np.zeros((k, d)), np.zeros((k, d, d))
    for x, w in zip(X, weight):
        o, m = np.flatnonzero(~np.isnan(x)), np.flatnonzero(np.isnan(x))
        r = w * law.responsibilities(x[None])[0]
        for j in range(k):
            mean, C = law.means[j], law.covariances[j]
            row, extra = x.copy(), np.zeros((d, d))
            B = C[np.ix_(m, o)] @ np.linalg.inv(C[np.ix_(o, o)])
            row[m] = mean[m] + B @ (x[o] - mean[o])
            extra[np.ix_(m, m)] = C[np.ix_(m, m)] - B @ C[np.ix_(o, m)]
            counts[j] += r[j]
            first[j] += r[j] * row
            second[j] += r[j] * (np.outer(row, row) + extra)
    means = first / counts[:, None]
    covariances = second / counts[:, None, None] - means[:, :, None] * means[:, None]
    return MixtureLaw(counts / counts.sum(), means, covariances)


@pytest.mark.parametrize("kind", KINDS)
def test_missing_values_equal_brute_force(kind):
    rng = np.random.default_rng(5)
    X = rows(5, n=40, d=3)
    X[rng.uniform(size=X.shape) < 0.3] = np.nan
    X[0], X[1:4] = [np.nan] * 3, np.nan_to_num(X[1:4])
    weight = rng.integers(1, 4, size=40).astype(float)
    start = {
        "weights_init": [0.2, 0.3, 0.5],
        "means_init": X[1:4],
        "precisions_init": precisions(kind, d=3),
    }
    model = GaussianMixture(3, covariance_type=kind, max_iter=1, tol=0, reg_covar=0, **start)
    model.fit(X, sample_weight=weight)
    law = MixtureLaw([0.2, 0.3, 0.5], X[1:4], np.tile(np.eye(3) / 0.8, (3, 1, 1)))
    value = weight @ law.logdensity(X) / weight.sum()
    assert model.lower_bound_ == pytest.approx(value, rel=1e-10)
    step = brute_step(X, law, weight)
    np.testing.assert_allclose(model.weights_, step.weights, rtol=1e-9)
    np.testing.assert_allclose(model.means_, step.means, rtol=1e-9)
    variances = step.covariances.diagonal(axis1=1, axis2=2)
    right = {
        "full": step.covariances,
        "tied": np.einsum("k,kij->ij", step.weights, step.covariances),
        "diag": variances,
        "spherical": variances.mean(axis=1),
    }[kind]
    np.testing.assert_allclose(model.covariances_, right, rtol=1e-8, atol=1e-12)


def test_gaussian_with_missing_values_reaches_its_maximum_likelihood():
    # One component, one column: missing rows change nothing. Two columns: the known closed form
    # when only the second is missing (Anderson, 1957): regress it on the first.
    rng = np.random.default_rng(6)
    a = rng.normal(size=300)
    b = 1 + 2 * a + rng.normal(size=300)
    b[100:] = np.nan
    model = GaussianMixture(1, tol=1e-14, max_iter=2000, reg_covar=0).fit(np.column_stack([a, b]))
    slope, intercept = np.polyfit(a[:100], b[:100], 1)
    noise = np.mean((b[:100] - intercept - slope * a[:100]) ** 2)
    np.testing.assert_allclose(model.means_[0], [a.mean(), intercept + slope * a.mean()], rtol=1e-5)
    right = [[a.var(), slope * a.var()], [slope * a.var(), noise + slope**2 * a.var()]]
    np.testing.assert_allclose(model.covariances_[0], right, rtol=1e-5)
    filled = model.impute([[0.5, np.nan]])
    assert filled.mean[0, 1] == pytest.approx(intercept + slope * 0.5, rel=1e-4)
    assert filled.variance[0, 1] == pytest.approx(noise, rel=1e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_weight_k_is_k_copies(kind):
    rng = np.random.default_rng(7)
    X = rows(7, n=60)
    X[::7, 0] = np.nan
    weight = rng.integers(0, 4, size=60)
    X[:3] = np.nan_to_num(X[:3])
    options = {"tol": 1e-8, "max_iter": 30, "means_init": X[:3], "weights_init": np.full(3, 1 / 3)}
    options["precisions_init"] = precisions(kind)
    weighted = GaussianMixture(3, covariance_type=kind, **options).fit(X, sample_weight=weight)
    copied = GaussianMixture(3, covariance_type=kind, **options).fit(np.repeat(X, weight, axis=0))
    for name in ("weights_", "means_", "covariances_", "lower_bounds_"):
        np.testing.assert_allclose(getattr(weighted, name), getattr(copied, name), rtol=1e-8)
    assert weighted.score(X[:9], sample_weight=weight[:9]) == pytest.approx(
        copied.score(np.repeat(X[:9], weight[:9], axis=0))
    )


def test_far_from_the_origin_small_covariances_stay_accurate():
    rng = np.random.default_rng(8)
    X = 1e6 + 1e-2 * rng.normal(size=(500, 2)) @ [[1.0, 0.5], [0.0, 0.3]]
    model = GaussianMixture(1, reg_covar=0, tol=1e-12).fit(X)
    right = np.cov(X.T, bias=True)
    np.testing.assert_allclose(model.covariances_[0], right, rtol=1e-6)


def test_cheap_starts_find_what_one_start_misses():
    rng = np.random.default_rng(9)
    centres = np.array([[x, y] for x in range(4) for y in range(4)], dtype=float) * 6
    X = np.repeat(centres, 25, axis=0) + rng.normal(size=(400, 2))
    scores = [
        [
            GaussianMixture(16, covariance_type="spherical", n_starts=n, random_state=seed)
            .fit(X)
            .lower_bound_
            for seed in range(4)
        ]
        for n in (1, 10)
    ]
    assert np.mean(scores[1]) > np.mean(scores[0]) + 0.02
    model = GaussianMixture(16, covariance_type="spherical", n_init=6, random_state=0)
    assert model.fit(X).lower_bound_ >= scores[0][0]


def test_warm_start_goes_on():
    X = rows(10)
    whole = given(GaussianMixture, X, "full", max_iter=6, tol=0).fit(X)
    parts = given(GaussianMixture, X, "full", max_iter=3, tol=0, warm_start=True)
    parts.fit(X).fit(X)
    np.testing.assert_array_equal(parts.means_, whole.means_)
    # The change is compared with the last value of the earlier fit.
    stepwise = given(GaussianMixture, X, "full", max_iter=1, warm_start=True)
    for _ in range(200):
        if stepwise.fit(X).converged_:
            break
    reference = given(GaussianMixture, X, "full", max_iter=200).fit(X)
    np.testing.assert_array_equal(stepwise.means_, reference.means_)


def test_no_steps_give_the_start():
    X = rows(11)
    model = given(GaussianMixture, X, "full", max_iter=0).fit(X)
    np.testing.assert_array_equal(model.means_, X[:3])
    assert model.lower_bound_ == -np.inf
    assert model.n_iter_ == 0
    np.testing.assert_allclose(model.covariances_, np.tile(np.eye(2) / 0.8, (3, 1, 1)))


def test_starts_by_random_responsibilities_are_scikit_learns():
    X = rows(12)
    for cls in (GaussianMixture, Theirs):
        model = cls(3, init_params="random", random_state=3, max_iter=5, tol=0).fit(X)
        if cls is GaussianMixture:
            ours = model
    np.testing.assert_allclose(ours.means_, model.means_, rtol=1e-6)


@pytest.mark.parametrize("how", ["kmeans", "k-means++"])
def test_starts_find_separate_groups(how):
    rng = np.random.default_rng(13)
    centres = np.array([[0.0, 0.0], [20.0, 0.0], [0.0, 20.0]])
    X = np.repeat(centres, 30, axis=0) + rng.normal(size=(90, 2))
    labels = GaussianMixture(3, init_params=how, random_state=0).fit_predict(X)
    groups = labels.reshape(3, 30)
    assert (groups == groups[:, :1]).all()
    assert len(np.unique(groups[:, 0])) == 3


def test_the_law_of_a_fit_conditions_and_marginalises():
    X = rows(14, d=3)
    model = GaussianMixture(2, covariance_type="tied", random_state=0).fit(X)
    law = model.to_law()
    np.testing.assert_allclose(law.logdensity(X), model.score_samples(X))
    given_two = law.condition([0, 1], X[0, :2])
    row = X[:1].copy()
    row[0, 2] = np.nan
    moments = model.impute(row)
    mean = given_two.weights @ given_two.means[:, 0]
    assert moments.mean[0, 2] == pytest.approx(mean)


def test_too_few_rows_are_refused():
    with pytest.raises(ValueError, match=r"Expected n_samples >= n_components.*decrease"):
        GaussianMixture(3).fit([[0.0], [1.0]])
    with pytest.raises(ValueError, match="n_samples = 1"):
        GaussianMixture(2).fit([[0.0], [1.0]], sample_weight=[1.0, 0.0])


def test_degenerate_rows_have_an_answer_or_an_error():
    one = GaussianMixture(1).fit([[2.0, 3.0]])
    np.testing.assert_allclose(one.means_, [[2.0, 3.0]])
    np.testing.assert_allclose(one.covariances_[0], 1e-6 * np.eye(2))
    with pytest.raises(ValueError, match=r"component 0 is not.*raise reg_covar"):
        GaussianMixture(1, reg_covar=0).fit([[2.0, 3.0]])
    for kind in KINDS:
        same = GaussianMixture(2, covariance_type=kind, random_state=0).fit([[1.0, 2.0]] * 6)
        assert np.isfinite(same.score([[1.0, 2.0]]))
        wide = GaussianMixture(1, covariance_type=kind).fit(
            np.random.default_rng(0).normal(size=(3, 8))
        )
        assert np.isfinite(wide.score(np.zeros((1, 8))))
        constant = np.column_stack([np.ones(20), np.arange(20.0)])
        fit = GaussianMixture(1, covariance_type=kind, covariance_floor=0.5, reg_covar=0).fit(
            constant
        )
        assert np.linalg.eigvalsh(fit.to_law().covariances).min() >= 0.5 * (1 - 1e-9)


def test_weights_of_zero_and_columns_without_values():
    X = rows(15, n=30)
    weight = np.ones(30)
    weight[20:] = 0
    model = given(GaussianMixture, X, "full").fit(X, sample_weight=weight)
    alone = given(GaussianMixture, X, "full").fit(X[:20])
    np.testing.assert_allclose(model.means_, alone.means_)
    empty = X.copy()
    empty[:, 1] = np.nan
    with pytest.raises(ValueError, match="Column 1 has none"):
        GaussianMixture(1).fit(empty)
    with pytest.raises(ValueError, match="infinity"):
        GaussianMixture(1).fit([[np.inf], [1.0]])
    with pytest.raises(ValueError, match="squares have a finite sum"):
        GaussianMixture(1).fit([[1e200], [-1e200]])
    with pytest.raises(ValueError, match="Scale the columns"):
        GaussianMixture(1, means_init=[[0.0]], precisions_init=[[[1e308]]]).fit([[1e99], [-1e99]])


def test_an_empty_component_stays_where_it_is():
    X = np.random.default_rng(16).normal(size=(30, 1))
    start = {
        "means_init": [[0.0], [1e6]],
        "weights_init": [0.5, 0.5],
        "precisions_init": [[[1.0]], [[1.0]]],
    }
    model = GaussianMixture(2, **start).fit(X)
    assert model.weights_[1] == 0
    assert model.means_[1] == 1e6
    np.testing.assert_allclose(model.means_[0], X.mean(axis=0))
    assert np.isfinite(model.score(X))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"weights_init": [0.5, 0.6]}, "normalized"),
        ({"weights_init": [1.5, -0.5]}, "range"),
        ({"weights_init": [1.0]}, "shape"),
        ({"means_init": [[0.0, 0.0]]}, "shape"),
        ({"means_init": [[0.0, np.nan]] * 2}, "finite"),
        ({"precisions_init": -np.ones((2, 2)), "covariance_type": "diag"}, "positive"),
        ({"precisions_init": [[[1.0, 2.0], [2.0, 1.0]]] * 2}, "positive-definite"),
        ({"precisions_init": np.eye(2)}, "shape"),
    ],
)
def test_bad_starts_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        GaussianMixture(2, **options).fit(rows(17))


def test_an_unfinished_fit_warns():
    X = rows(18)
    with pytest.warns(ConvergenceWarning, match="did not converge"):
        GaussianMixture(3, max_iter=1, random_state=0).fit(X)
    model = GaussianMixture(2, random_state=0).fit(X)
    with pytest.raises(ValueError, match="Invalid value for 'n_samples'"):
        model.sample(0)


@pytest.mark.parametrize("kind", KINDS)
def test_saved_models_are_the_same_and_forged_ones_are_refused(kind, tmp_path):
    import corollary

    X = rows(19)
    model = GaussianMixture(3, covariance_type=kind, random_state=0).fit(X)
    corollary.save(model, tmp_path / "model")
    loaded = corollary.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.score_samples(X), model.score_samples(X))
    model.covariance_type = "tied" if kind != "tied" else "full"
    with pytest.raises(TypeError, match="covariances have not the shape"):
        corollary.save(model, tmp_path / "forged")


@pytest.mark.parametrize("k", [1, 2])
def test_rows_beyond_all_squares_have_no_density(k):
    X = np.random.default_rng(0).normal(size=(40, 2))
    model = GaussianMixture(k, random_state=0).fit(X)
    density = model.score_samples([[1e200, 0.0], [0.0, 0.0], [np.nan, 1e300]])
    assert np.isneginf(density).tolist() == [True, False, True]
    assert density[1] == model.score_samples([[0.0, 0.0]])[0]
