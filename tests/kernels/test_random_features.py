import numpy as np
import pytest
from scipy import stats

import corollary
from corollary.core.simulate import assert_bound_holds
from corollary.kernels import (
    RBF,
    ArcCosine,
    ArcCosineFeatures,
    Constant,
    Laplacian,
    Linear,
    Matern,
    Periodic,
    RandomFourierFeatures,
    RationalQuadratic,
    arc_cosine_features,
    feature_count,
    fourier_features,
)

STATIONARY = {
    "rbf": RBF([0.7, 2.0]),
    "laplacian": Laplacian([0.7, 2.0]),
    "matern 1/2": Matern(1.5, nu=0.5),
    "matern 3/2": Matern([0.7, 2.0], nu=1.5),
    "matern 5/2": Matern(0.8, nu=2.5),
    "rational quadratic": RationalQuadratic(1.2, alpha=0.6),
    "periodic": Periodic([0.9, 1.5], period=[2.0, 3.0]),
    "sum": 2.0 * RBF(0.5) + 0.5 * Laplacian(2.0) + 1.0,
    "product": 3.0 * RBF(1.5) * Periodic(1.0, period=1.5),
    "power": (2.0 * RBF(2.0)) ** 2,
    "normalised": (5.0 * RBF(2.0)).normalised(),
}


@pytest.mark.parametrize("name", STATIONARY)
def test_the_characteristic_function_is_the_kernel(name, seed):
    """Bochner: Z E cos(w' D) = k(D), within six standard errors at every difference."""
    kernel, n = STATIONARY[name], 40_000
    w = kernel.spectral_sample(n, 2, random_state=seed)
    assert w.shape == (n, 2)
    D = np.random.default_rng(seed).normal(size=(10, 2))
    Z = kernel.spectral_mass()
    np.testing.assert_allclose(kernel.diag(D), Z)
    cosines = np.cos(D @ w.T)
    error = cosines.std(axis=1) / np.sqrt(n)
    wanted = kernel.gram(D, np.zeros((1, 2)))[:, 0] / Z
    assert (np.abs(cosines.mean(axis=1) - wanted) <= 6 * error).all()
    # The measure is symmetric.
    sines = np.sin(D @ w.T)
    assert (np.abs(sines.mean(axis=1)) <= 6 * sines.std(axis=1) / np.sqrt(n) + 1e-12).all()


def test_spectral_marginals(seed):
    w = Laplacian(2.0).spectral_sample(5000, 3, random_state=seed)
    for j in range(3):
        assert stats.kstest(w[:, j], stats.cauchy(scale=0.5).cdf).pvalue > 1e-6
    w = RBF(2.0).spectral_sample(5000, 3, random_state=seed)
    for j in range(3):
        assert stats.kstest(w[:, j], stats.norm(scale=0.5).cdf).pvalue > 1e-6
    assert abs(np.corrcoef(w.T) - np.eye(3)).max() < 0.1


def test_kernels_without_a_spectral_measure():
    with pytest.raises(TypeError, match="Linear has no spectral measure"):
        Linear().spectral_sample(3, 2)
    with pytest.raises(TypeError, match="not stationary"):
        Linear().spectral_mass()
    with pytest.raises(ValueError, match="n_features >= 1"):
        RBF().spectral_sample(3, 0)
    assert (Constant(2.0).spectral_sample(4, 2) == 0).all()


@pytest.fixture
def pair(seed):
    return np.random.default_rng(seed).normal(size=(2, 3)) * 0.5


