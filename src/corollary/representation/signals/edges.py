"""Edges of images: where the grey value changes, how much, and in which direction.

Sobel's masks estimate the slope of the grey value along rows and columns from 3 x 3 pixels,
smoothed across. Counted by direction, with their magnitudes as weights, edges describe a picture by
a few numbers that a change of brightness leaves as they are.
"""

from typing import Any, NamedTuple

import numpy as np

from corollary.core.estimator import Count, checked


class ImageGradients(NamedTuple):
    """The slope of the grey value at every pixel inside the border.

    Parameters
    ----------
    down, right : ndarray of shape (height - 2, width - 2)
        Changes from one row of pixels to the next, and from one column to the next.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.representation import ImageGradients
    >>> gradients = ImageGradients(np.array([[3.0]]), np.array([[4.0]]))
    >>> gradients.magnitude
    array([[5.]])
    """

    down: np.ndarray
    right: np.ndarray

    @property
    def magnitude(self) -> np.ndarray:
        """The length of the gradient."""
        return np.hypot(self.down, self.right)

    @property
    def orientation(self) -> np.ndarray:
        """The direction in which the image gets brighter: radians from the right, upwards."""
        return np.arctan2(-self.down, self.right) % (2 * np.pi)


def sobel_gradients(image: Any) -> ImageGradients:
    """Return the slope of the grey value by Sobel's masks.

    Slopes are in grey values for each pixel, so that a ramp gives its slope; pixels of the border
    have none.

    Parameters
    ----------
    image : array-like of shape (height, width)
        Finite grey values, at least 3 x 3; of colours take the mean first.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.representation import sobel_gradients
    >>> ramp = np.tile([0.0, 2.0, 4.0, 6.0], (3, 1))
    >>> sobel_gradients(ramp).right
    array([[2., 2.]])
    """
    grey = np.asarray(image, dtype=np.float64)
    if grey.ndim != 2 or min(grey.shape) < 3 or not np.isfinite(grey).all():
        raise ValueError(
            "sobel_gradients needs an image of finite grey values with at least 3 x 3 pixels. Got "
            f"shape {grey.shape}; take the mean over colours first."
        )
    across = grey[:, :-2] + 2 * grey[:, 1:-1] + grey[:, 2:]
    along = grey[:-2] + 2 * grey[1:-1] + grey[2:]
    return ImageGradients((across[2:] - across[:-2]) / 8, (along[:, 2:] - along[:, :-2]) / 8)


@checked
def edge_features(image: Any, *, n_bins: Count = 8, cells: Count = 1) -> np.ndarray:
    """Describe an image by the directions of its edges.

    Parameters
    ----------
    image : array-like of shape (height, width)
        Grey values, at least 3 x 3.
    n_bins : int, default=8
        Directions that are told apart; the first is around the right, the others follow against the
        clock.
    cells : int, default=1
        The image is cut into so many rows and columns of cells, each with a histogram.

    Returns
    -------
    features : ndarray of shape (cells * cells * n_bins,)
        For each cell, row by row, the magnitudes of edges in every direction, as means over the
        pixels of the cell.

    Notes
    -----
    Adding a constant to the image changes nothing; a factor multiplies all features. A turn by 90
    degrees moves every bin by a quarter, if their number is a multiple of four.

    References
    ----------
    N. Dalal and B. Triggs (2005). Histograms of oriented gradients for human detection. CVPR.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.representation import edge_features
    >>> edge_features(np.tile([0.0, 2.0, 4.0, 6.0], (3, 1)), n_bins=4)
    array([2., 0., 0., 0.])
    """
    gradients = sobel_gradients(image)
    height, width = gradients.down.shape
    if cells > min(height, width):
        raise ValueError(
            f"The 'cells' parameter of edge_features must be at most {min(height, width)}, the "
            f"pixels of the shorter side inside the border. Got {cells}."
        )
    # Rounding of an angle just below a full turn must not open a bin of its own.
    bins = np.rint(gradients.orientation * n_bins / (2 * np.pi)).astype(int) % n_bins
    rows, columns = np.arange(height) * cells // height, np.arange(width) * cells // width
    cell = rows[:, None] * cells + columns
    sums = np.bincount(
        (cell * n_bins + bins).ravel(), gradients.magnitude.ravel(), cells * cells * n_bins
    )
    pixels = np.bincount(cell.ravel(), minlength=cells * cells)
    return sums / np.repeat(pixels, n_bins)
