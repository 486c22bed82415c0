"""The picture of a kernel matrix, drawn without a screen."""

import matplotlib as mpl
import numpy as np
import pytest

mpl.use("Agg")

from corollary.kernels import RBF, KernelMatrixDisplay, Linear


@pytest.fixture(autouse=True)
def _close():
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


def test_rows_are_sorted_by_label_and_borders_drawn():
    X = np.random.default_rng(0).normal(size=(9, 2))
    y = np.array(list("bacbacbac"))
    display = KernelMatrixDisplay.from_kernel(RBF(), X, y)
    order = np.r_[1, 4, 7, 0, 3, 6, 2, 5, 8]
    np.testing.assert_allclose(display.image_.get_array(), RBF().gram(X[order]))
    assert [line.get_ydata()[0] for line in display.borders_[::2]] == [2.5, 5.5]
    assert [t.get_text() for t in display.ax_.get_xticklabels()] == ["a", "b", "c"]
    np.testing.assert_array_equal(display.ax_.get_yticks(), [1.0, 4.0, 7.0])
    assert display.image_.get_clim() == (0.0, 1.0)


def test_values_below_zero_get_a_scale_around_zero():
    import matplotlib.pyplot as plt

    _, ax = plt.subplots()
    display = KernelMatrixDisplay.from_kernel(Linear(), [[1.0], [-3.0]], ax=ax, colorbar=False)
    assert display.ax_ is ax
    assert display.image_.get_clim() == (-9.0, 9.0)
    assert display.borders_ == []
    assert len(display.figure_.axes) == 1
    np.testing.assert_array_equal(display.K, [[1.0, -3.0], [-3.0, 9.0]])


def test_a_cross_matrix_keeps_its_shape():
    display = KernelMatrixDisplay.from_matrix(np.ones((2, 5)))
    assert display.image_.get_array().shape == (2, 5)


def test_wrong_input_is_named():
    with pytest.raises(ValueError, match="one label for each row of a square matrix"):
        KernelMatrixDisplay.from_matrix(np.eye(3), [0, 1])
    with pytest.raises(ValueError, match="one label for each row of a square matrix"):
        KernelMatrixDisplay.from_matrix(np.ones((2, 3)), [0, 1])
    with pytest.raises(ValueError, match="matrix of finite numbers"):
        KernelMatrixDisplay.from_matrix([[np.nan]])
