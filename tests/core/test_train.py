"""The training loop against loops written out by hand, and its promises on repeatability."""

import os
import signal
import subprocess
import sys
from contextlib import contextmanager

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import corollary.core.training.loop as loop
from corollary.core.progress import listen
from corollary.core.training import train, weighted_mean

TRACES = []


def squared(params, batch, key):
    TRACES.append(batch["x"].shape)
    return weighted_mean((batch["x"] @ params - batch["y"]) ** 2, batch["weight"])


def noisy(params, batch, key):
    noise = jax.random.normal(key, params.shape)
    return squared(params + 0.01 * noise, batch, key)


def problem(seed, n=100, d=3):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, d)).astype(np.float32)
    y = (x @ np.arange(1, d + 1) + 0.5 * rng.normal(size=n)).astype(np.float32)
    return {"x": x, "y": y}


def fit(data, loss=squared, rate=0.05, **options):
    options = {"optimizer": optax.sgd, "settings": {"learning_rate": rate}, **options}
    return train(loss, np.zeros(data["x"].shape[1], np.float32), data, **options)


def reference(data, weight, rate, epochs, batch_size, seed):
    """Mini-batch gradient descent written out in double precision."""
    x, y = data["x"].astype(float), data["y"].astype(float)
    n, params, losses = len(x), np.zeros(x.shape[1]), []
    for epoch in range(epochs):
        order = np.arange(n)
        if batch_size < n:
            order = np.random.default_rng([seed, n, epoch]).permutation(n)
        total = 0.0
        for start in range(0, n, batch_size):
            rows = order[start : start + batch_size]
            w = weight[rows]
            residual = x[rows] @ params - y[rows]
            total += w @ residual**2
            params = params - rate * 2 * (w * residual) @ x[rows] / w.sum()
        losses.append(total / weight.sum())
    return params, np.array(losses)


