import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer

import corollary
from corollary.kernels import RBF, KernelRidge, Spectrum, Subsequence

TEXTS = ["banana", "bandana", "An aNaNa", "ab", "", "ananas ananas", "bb"]


@pytest.mark.parametrize("k", [1, 2, 3])
def test_spectrum_is_the_inner_product_of_counts(k):
    counts = CountVectorizer(analyzer="char", ngram_range=(k, k), lowercase=False)
    C = counts.fit_transform(TEXTS).toarray()
    kernel = Spectrum(k)
    np.testing.assert_array_equal(kernel.gram(TEXTS), C @ C.T)
    np.testing.assert_array_equal(kernel.gram(TEXTS[:2], TEXTS), (C @ C.T)[:2])
    np.testing.assert_array_equal(kernel.diag(TEXTS), np.diag(C @ C.T))


def test_spectrum_of_letters_is_a_bag():
    assert Spectrum(1)("abca", "aab") == 2 * 2 + 1 * 1


def test_strings_that_are_too_short_have_no_features():
    K = Spectrum(3).normalised().gram(TEXTS)
    assert np.isfinite(K).all()
    np.testing.assert_array_equal(np.diag(K), [1, 1, 1, 0, 0, 1, 0])
    np.testing.assert_array_equal(K[4], 0.0)
    assert Spectrum(3).gram(["", "a"]).tolist() == [[0, 0], [0, 0]]
    wanted = Spectrum(3)("banana", "bandana") / np.sqrt(
        Spectrum(3)("banana", "banana") * Spectrum(3)("bandana", "bandana")
    )
    assert K[0, 1] == pytest.approx(wanted)


def brute_subsequence(s, t, k, decay):
    """Sum over all pairs of index sets with equal letters of decay to the sum of spans."""
    total = 0.0
    for i in itertools.combinations(range(len(s)), k):
        for j in itertools.combinations(range(len(t)), k):
            if all(s[a] == t[b] for a, b in zip(i, j)):
                total += decay ** (i[-1] - i[0] + 1 + j[-1] - j[0] + 1)
    return total


@given(
    s=st.text("abc", max_size=7),
    t=st.text("abc", max_size=7),
    k=st.integers(1, 4),
    decay=st.sampled_from([0.3, 0.8, 1.0]),
)
def test_subsequence_kernel_by_enumeration(s, t, k, decay):
    wanted = brute_subsequence(s, t, k, decay)
    kernel = Subsequence(k, decay=decay)
    assert kernel(s, t) == pytest.approx(wanted, rel=1e-10)
    assert kernel.diag([s])[0] == pytest.approx(brute_subsequence(s, s, k, decay), rel=1e-10)


@pytest.mark.parametrize("kernel", [Spectrum(2), Subsequence(2), Subsequence(3).normalised()])
def test_string_kernels_are_positive_semidefinite(kernel):
    values = np.linalg.eigvalsh(kernel.gram(TEXTS))
    assert values[0] >= -1e-10 * values[-1]


def test_what_is_not_a_sequence_of_strings_is_refused():
    with pytest.raises(TypeError, match="Got one string; put it in a list"):
        Spectrum().gram("banana")
    with pytest.raises(TypeError, match="Got an item 3"):
        Subsequence().gram(["a", 3])
    with pytest.raises(ValueError, match=r"'decay' parameter of Subsequence.*\(0.0, 1.0\]"):
        Subsequence(decay=1.5)
    with pytest.raises(ValueError, match="'length' parameter of Spectrum must be an int"):
        Spectrum(0)


def test_string_kernels_combine_and_are_saved(tmp_path):
    kernel = 0.5 * Spectrum(2) + Subsequence(2).normalised()
    np.testing.assert_allclose(
        kernel.gram(TEXTS),
        0.5 * Spectrum(2).gram(TEXTS) + Subsequence(2).normalised().gram(TEXTS),
    )
    corollary.save(KernelRidge(kernel=kernel), tmp_path / "model")
    assert corollary.load(tmp_path / "model").kernel == kernel
    assert kernel != RBF()
