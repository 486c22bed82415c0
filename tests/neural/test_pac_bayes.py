"""The network that minimises its certificate."""

import copy
import json
import math

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import corollary
from corollary import certify
from corollary.core.files import pack, unpack
from corollary.core.simulate import assert_bound_holds
from corollary.neural import PACBayesClassifier, noisy_outputs, unflatten
from corollary.neural._pac_bayes_loss import PACBayesLoss
from corollary.risk import kl_gaussian
from corollary.theory import clopper_pearson_lower, kl_upper_inverse

# One shape and few steps, so that all fits share one compiled loop.
SMALL = {
    "hidden_layer_sizes": (4,),
    "prior_epochs": 20,
    "max_iter": 30,
    "learning_rate_init": 0.03,
    "posterior_learning_rate": 0.01,
    "batch_size": 32,
    "n_draws": 50,
}
FLIP = 0.05


def draw(rng, n):
    X = rng.normal(size=(n, 2))
    return X, ((X[:, 0] > 0) ^ (rng.random(n) < FLIP)).astype(int)


def fresh_risk(model, rng, n=20_000):
    X, y = draw(rng, n)
    return float(np.mean(model.predict_random(X, random_state=0) != y))


@pytest.fixture(scope="module")
def fitted():
    X, y = draw(np.random.default_rng(0), 300)
    return PACBayesClassifier(**SMALL, random_state=0).fit(X, y), X, y


def test_certificate_holds_in_repeated_trials(seed):
    # Few rows of a noisy world, where a bound that is too small would show.
    violations, repetitions = 0, 8
    for rng in np.random.default_rng(seed).spawn(repetitions):
        X, y = draw(rng, 60)
        model = PACBayesClassifier(**SMALL, random_state=int(rng.integers(2**31))).fit(X, y)
        violations += fresh_risk(model, rng) > model.certificate_.bound
    assert_bound_holds(violations, repetitions, 0.05)


def test_certificate_by_hand(fitted):
    model, X, y = fitted
    n = model.n_bound_rows_
    assert n == 90
    drawn = kl_upper_inverse(model.risk_, math.log(1 / 0.005) / (n * 50))
    price = (model.divergence_ + math.log(2 * math.sqrt(n) / 0.045)) / n
    certificate = model.certificate_
    assert certificate.bound == pytest.approx(kl_upper_inverse(drawn, price))
    assert certificate.bound > model.risk_
    (same,) = certify(model, X, y, seen=True)
    assert same.bound == pytest.approx(certificate.bound)
    assert same.theorem == "theory.pac-bayes-training"
    assert "weights drawn afresh" in same.claim
    assert certificate.at(0.99).bound > certificate.bound


@pytest.mark.parametrize("bound", [0.0, 1.0])
def test_what_prior_and_posterior_minimise_by_hand(seed, bound):
    import jax
    from scipy.special import log_softmax

    rng = np.random.default_rng(seed)
    sizes, n = (2, 3, 2), 7
    d = 2 * 3 + 3 + 3 * 2 + 2
    params = {
        "mean": rng.normal(size=d).astype(np.float32),
        "log_ratio": rng.normal(scale=0.3, size=d).astype(np.float32),
        "prior_mean": np.zeros(d, np.float32),
        "prior_std": np.float32(0.5),
        "n": np.float32(90),
        "delta": np.float32(0.05),
    }
    X, y = rng.normal(size=(n, 2)).astype(np.float32), rng.integers(0, 2, n)
    batch = {"x": X, "y": y, "weight": rng.uniform(0.5, 2, n).astype(np.float32), "bound": bound}
    key = jax.random.key(seed)
    value, slopes = jax.jit(jax.value_and_grad(PACBayesLoss(sizes)))(params, batch, key)
    ratio = bound * params["log_ratio"].astype(float)  # the prior's noise is that of its width
    noise = np.asarray(jax.random.normal(key, (n, 5)))
    means, stds = unflatten(params["mean"], sizes), unflatten(0.5 * np.exp(ratio), sizes)
    outputs = noisy_outputs(means, stds, X, [noise[:, :3], noise[:, 3:]])
    log_loss = -log_softmax(outputs, axis=1)[np.arange(n), y]
    if bound:
        risk = np.average(1 - np.exp(-log_loss), weights=batch["weight"])
        divergence = np.sum(kl_gaussian(params["mean"] / 0.5, np.exp(2 * ratio), 0.0, 1.0))
        c = (divergence + math.log(2 * math.sqrt(90) / 0.05)) / 180
        assert value == pytest.approx((math.sqrt(risk + c) + math.sqrt(c)) ** 2, rel=1e-4)
        assert np.abs(slopes["log_ratio"]).min() > 0
    else:
        assert value == pytest.approx(np.average(log_loss, weights=batch["weight"]), rel=1e-4)
        assert not np.any(slopes["log_ratio"])
    assert not any(np.any(slopes[name]) for name in ("prior_mean", "prior_std", "n", "delta"))


def test_divergence_is_that_of_the_weights(fitted):
    model, _, _ = fitted
    # The spread alone is a lower bound that needs no knowledge of the prior's centre.
    stds = np.concatenate([np.ravel(a) for a in (*model.coef_stds_, *model.intercept_stds_)])
    spread = kl_gaussian(0.0, stds**2, np.zeros(len(stds)), 0.05**2)
    assert model.divergence_ >= spread - 1e-9
    assert model.divergence_ > 0