@pytest.mark.parametrize("form", ["complex", "cos_sin", "phase"])
def test_fourier_features_are_unbiased_with_the_stated_variance(form, pair, seed):
    """One frequency has variance Z^2/2 + Z k(2D)/2 - k(D)^2, plus Z^2/2 with a random phase."""
    kernel = 1.7 * RBF(0.8)
    Z, K = 1.7, 60_000
    rng = np.random.default_rng(seed)
    w = kernel.spectral_sample(K, 3, random_state=rng)
    phases = rng.uniform(0, 2 * np.pi, size=K) if form == "phase" else None
    x, y = fourier_features(pair, w, mass=Z, form=form, phases=phases)
    terms = K * (x * np.conj(y)).real
    if form == "cos_sin":
        terms = terms[:K] + terms[K:]
        assert x @ x == pytest.approx(Z, rel=1e-12)
    if form == "complex":
        assert np.vdot(x, x).real == pytest.approx(Z, rel=1e-12)
    k = kernel(*pair)
    k2 = kernel(2 * pair[0], 2 * pair[1])
    variance = Z**2 / 2 + Z * k2 / 2 - k**2 + (Z**2 / 2 if form == "phase" else 0)
    if form == "complex":
        real = fourier_features(pair, w, mass=Z)
        assert terms.sum() == pytest.approx(K * real[0] @ real[1])
    assert abs(terms.mean() - k) < 6 * np.sqrt(variance / K)
    spread = np.sqrt(np.var((terms - k) ** 2) / K)
    assert abs(terms.var() - variance) < 6 * spread
    # For the RBF kernel with Z = 1 the first form's variance is (1 - k^2)^2 / 2.
    r = RBF(0.8)(*pair)
    assert 0.5 + RBF(0.8)(*(2 * pair)) / 2 - r**2 == pytest.approx((1 - r**2) ** 2 / 2)


def test_transformer(seed, tmp_path):
    X = np.random.default_rng(seed).normal(size=(15, 3))
    for form, columns in (("cos_sin", 600), ("phase", 300)):
        model = RandomFourierFeatures(
            2.0 * Matern(2.0), n_components=300, form=form, random_state=seed
        ).fit(X)
        Z = model.transform(X)
        assert Z.shape == (15, columns)
        assert len(model.get_feature_names_out()) == columns
        np.testing.assert_array_equal(Z, model.transform(X))
        again = RandomFourierFeatures(**model.get_params()).fit(X)
        np.testing.assert_array_equal(again.transform(X), Z)
        corollary.save(model, tmp_path / "model")
        np.testing.assert_array_equal(corollary.load(tmp_path / "model").transform(X), Z)
        assert np.abs(Z @ Z.T - (2.0 * Matern(2.0)).gram(X)).max() < 2.0
    model.set_params(form="cos_sin").fit(X)
    assert not hasattr(model, "phases_")
    with pytest.raises(TypeError, match=r"no spectral measure|not stationary"):
        RandomFourierFeatures(Linear()).fit(X)
    with pytest.raises(ValueError, match="'form' parameter"):
        RandomFourierFeatures(form="sine").fit(X)
    with pytest.raises(ValueError, match="needs one phase"):
        fourier_features(X, np.zeros((2, 3)), form="phase")


def test_many_rows_in_threads(seed, monkeypatch):

    X = np.random.default_rng(seed).normal(size=(3000, 3))
    w = RBF().spectral_sample(200, 3, random_state=seed)
    found = fourier_features(X, w)
    monkeypatch.setattr("corollary.core.parallel.threads.available_cores", lambda: 1)
    np.testing.assert_array_equal(fourier_features(X, w), found)
    np.testing.assert_allclose(found[7], np.r_[np.cos(w @ X[7]), np.sin(w @ X[7])] / np.sqrt(200))