@pytest.mark.parametrize(("n", "batch_size"), [(100, 32), (100, 1000), (7, 2), (1, 2)])
def test_equals_gradient_descent_by_hand(seed, n, batch_size):
    data = problem(seed, n)
    weight = np.random.default_rng(seed).uniform(0.5, 2, n)
    result = fit(data, weight=weight, epochs=20, batch_size=batch_size, tol=-np.inf, seed=seed)
    params, losses = reference(data, weight, 0.05, 20, batch_size, seed)
    np.testing.assert_allclose(result.params, params, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(result.losses, losses, rtol=1e-4, atol=1e-6)
    assert result.status == "out of epochs"
    assert result.n_epochs == result.best_epoch == 20
    assert result.held_out_losses is None


def test_other_optimisers_and_nested_parameters(seed):
    def affine(params, batch, key):
        residual = batch["x"] @ params["slope"] + params["level"][0] - batch["y"]
        return weighted_mean(residual**2, batch["weight"])

    data = problem(seed)
    data["y"] = data["y"] + 4
    start = {"slope": np.zeros(3, np.float32), "level": [np.float32(0)]}
    result = train(
        affine, start, data, optimizer=optax.adam,
        settings={"learning_rate": 0.1}, epochs=100, batch_size=1000, tol=-np.inf,
    )  # fmt: skip
    design = np.column_stack([data["x"], np.ones(100)])
    exact = np.linalg.lstsq(design, data["y"], rcond=None)[0]
    np.testing.assert_allclose(result.params["slope"], exact[:3], atol=0.02)
    np.testing.assert_allclose(result.params["level"][0], exact[3], atol=0.02)


def test_weight_equals_repetition_in_a_full_batch(seed):
    data = problem(seed, 40)
    weight = np.random.default_rng(seed).integers(1, 4, 40)
    repeated = {name: np.repeat(a, weight, axis=0) for name, a in data.items()}
    options = {"epochs": 50, "batch_size": 1000, "tol": -np.inf}
    by_weight = fit(data, weight=weight, **options)
    by_copies = fit(repeated, **options)
    np.testing.assert_allclose(by_weight.params, by_copies.params, rtol=1e-5)
    np.testing.assert_allclose(by_weight.losses, by_copies.losses, rtol=1e-5)


# -- compiled once ---------------------------------------------------------------------------


def test_a_new_number_of_rows_does_not_recompile(seed):
    def run(n, **options):
        options = {"epochs": 3, "batch_size": 32, "held_out": problem(seed, 20), **options}
        fit(problem(seed, n, d=5), **{**options, "held_out": problem(seed, n // 9 + 1, d=5)})

    run(500)
    del TRACES[:]
    for n in (40, 455, 456, 500, 1024):
        run(n)
    run(500, rate=0.01)
    run(500, patience=3, tol=0.1, seed=9)
    run(500, epochs=40)
    assert TRACES == []
    run(4000)  # other buckets: the counter does count
    assert len(TRACES) > 0
    del TRACES[:]
    run(6000)  # a table whose folds have 4,000 rows
    assert TRACES == []


def test_wide_tables_are_padded_less():
    assert loop._fewest_rows({"x": np.empty((3, 30)), "y": np.empty(3)}) == 8192
    assert loop._fewest_rows({"x": np.empty((3, 499)), "y": np.empty(3)}) == 2097
    assert loop._fewest_rows({"x": np.empty((3, 10_000)), "y": np.empty((3, 2))}) == 1024


def test_result_does_not_depend_on_how_calls_are_cut(seed, monkeypatch):
    data = problem(seed)
    whole = fit(data, loss=noisy, epochs=7, batch_size=16, seed=seed)
    # Every call takes longer than -1 s, so that calls shrink to one step each.
    monkeypatch.setattr(loop, "SHORT_CALL", -2)
    monkeypatch.setattr(loop, "LONG_CALL", -1)
    cut = fit(data, loss=noisy, epochs=7, batch_size=16, seed=seed)
    np.testing.assert_array_equal(whole.params, cut.params)
    np.testing.assert_array_equal(whole.losses, cut.losses)


def test_seed_determines_everything(seed):
    data = problem(seed)
    first = fit(data, loss=noisy, epochs=3, batch_size=16, seed=1)
    again = fit(data, loss=noisy, epochs=3, batch_size=16, seed=1)
    np.testing.assert_array_equal(first.params, again.params)
    for other in (2, 1 + 2**32):
        assert np.any(fit(data, loss=noisy, epochs=3, batch_size=16, seed=other).params
                      != first.params)  # fmt: skip


def test_keys_differ_from_step_to_step(seed):
    def walk(params, batch, key):
        # The gradient is a standard normal draw: one draw repeated would move in a line.
        return jnp.sum(params * jax.random.normal(key, params.shape))

    n = 400
    result = train(walk, np.zeros(50, np.float32), {"x": np.zeros((n, 1))}, optimizer=optax.sgd,
                   settings={"learning_rate": 1.0}, epochs=1, batch_size=1, seed=seed)  # fmt: skip
    # A sum of n independent draws has variance n; n times one draw has variance n squared.
    assert 0.4 < np.mean(result.params**2) / n < 2.2


# -- stopping --------------------------------------------------------------------------------


def rule(curve, patience, tol):
    """Epochs until the stopping rule ends training, from the curve alone."""
    best, stalled = np.inf, 0
    for epoch, value in enumerate(curve, start=1):
        stalled = 0 if value < best - tol else stalled + 1
        best = min(best, value)
        if stalled >= patience:
            return epoch
    return len(curve)


@pytest.mark.parametrize(("patience", "tol"), [(1, 0.0), (3, 1e-3), (5, 0.1), (20, -np.inf)])
def test_stopping_rule_and_best_parameters(seed, patience, tol):
    data, held_out = problem(seed, 60), problem(seed + 1, 30)
    options = {"held_out": held_out, "batch_size": 8, "rate": 0.1, "seed": seed}
    full = fit(data, epochs=60, patience=1000, tol=-np.inf, **options)
    stopped = fit(data, epochs=60, patience=patience, tol=tol, **options)
    n_epochs = rule(full.held_out_losses, patience, tol)
    assert stopped.n_epochs == n_epochs
    assert stopped.status == ("converged" if n_epochs < 60 else "out of epochs")
    np.testing.assert_array_equal(stopped.held_out_losses, full.held_out_losses[:n_epochs])
    assert stopped.best_epoch == np.argmin(stopped.held_out_losses) + 1
    # Without held-out rows the last parameters are returned: those of the best epoch here.
    options.pop("held_out")
    until = fit(data, epochs=stopped.best_epoch, patience=1000, tol=-np.inf, **options)
    np.testing.assert_array_equal(stopped.params, until.params)


@pytest.mark.parametrize("n_held", [1, 50, 5000])
def test_held_out_loss_is_the_weighted_mean(seed, n_held):
    held_out = problem(seed + 1, n_held)
    weight = np.random.default_rng(seed).uniform(0, 1, n_held)
    result = fit(problem(seed), held_out=held_out, held_out_weight=weight, epochs=1)
    residual = held_out["x"] @ result.params - held_out["y"]
    np.testing.assert_allclose(
        result.held_out_losses, [np.average(residual**2, weights=weight)], rtol=1e-4
    )


def test_another_loss_for_held_out_rows(seed):
    def absolute(params, batch, key):
        return weighted_mean(jnp.abs(batch["x"] @ params - batch["y"]), batch["weight"])

    held_out = problem(seed + 1, 50)
    result = fit(problem(seed), held_out=held_out, held_out_loss=absolute, epochs=1)
    residual = held_out["x"] @ result.params - held_out["y"]
    np.testing.assert_allclose(result.held_out_losses, [np.abs(residual).mean()], rtol=1e-4)


def test_divergence_is_noticed_and_the_best_epoch_kept(seed):
    result = fit(problem(seed), held_out=problem(seed + 1), rate=3.0, epochs=200)
    assert result.status == "diverged"
    assert result.n_epochs < 200
    assert np.isfinite(result.params).all()
    assert not np.isfinite(fit(problem(seed), rate=3.0, tol=-np.inf).losses[-1])


# -- interruption ----------------------------------------------------------------------------


CHILD = """
import os, signal, sys
from contextlib import contextmanager
from corollary.core.progress import listen
from tests.core.test_train import long_fit

@contextmanager
def killer(description, total):
    calls = []
    def step(advance=1, **numbers):
        calls.append(advance)
        if len(calls) == 4:
            os.kill(os.getpid(), signal.SIGKILL)
    yield step

with listen(killer):
    long_fit(int(sys.argv[1]), sys.argv[2])
"""


def long_fit(seed, checkpoint=None, **options):
    options = {"epochs": 40, "patience": 1000, "batch_size": 16, "seed": seed, **options}
    return fit(problem(seed, 300), loss=noisy, held_out=problem(seed + 1, 30),
               optimizer=optax.adam, checkpoint=checkpoint, **options)  # fmt: skip


def test_killed_run_resumes_bit_for_bit(seed, tmp_path):
    path = tmp_path / "state.npz"
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    child = subprocess.run(
        [sys.executable, "-c", CHILD, str(seed), str(path)],
        cwd=root,
        capture_output=True,
        check=False,
    )
    assert child.returncode == -signal.SIGKILL, child.stderr.decode()
    with np.load(path, allow_pickle=False) as file:
        n_steps = int(file["n_steps"])
    assert 0 < n_steps < 40 * 19
    done = []
    with listen(recorder(done)):
        resumed = long_fit(seed, path)
    assert done[0] == pytest.approx(n_steps / 19)  # it did not start afresh
    assert sum(done) == pytest.approx(40)
    whole = long_fit(seed)
    np.testing.assert_array_equal(resumed.params, whole.params)
    np.testing.assert_array_equal(resumed.losses, whole.losses)
    np.testing.assert_array_equal(resumed.held_out_losses, whole.held_out_losses)


def recorder(done):
    @contextmanager
    def listener(description, total):
        yield lambda advance=1, **numbers: done.append(advance)

    return listener


def test_interrupt_passes_through_and_work_is_kept(seed, tmp_path):
    path = tmp_path / "state.npz"

    @contextmanager
    def impatient(description, total):
        calls = []

        def step(advance=1, **numbers):
            calls.append(advance)
            if len(calls) == 3:
                raise KeyboardInterrupt

        yield step

    with listen(impatient), pytest.raises(KeyboardInterrupt):
        long_fit(seed, path)
    assert path.exists()
    np.testing.assert_array_equal(long_fit(seed, path).params, long_fit(seed).params)


def test_finished_run_is_not_repeated_and_its_budget_can_be_raised(seed, tmp_path):
    path = tmp_path / "state.npz"
    short = long_fit(seed, path, epochs=5)
    done = []
    with listen(recorder(done)):
        again = long_fit(seed, path, epochs=5)
    assert done == [5]
    np.testing.assert_array_equal(short.params, again.params)
    longer = long_fit(seed, path, epochs=9)
    np.testing.assert_array_equal(longer.losses, long_fit(seed, epochs=9).losses)


def test_checkpoint_of_other_work_is_refused(seed, tmp_path):
    path = tmp_path / "state.npz"
    fit(problem(seed), epochs=2, seed=1, checkpoint=path)
    with pytest.raises(ValueError, match=r"its 'seed' is 1, this run's is 2"):
        fit(problem(seed), epochs=2, seed=2, checkpoint=path)
    with pytest.raises(ValueError, match="'settings'"):
        fit(problem(seed), epochs=2, seed=1, rate=0.2, checkpoint=path)
    with pytest.raises(ValueError, match="'data and start'"):
        fit(problem(seed + 1), epochs=2, seed=1, checkpoint=path)
    with pytest.raises(
        ValueError, match=r"'held_out_loss' is '.*squared', this run's is '.*noisy'"
    ):
        fit(problem(seed), loss=noisy, epochs=2, seed=1, checkpoint=path)
    with pytest.raises(FileNotFoundError, match="Create it first"):
        fit(problem(seed), checkpoint=tmp_path / "nowhere" / "state.npz")


# -- manners ---------------------------------------------------------------------------------


def test_double_precision_is_local(seed):
    data = {name: a.astype(np.float64) for name, a in problem(seed).items()}
    with jax.enable_x64(True):
        result = train(squared, np.zeros(3), data, optimizer=optax.sgd,
                       settings={"learning_rate": 0.1}, epochs=300, batch_size=1000,
                       tol=-np.inf)  # fmt: skip
    exact = np.linalg.lstsq(data["x"], data["y"], rcond=None)[0]
    assert result.params.dtype == np.float64
    np.testing.assert_allclose(result.params, exact, rtol=1e-12)
    assert not jax.config.jax_enable_x64
    assert fit(problem(seed), epochs=1).params.dtype == np.float32


def test_progress_counts_epochs(seed):
    done = []
    with listen(recorder(done)):
        fit(problem(seed), epochs=30, tol=-np.inf)
    assert sum(done) == pytest.approx(30)


def test_errors(seed):
    data = problem(seed)
    with pytest.raises(ValueError, match=r"'data' parameter of train .* same number of rows"):
        fit({"x": data["x"], "y": data["y"][:5]})
    with pytest.raises(ValueError, match="same number of rows, at least one"):
        fit({"x": np.zeros((0, 2)), "y": np.zeros(0)})
    with pytest.raises(ValueError, match="must not have an array named 'weight'"):
        fit({**data, "weight": np.ones(100)})
    for weight in (np.zeros(100), -np.ones(100), np.ones(3), np.full(100, np.nan)):
        with pytest.raises(ValueError, match="'weight' parameter of train must be 100 non-neg"):
            fit(data, weight=weight)
    for name in ("epochs", "batch_size", "patience"):
        with pytest.raises(ValueError, match=f"'{name}' parameter of train must be an int"):
            fit(data, **{name: 0})