def test_training_lowers_the_bound_and_beats_plain_training(seed):
    rng = np.random.default_rng(seed)
    X, y = draw(rng, 400)
    # A weak and wide prior leaves the posterior something to learn.
    options = SMALL | {"prior_epochs": 1, "learning_rate_init": 1e-3, "prior_fraction": 0.05}
    options["prior_std"] = 0.5
    trained = PACBayesClassifier(**(options | {"max_iter": 120}), random_state=0).fit(X, y)
    untrained = PACBayesClassifier(
        **(options | {"max_iter": 1, "posterior_learning_rate": 1e-9}), random_state=0
    ).fit(X, y)
    assert trained.loss_curve_[-1] < trained.loss_curve_[0]
    assert trained.certificate_.bound < 0.8 * untrained.certificate_.bound
    # Plain training to the end, on the same rows, goes far away from the prior and into a narrow
    # valley, where noise of the prior's width costs much.
    means = [a.ravel() for a in (*trained.coefs_, *trained.intercepts_)]
    from corollary.neural import MLPClassifier

    plain = MLPClassifier((4,), solver="lbfgs", alpha=0.0, max_iter=5000, random_state=0).fit(X, y)
    far = np.concatenate([a.ravel() for a in (*plain.coefs_, *plain.intercepts_)])
    divergence = kl_gaussian(far, 0.5**2, 0.0, 0.5**2)
    n = trained.n_bound_rows_
    price = (divergence + math.log(2 * math.sqrt(n) / 0.045)) / n
    risks = []
    for _ in range(50):
        noisy = copy.deepcopy(plain)
        for array in (*noisy.coefs_, *noisy.intercepts_):
            array += rng.normal(scale=0.5, size=array.shape)
        risks.append(1 - noisy.score(X, y))
    assert trained.certificate_.bound < 0.9 * kl_upper_inverse(np.mean(risks), price)
    # It has one output where the other has two, and so fewer numbers to pay for.
    assert len(np.concatenate(means)) == len(far) + 4 + 1


def test_rows_of_the_certificate_do_not_touch_the_prior(fitted):
    model, X, y = fitted
    order = np.random.RandomState(0).permutation(300)
    rest = np.sort(order[210:])
    changed = X.copy()
    changed[rest] += 100.0
    again = PACBayesClassifier(**SMALL, random_state=0).fit(changed, y)
    np.testing.assert_array_equal(again.input_mean_, model.input_mean_)
    np.testing.assert_array_equal(again.input_scale_, model.input_scale_)


def test_fresh_weights_per_row_have_the_law_of_the_network(seed):
    # The oracle draws whole networks; the function draws what a layer makes of one row.
    rng = np.random.default_rng(seed)
    shapes = [(2, 3), (3,), (3, 2), (2,)]
    means = [rng.normal(size=shape) for shape in shapes]
    stds = [rng.uniform(0.2, 0.6, size=shape) for shape in shapes]
    x, n = np.array([0.7, -1.2]), 40_000
    W, b, V, c = (m + s * rng.normal(size=(n, *m.shape)) for m, s in zip(means, stds))
    hidden = np.maximum(np.einsum("i,nij->nj", x, W) + b, 0)
    whole = np.einsum("ni,nij->nj", hidden, V) + c
    noise = [rng.normal(size=(n, 3)), rng.normal(size=(n, 2))]
    local = noisy_outputs(means, stds, np.tile(x, (n, 1)), noise)
    error = 5 * np.sqrt(2 / n)
    assert np.all(np.abs(local.mean(axis=0) - whole.mean(axis=0)) < error * whole.std(axis=0))
    np.testing.assert_allclose(np.cov(local.T), np.cov(whole.T), rtol=0.1, atol=0.1)


def test_same_seed_same_bits_and_labels_of_any_type(fitted):
    model, X, y = fitted
    names = np.array(["no", "yes"])[y]
    again = PACBayesClassifier(**SMALL, random_state=0).fit(X, names)
    assert again.certificate_.bound == model.certificate_.bound
    assert list(again.classes_) == ["no", "yes"]
    np.testing.assert_array_equal(again.predict(X) == "yes", model.predict(X) == 1)
    first = again.predict_random(X, random_state=1)
    np.testing.assert_array_equal(first, again.predict_random(X, random_state=1))


def test_errors_say_what_to_do():
    X = np.random.default_rng(0).normal(size=(20, 2))
    with pytest.raises(ValueError, match=r"at least 2 classes. Got one class: 0"):
        PACBayesClassifier(**SMALL).fit(X, np.zeros(20))
    with pytest.raises(ValueError, match=r"must be positive integers. Got \(0,\)"):
        PACBayesClassifier(hidden_layer_sizes=(0,)).fit(X, np.arange(20) % 2)


@pytest.mark.verify
@pytest.mark.parametrize("split", range(5))
def test_digits_certificate_is_below_a_tenth_and_above_the_fresh_risk(split):
    X, y = load_digits(return_X_y=True)
    X, X_new, y, y_new = train_test_split(X, y, random_state=100 + split)
    model = PACBayesClassifier(random_state=split).fit(X, y)
    assert model.certificate_.bound < 0.10
    wrong = int(np.sum(model.predict_random(X_new, random_state=0) != y_new))
    assert clopper_pearson_lower(wrong, len(y_new), 1e-6) < model.certificate_.bound
    assert wrong / len(y_new) < model.certificate_.bound


def test_a_file_that_names_its_former_place_still_loads(fitted, tmp_path):
    model, X, _ = fitted
    path = tmp_path / "model.corollary"
    corollary.save(model, path)
    header, arrays = unpack(path.read_bytes())
    text = json.dumps(header)
    assert text.count("corollary.neural.PACBayesClassifier") == 1
    former = text.replace(
        "corollary.neural.PACBayesClassifier", "corollary.theory.PACBayesClassifier"
    )
    path.write_bytes(pack(json.loads(former), arrays))
    np.testing.assert_array_equal(corollary.load(path).predict(X), model.predict(X))