def test_arc_cosine_features_are_binomial(pair, seed):
    """K times the inner product counts agreements: binomial with the kernel as probability."""
    k, K, repetitions = ArcCosine()(*pair), 20, 3000
    rng = np.random.default_rng(seed)
    counts = np.empty(repetitions)
    for r in range(repetitions):
        x, y = arc_cosine_features(pair, rng.normal(size=(K, 3)))
        counts[r] = K * (x @ y)
    np.testing.assert_allclose(counts, counts.round(), atol=1e-9)
    assert abs(counts.mean() / K - k) < 6 * np.sqrt(k * (1 - k) / K / repetitions)
    assert counts.var() == pytest.approx(K * k * (1 - k), rel=0.25)
    expected = stats.binom(K, k).pmf(np.arange(K + 1)) * repetitions
    observed = np.bincount(counts.round().astype(int), minlength=K + 1)
    big = expected > 10
    chi2 = ((observed - expected)[big] ** 2 / expected[big]).sum()
    assert stats.chi2(big.sum()).sf(chi2) > 1e-6


def test_arc_cosine_transformer(seed, tmp_path):
    X = np.random.default_rng(seed).normal(size=(10, 3))
    model = ArcCosineFeatures(n_components=4000, random_state=seed).fit(X)
    Z = model.transform(X)
    np.testing.assert_allclose(np.linalg.norm(model.directions_, axis=1), 1.0)
    np.testing.assert_allclose((Z**2).sum(axis=1), 1.0)
    assert np.abs(Z @ Z.T - ArcCosine().gram(X)).max() < 0.06
    corollary.save(model, tmp_path / "model")
    np.testing.assert_array_equal(corollary.load(tmp_path / "model").transform(X), Z)
    assert len(model.get_feature_names_out()) == 8000


@pytest.mark.parametrize("form", ["cos_sin", "phase", "arc_cosine"])
@pytest.mark.parametrize("epsilon", [0.3, 0.9])
def test_feature_count_holds(form, epsilon, pair, seed):
    """A pair misses its kernel by epsilon in at most a share delta of the draws."""
    delta, repetitions = 0.2, 1500
    mass = 1.0 if form == "arc_cosine" else 1.5
    K = feature_count(epsilon, delta, form=form, mass=mass).n_components
    rng = np.random.default_rng(seed)
    if form == "arc_cosine":
        U = rng.normal(size=(repetitions * K, 3))
        same = (U @ pair[0] >= 0) == (U @ pair[1] >= 0)
        estimate, k = same.reshape(repetitions, K).mean(axis=1), ArcCosine()(*pair)
    else:
        kernel = mass * Laplacian(0.3)
        w = kernel.spectral_sample(repetitions * K, 3, random_state=rng)
        if form == "cos_sin":
            terms = mass * np.cos(w @ (pair[0] - pair[1]))
        else:
            b = rng.uniform(0, 2 * np.pi, size=len(w))
            terms = 2 * mass * np.cos(w @ pair[0] + b) * np.cos(w @ pair[1] + b)
        estimate, k = terms.reshape(repetitions, K).mean(axis=1), kernel(*pair)
    assert_bound_holds(int((np.abs(estimate - k) >= epsilon).sum()), repetitions, delta)


def test_feature_count_formulas():
    log = np.log(2 / 0.05)
    assert feature_count(0.1, 0.05, form="arc_cosine")[0] == np.ceil(log / 0.02)
    assert feature_count(0.1, 0.05, mass=3.0)[0] == np.ceil(2 * 9 * log / 0.01)
    assert feature_count(0.1, 0.05, form="phase", mass=3.0)[0] == np.ceil(8 * 9 * log / 0.01)
    many = feature_count(0.1, 0.05, n_pairs=100)
    assert many.n_components == np.ceil(2 * np.log(200 / 0.05) / 0.01)
    assert many.failure <= 0.05
    with pytest.raises(ValueError, match="'form' parameter of feature_count"):
        feature_count(0.1, 0.05, form="positive")
    with pytest.raises(ValueError, match=r"'delta' parameter of feature_count.*\(0.0, 1.0\)"):
        feature_count(0.1, 1.2)
    with pytest.raises(ValueError, match="'epsilon' parameter"):
        feature_count(0.0, 0.1)
    with pytest.raises(ValueError, match="'mass' parameter"):
        feature_count(0.1, 0.1, mass=0.0)
