r"""Mel-cepstral coefficients: what a sound is made of, on the scale of pitch.

A sound is cut into frames; each is windowed and turned into a power spectrum, which triangular
filters, evenly spaced on the mel scale :math:`m=2595\log_{10}(1+f/700)`, sum up. The cosine
transform of the logarithms of these energies are the coefficients. Loudness adds a constant to all
logarithms, which changes coefficient 0 only.

References
----------
S. Davis and P. Mermelstein (1980). Comparison of parametric representations for monosyllabic word
recognition in continuously spoken sentences. IEEE Transactions on Acoustics, Speech, and Signal
Processing 28, 357-366.
"""

from typing import Any

import numpy as np
from scipy.fft import dct, rfft, rfftfreq

from corollary.core.estimator import Count, NonNegative, Positive, checked


def hertz_to_mel(frequency: Any) -> Any:
    """Return the pitch of frequencies in mel.

    Parameters
    ----------
    frequency : float or array-like
        Frequencies in hertz.

    Examples
    --------
    >>> from corollary.representation import hertz_to_mel
    >>> round(float(hertz_to_mel(1000.0)), 2)
    999.99
    """
    return 2595 * np.log10(1 + np.asarray(frequency, dtype=np.float64) / 700)


def mel_to_hertz(mel: Any) -> Any:
    """Return the frequencies of pitches in hertz.

    Parameters
    ----------
    mel : float or array-like
        Pitches in mel.

    Examples
    --------
    >>> from corollary.representation import hertz_to_mel, mel_to_hertz
    >>> round(float(mel_to_hertz(hertz_to_mel(440.0))), 6)
    440.0
    """
    return 700 * (10 ** (np.asarray(mel, dtype=np.float64) / 2595) - 1)


@checked
def mel_filters(
    n_filters: Count,
    frame_length: Count,
    rate: Positive,
    *,
    low: NonNegative = 0.0,
    high: Positive | None = None,
) -> np.ndarray:
    """Return triangular filters, as rows, that are evenly spaced on the mel scale.

    Each rises from the centre of the one before to one at its own and falls to that of the next.

    Parameters
    ----------
    n_filters : int
        How many.
    frame_length : int
        Samples of a frame, whose spectrum has ``frame_length // 2 + 1`` frequencies.
    rate : float
        Samples per second.
    low : float, default=0.0
        Where the first filter begins, in hertz.
    high : float or None, default=None
        Where the last one ends; None for half the rate.

    Raises
    ------
    ValueError
        If the band is empty, or so narrow that a filter catches no frequency of the spectrum.

    Examples
    --------
    >>> from corollary.representation import mel_filters
    >>> mel_filters(2, 8, 8000.0).round(2)
    array([[0.  , 0.68, 0.  , 0.  , 0.  ],
           [0.  , 0.32, 0.91, 0.45, 0.  ]])
    """
    high = rate / 2 if high is None else high
    if not low < high <= rate / 2:
        raise ValueError(
            f"mel_filters needs low < high <= rate / 2. Got {low}, {high} and rate {rate}."
        )
    edges = mel_to_hertz(np.linspace(hertz_to_mel(low), hertz_to_mel(high), n_filters + 2))
    f, left, centre, right = rfftfreq(frame_length, 1 / rate), edges[:-2], edges[1:-1], edges[2:]
    rising = (f - left[:, None]) / (centre - left)[:, None]
    falling = (right[:, None] - f) / (right - centre)[:, None]
    filters = np.clip(np.minimum(rising, falling), 0.0, None)
    empty = np.flatnonzero(~filters.any(axis=1))
    if len(empty):
        raise ValueError(
            f"Filter {empty[0]} of mel_filters lies between two frequencies of a spectrum of "
            f"{frame_length} samples. Take longer frames or fewer filters."
        )
    return filters


@checked
def power_spectrum(
    signal: Any, *, frame_length: Count = 512, hop: Count | None = None, window: bool = True
) -> np.ndarray:
    """Return the power of every frequency in every frame of a sound.

    Parameters
    ----------
    signal : array-like of shape (n_samples,)
        A sound, at least one frame long.
    frame_length : int, default=512
        Samples of a frame.
    hop : int or None, default=None
        Samples between the starts of two frames; None for half a frame.
    window : bool, default=True
        Whether to fade frames in and out by Hann's window.

    Returns
    -------
    power : ndarray of shape (n_frames, frame_length // 2 + 1)
        Squared moduli over the length of a frame. Those that stand for two frequencies count twice,
        so that they sum to the squares of the (windowed) frame: Parseval's identity.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.representation import power_spectrum
    >>> power_spectrum([1.0, -1.0, 1.0, -1.0], frame_length=4, window=False)
    array([[0., 0., 4.]])
    """
    samples = np.asarray(signal, dtype=np.float64)
    if samples.ndim != 1 or len(samples) < frame_length or not np.isfinite(samples).all():
        raise ValueError(
            f"power_spectrum needs one channel of at least {frame_length} finite samples. Got "
            f"shape {samples.shape}; take shorter frames or fill up with zeros."
        )
    hop = max(1, frame_length // 2) if hop is None else hop
    frames = np.lib.stride_tricks.sliding_window_view(samples, frame_length)[::hop]
    if window:
        frames = frames * np.sin(np.pi * np.arange(frame_length) / frame_length) ** 2
    power = np.abs(rfft(frames, axis=1)) ** 2 / frame_length
    power[:, 1 : (frame_length + 1) // 2] *= 2
    return power


@checked
def mel_cepstrum(
    signal: Any,
    rate: Positive,
    *,
    n_coefficients: Count = 13,
    n_filters: Count = 26,
    frame_length: Count = 512,
    hop: Count | None = None,
) -> np.ndarray:
    """Return the mel-cepstral coefficients of a sound, one row for each frame.

    They are the orthonormal cosine transform (DCT-II) of the logarithms of the filters' energies. A
    filter that hears nothing counts as the smallest positive number.

    Parameters
    ----------
    signal : array-like of shape (n_samples,)
        A sound, at least one frame long.
    rate : float
        Samples per second.
    n_coefficients : int, default=13
        Coefficients of each frame, at most `n_filters`.
    n_filters : int, default=26
        Filters on the mel scale.
    frame_length : int, default=512
        Samples of a frame.
    hop : int or None, default=None
        Samples between the starts of two frames; None for half a frame.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.representation import mel_cepstrum
    >>> tone = np.sin(2 * np.pi * 440 * np.arange(4000) / 8000)
    >>> quiet, loud = mel_cepstrum(tone, 8000.0), mel_cepstrum(10 * tone, 8000.0)
    >>> quiet.shape, np.abs(loud - quiet).max(axis=0).round(2)[:3]
    ((14, 13), array([23.48,  0.  ,  0.  ]))
    """
    if n_coefficients > n_filters:
        raise ValueError(
            "The 'n_coefficients' parameter of mel_cepstrum must be at most "
            f"n_filters={n_filters}. Got {n_coefficients}."
        )
    filters = mel_filters(n_filters, frame_length, rate)
    energies = power_spectrum(signal, frame_length=frame_length, hop=hop) @ filters.T
    logarithms = np.log(np.maximum(energies, np.finfo(float).tiny))
    return dct(logarithms, type=2, norm="ortho", axis=1)[:, :n_coefficients]
