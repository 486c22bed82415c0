import numpy as np
import pytest
from scipy.fft import idct
from scipy.signal import get_window

from corollary.representation import (
    hertz_to_mel,
    mel_cepstrum,
    mel_filters,
    mel_to_hertz,
    power_spectrum,
)

RATE = 8000.0


def tone(frequency, n=4000):
    return np.sin(2 * np.pi * frequency * np.arange(n) / RATE)


def test_the_scale():
    np.testing.assert_allclose(hertz_to_mel([0, 700, 6300]), [0, 2595 * np.log10(2), 2595])
    np.testing.assert_allclose(mel_to_hertz(hertz_to_mel([1.0, 440.0, 4000.0])), [1, 440, 4000])


def test_filters_are_triangles_that_share_their_feet():
    filters = mel_filters(10, 1024, RATE)
    centres = mel_to_hertz(np.arange(1, 11) * hertz_to_mel(4000) / 11)
    frequencies = np.fft.rfftfreq(1024, 1 / RATE)
    np.testing.assert_allclose(frequencies[filters.argmax(axis=1)], centres, atol=RATE / 1024)
    assert ((filters >= 0) & (filters <= 1)).all()
    # Between the first and the last centre two neighbours sum to one.
    inside = (frequencies >= centres[0]) & (frequencies <= centres[-1])
    np.testing.assert_allclose(filters.sum(axis=0)[inside], 1)
    band = mel_filters(4, 1024, RATE, low=500.0, high=2000.0)
    assert not band[:, (frequencies <= 500) | (frequencies >= 2000)].any()


def test_a_pure_tone_is_heard_by_its_filter():
    filters = mel_filters(20, 512, RATE)
    for place in (2, 9, 17):
        pitch = (place + 1) * hertz_to_mel(4000) / 21
        power = power_spectrum(tone(mel_to_hertz(pitch)), frame_length=512)
        assert ((power @ filters.T).argmax(axis=1) == place).all()


@pytest.mark.parametrize("length", [8, 9])
def test_parseval(length, seed):
    x = np.random.default_rng(seed).normal(size=50)
    power = power_spectrum(x, frame_length=length, hop=3, window=False)
    frames = np.array([x[i : i + length] for i in range(0, 50 - length + 1, 3)])
    np.testing.assert_allclose(power.sum(axis=1), np.sum(frames**2, axis=1))
    windowed = power_spectrum(x, frame_length=length, hop=3)
    hann = get_window("hann", length)
    np.testing.assert_allclose(windowed.sum(axis=1), np.sum((frames * hann) ** 2, axis=1))
    assert len(power_spectrum(x, frame_length=10)) == 9


def test_loudness_changes_coefficient_zero_only(seed):
    x = np.random.default_rng(seed).normal(size=3000)
    quiet, loud = mel_cepstrum(x, RATE), mel_cepstrum(3 * x, RATE)
    np.testing.assert_allclose(loud[:, 1:], quiet[:, 1:], atol=1e-9)
    np.testing.assert_allclose(loud[:, 0] - quiet[:, 0], np.sqrt(26) * 2 * np.log(3))


def test_coefficients_are_the_cosine_transform_of_log_energies(seed):
    x = np.random.default_rng(seed).normal(size=1000)
    options = {"frame_length": 256, "hop": 100}
    whole = mel_cepstrum(x, RATE, n_coefficients=12, n_filters=12, **options)
    energies = power_spectrum(x, **options) @ mel_filters(12, 256, RATE).T
    np.testing.assert_allclose(np.exp(idct(whole, norm="ortho", axis=1)), energies)
    some = mel_cepstrum(x, RATE, n_coefficients=5, n_filters=12, **options)
    np.testing.assert_array_equal(some, whole[:, :5])


def test_silence_is_finite_and_sounds_of_one_pitch_are_near():
    assert np.isfinite(mel_cepstrum(np.zeros(600), RATE)).all()
    # Two phases of one tone are farther apart as samples than as coefficients, other tones are not.
    one, shifted, other = tone(440), tone(440, 4009)[9:], tone(880)
    near, far = (
        np.linalg.norm(mel_cepstrum(one, RATE) - mel_cepstrum(y, RATE)) for y in (shifted, other)
    )
    assert 10 * near < far
    assert np.linalg.norm(one - shifted) > 0.9 * np.linalg.norm(one - other)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: mel_filters(5, 512, RATE, low=4000.0), "low < high"),
        (lambda: mel_filters(5, 512, RATE, high=5000.0), "low < high"),
        (lambda: mel_filters(60, 32, RATE), "longer frames or fewer"),
        (lambda: power_spectrum(np.ones(10), frame_length=11), "at least 11"),
        (lambda: power_spectrum(np.ones((10, 2)), frame_length=2), "one channel"),
        (lambda: power_spectrum([np.nan] * 5, frame_length=2), "finite"),
        (lambda: mel_cepstrum(np.ones(600), RATE, n_coefficients=27), "n_filters=26"),
    ],
)
def test_bad_input_is_told(call, words):
    with pytest.raises(ValueError, match=words):
        call()
