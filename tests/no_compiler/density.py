"""Loops of densities: sums of kernels in blocks."""

import numpy as np


def check_sums():
    from corollary.density import KernelSum

    rng = np.random.default_rng(0)
    X, Q = rng.normal(size=(300, 2)), rng.normal(size=(3, 2))
    squares = ((Q[:, None] - X) ** 2).sum(axis=2)
    profiles = {
        "gaussian": np.exp(-squares / 2),
        "exponential": np.exp(-np.sqrt(squares)),
        "tophat": squares < 1,
        "epanechnikov": np.maximum(1 - squares, 0),
        "linear": np.maximum(1 - np.sqrt(squares), 0),
        "cosine": np.cos(np.pi / 2 * np.sqrt(squares)) * (squares < 1),
    }
    for kernel, values in profiles.items():
        sums = KernelSum(X, np.ones(300), kernel=kernel).log_values(Q)
        np.testing.assert_allclose(np.exp(sums), values.sum(axis=1), rtol=1e-12)


def check_widths_and_left_out_rows():
    from corollary.density import KernelSum

    X = np.array([[0.0], [1.0], [3.0]])
    sums = KernelSum(X, np.ones(3), np.array([1.0, 2.0, 1.0]), "linear", 1.0)
    np.testing.assert_allclose(np.exp(sums.log_leave_one_out()), [0.5, 1e-300, 1e-300], atol=1e-9)
    far = KernelSum(X * 1e3, np.ones(3)).log_leave_one_out()
    np.testing.assert_allclose(far, [-0.5e6, -0.5e6, -2e6])
