"""The protocol: records, streams, and the law that a chunk equals its rows one by one."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from corollary.kernels import ANOVA
from corollary.online import (
    AllSubsetsWinnow,
    DisjunctionExperts,
    Halving,
    Hedge,
    KernelPerceptron,
    OnlineGradientDescent,
    OnlinePerceptron,
    PassiveAggressive,
    Record,
    WeightedAverage,
    WeightedMajority,
    Winnow,
    cumulative_regret,
    disjunction,
)


def bits(rng, m=60, n=6):
    X = rng.integers(0, 2, size=(m, n)).astype(float)
    return X, disjunction(1, 4)(X).astype(float)


def numbers(rng, m=60, n=5):
    X = rng.normal(size=(m, n))
    return X, np.where(X[:, 0] + 0.5 * rng.normal(size=m) > 0, 1.0, -1.0)


def real(rng):
    X, _ = numbers(rng)
    return X, X @ np.arange(5) + rng.normal(size=60)


def signed(rng):
    X, y = bits(rng)
    return X, 2 * y - 1


def losses(rng):
    return (rng.uniform(size=(60, 4)),)


def advice(rng):
    return rng.uniform(size=(60, 4)), rng.uniform(size=60)


U = np.array([1.0, 0.1, -0.2, 0.0, 0.3])
LEARNERS = {
    "halving": (Halving, bits, None),
    "weighted majority": (lambda: WeightedMajority(0.3), bits, None),
    "weighted average": (WeightedAverage, advice, None),
    "entropic": (lambda: WeightedAverage("entropic"), advice, None),
    "hedge": (Hedge, losses, None),
    "hedge, known horizon": (lambda: Hedge(horizon=60), losses, None),
    "perceptron": (OnlinePerceptron, numbers, U),
    "pa": (lambda: PassiveAggressive("pa"), numbers, U),
    "pa-i": (lambda: PassiveAggressive("pa-i", C=0.3), numbers, U),
    "pa-ii": (lambda: PassiveAggressive("pa-ii"), numbers, U),
    "linearised": (lambda: PassiveAggressive("linearised", C=0.1), numbers, U),
    "constant": (lambda: OnlineGradientDescent(eta=0.1), numbers, U),
    "sqrt": (lambda: OnlineGradientDescent("logistic", "sqrt", radius=0.7), numbers, U / 4),
    "adagrad": (lambda: OnlineGradientDescent("hinge", "adagrad", radius=0.5), numbers, U / 4),
    "square": (lambda: OnlineGradientDescent("square", "sqrt", 0.01, radius=9.0), real, U),
    "conservative": (lambda: OnlineGradientDescent(conservative=True, eta=0.3), numbers, U),
    "winnow": (Winnow, bits, disjunction(1, 4).literals(6)),
    "disjunction experts": (DisjunctionExperts, bits, None),
    "all subsets": (AllSubsetsWinnow, bits, disjunction(1, 4)),
    "kernel": (lambda: KernelPerceptron(ANOVA()), signed, 3.0),
    "kernel with budget": (lambda: KernelPerceptron(ANOVA(), budget=3), signed, 3.0),
}
SPARSE = ("perceptron", "pa-i", "pa-ii", "constant", "sqrt", "adagrad", "winnow")


def play(name, seed, cut, as_csr=False):
    make, data, u = LEARNERS[name]
    arrays = data(np.random.default_rng(seed))
    if as_csr:
        arrays = (sparse.csr_matrix(arrays[0]), *arrays[1:])
    learner = make()
    m = arrays[0].shape[0]
    pieces = [tuple(a[i : i + cut] for a in arrays) for i in range(0, m, cut)]
    return learner, learner.run(pieces, comparator=u)


@pytest.mark.parametrize("cut", [1, 7])
@pytest.mark.parametrize("name", LEARNERS)
def test_a_chunk_equals_its_rows_one_by_one(name, cut, seed):
    whole, pieces = play(name, seed, 60), play(name, seed, cut)
    for part in ("predictions", "losses", "mistakes", "comparator", "bound"):
        np.testing.assert_array_equal(getattr(whole[1], part), getattr(pieces[1], part), part)
    for attribute in ("weights_", "expert_losses_", "expert_mistakes_", "alpha_", "support_"):
        if hasattr(whole[0], attribute):
            first, second = getattr(whole[0], attribute), getattr(pieces[0], attribute)
            np.testing.assert_array_equal(first, second, attribute)


@pytest.mark.parametrize("name", SPARSE)
def test_sparse_rows_play_like_dense_ones(name, seed):
    dense, csr = play(name, seed, 60)[1], play(name, seed, 60, as_csr=True)[1]
    np.testing.assert_array_equal(dense.mistakes, csr.mistakes)
    np.testing.assert_allclose(dense.losses, csr.losses, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(dense.bound, csr.bound, rtol=1e-12)
    pieces = play(name, seed, 7, as_csr=True)[1]
    np.testing.assert_array_equal(csr.losses, pieces.losses)


@pytest.mark.parametrize("name", LEARNERS)
def test_every_record_stays_within_its_bound(name, seed):
    learner, record = play(name, seed, 60)
    assert record.holds
    assert record.measure in ("mistakes", "regret")
    import corollary.online

    assert callable(getattr(corollary.online, record.theorem))
    assert learner.theorem == record.theorem
    if name not in ("pa", "kernel with budget", "halving"):  # no theorem without a separator
        assert np.isfinite(record.bound).all()


def test_hand_played_rounds():
    record = WeightedMajority(0.5).run((np.array([[1, 0, 0], [1, 0, 0], [1, 1, 0]]), [1, 1, 1]))
    # Weights 1 1 1 -> zero wins; 1 1/2 1/2 -> a tie, answered with 1; then 1 and 1/4 against 1/4.
    np.testing.assert_array_equal(record.predictions, [0, 1, 1])
    np.testing.assert_array_equal(record.cumulative_mistakes, [1, 1, 1])
    np.testing.assert_array_equal(record.comparator, [0, 0, 0])
    np.testing.assert_array_equal(record.regret, [1, 1, 1])


def test_regret_is_to_the_best_so_far():
    losses = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 0.0]])
    np.testing.assert_array_equal(cumulative_regret([1, 1, 1], losses), [1, 1, 2])
    with pytest.raises(ValueError, match="as many rounds"):
        cumulative_regret([1, 1], [1.0])


def test_a_broken_bound_is_noticed():
    flags = np.array([True, True])
    record = Record(
        np.ones(2), np.ones(2), flags, np.zeros(2), np.array([1.0, 1.0]), "mistakes", ""
    )
    assert not record.holds
    assert record.tightness == 2.0


def test_streams_from_files(tmp_path, seed):
    X, y = numbers(np.random.default_rng(seed), m=3000)
    frame = pd.DataFrame(X, columns=list("abcde")).assign(label=y)
    frame.to_parquet(tmp_path / "rounds.parquet", row_group_size=700)
    frame.to_csv(tmp_path / "rounds.csv", index=False)
    expected = OnlinePerceptron().run((X, y), comparator=U)
    for path in (tmp_path / "rounds.parquet", tmp_path / "rounds.csv", frame):
        record = OnlinePerceptron().run(path, target="label", comparator=U)
        np.testing.assert_array_equal(record.mistakes, expected.mistakes)
        np.testing.assert_array_equal(record.bound, expected.bound)
    some = OnlinePerceptron().run(frame, target="label", columns=["a", "b"])
    assert not np.array_equal(some.mistakes, expected.mistakes)


def test_streams_from_dask(seed):
    da = pytest.importorskip("dask.array")
    X, y = numbers(np.random.default_rng(seed), m=3000)
    stream = (da.from_array(X, chunks=(700, 5)), da.from_array(y, chunks=900))
    record = OnlinePerceptron().run(stream)
    np.testing.assert_array_equal(record.mistakes, OnlinePerceptron().run((X, y)).mistakes)


@pytest.mark.parametrize(
    ("learner", "X", "y", "message"),
    [
        (Halving(), [1, 0], [1], "one row for each round"),
        (Halving(), [[0.5, 1]], [1], "zeros and ones"),
        (Halving(), [[0, 1]], [2], "truths that are 0 or 1"),
        (Halving(), [[0, 1]], [1, 1], "one truth for each of 1 rounds"),
        (Halving(), [[0, 1]], None, "requires y"),
        (WeightedAverage(), [[0.5, 1.5]], [1], r"\[0, 1\]"),
        (WeightedAverage(), [[0.5, np.nan]], [1], r"\[0, 1\]"),
        (WeightedAverage(), [[0.5, 0.5]], [2], r"truths in \[0, 1\]"),
        (Hedge(), [[0.5, -0.1]], None, r"\[0, 1\]"),
        (OnlinePerceptron(), [[1.0, np.nan]], [1], "NaN in row 0"),
        (OnlinePerceptron(), [[1.0, 2.0]], [0], "truths that are -1 or 1"),
        (OnlinePerceptron(), [1.0, 2.0], [1], "table of one row"),
        (Winnow(), [[2, 0]], [1], r"\[0, 1\]"),
        (Winnow(), sparse.csr_matrix([[2.0, 0]]), [1], "zeros and ones"),
        (AllSubsetsWinnow(), np.ones((1, 23)), [1], "at most 22 inputs"),
        (KernelPerceptron(), [[1.0]], [3], "truths that are -1 or 1"),
        (KernelPerceptron(), [1.0], [1], "table of one row"),
    ],
)
def test_refusals(learner, X, y, message):
    with pytest.raises(ValueError, match=message):
        learner.play(X, y)


def test_a_refused_chunk_leaves_no_trace():
    learner = OnlinePerceptron().partial_fit([[1.0, 2.0]], [1])
    before = learner.weights_.copy()
    with pytest.raises(ValueError, match="infinity in row 1"):
        learner.partial_fit([[-5.0, 1.0], [np.inf, 0.0]], [1, 1])
    np.testing.assert_array_equal(learner.weights_, before)
    assert learner.n_rounds_ == 1


def test_a_learner_keeps_to_its_width_and_comparator():
    learner = OnlinePerceptron().partial_fit([[1.0, 2.0]], [1])
    with pytest.raises(ValueError, match="2 columns"):
        learner.partial_fit([[1.0]], [1])
    with pytest.raises(ValueError, match="from the first round on"):
        learner.run((np.eye(2), [1, 1]), comparator=[1.0, 1.0])
    with pytest.raises(ValueError, match="vector of 2 finite"):
        OnlinePerceptron().run((np.eye(2), [1, 1]), comparator=[1.0])
    with pytest.raises(ValueError, match="3 columns"):
        Halving().partial_fit([[1, 0, 1]], [1]).partial_fit([[1, 0]], [1])


def test_overflow_is_named():
    learner = OnlineGradientDescent("square", eta=10.0)
    with pytest.raises(ValueError, match="overflowed"):
        learner.partial_fit(np.full((400, 1), 1e3), np.ones(400))


def test_truths_of_another_kind_are_named():
    with pytest.raises(ValueError, match=r"OnlinePerceptron needs truths that are numbers.*Class"):
        OnlinePerceptron().run((np.eye(2), ["yes", "no"]))
    with pytest.raises(ValueError, match=r"-1 or 1\. Got 0 among them"):
        OnlinePerceptron().run((np.eye(2), [0, 1]))


def test_the_tightness_of_a_bound_of_zero_and_of_no_rounds():
    one = Halving().run((np.ones((3, 1), dtype=int), [1, 1, 1]))
    assert one.bound[-1] == 0
    assert one.tightness == 1.0
    assert Halving().run((np.ones((0, 1), dtype=int), [])).tightness == 0.0


def test_a_record_by_hand():
    parts = {"predictions": np.zeros(3), "mistakes": np.array([True, False, True])}
    losses, best = np.array([1.0, 0.5, 0.5]), np.array([0.5, 0.75, 1.0])
    rounds = {**parts, "losses": losses, "comparator": best, "theorem": "none"}
    record = Record(**rounds, bound=np.array([2.0, 2.0, 4.0]), measure="regret")
    assert record.cumulative_loss.tolist() == [1.0, 1.5, 2.0]
    assert record.cumulative_mistakes.tolist() == [1, 1, 2]
    assert record.regret.tolist() == [0.5, 0.75, 1.0]
    assert record.tightness == 0.25
    assert record.holds
    assert replace(record, measure="mistakes").tightness == 0.5
    assert replace(record, measure="loss").tightness == 0.5
    assert not replace(record, bound=np.array([2.0, 0.7, 4.0])).holds
    assert replace(record, bound=np.array([2.0, 2.0, np.inf])).tightness == 0.0
    nothing = replace(record, bound=np.zeros(3))
    assert nothing.tightness == np.inf
    assert replace(nothing, losses=best, comparator=np.cumsum(best)).tightness == 1.0
