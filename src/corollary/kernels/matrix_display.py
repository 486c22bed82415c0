"""The picture of a kernel matrix: who is similar to whom."""

from typing import Any, Self

import numpy as np

from corollary.core.display import axes_for


class KernelMatrixDisplay:
    """Draw a kernel matrix as an image, rows of the same label side by side.

    Blocks on the diagonal are classes whose members are similar to each other; what is bright
    elsewhere is what the kernel confuses.

    Parameters
    ----------
    K : ndarray of shape (n, m)
        Kernel matrix, in the order drawn.
    labels : ndarray of shape (n,) or None, default=None
        Labels of the rows of a square matrix, equal ones side by side; None draws no borders.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        The figure it belongs to.
    image_ : matplotlib AxesImage
        The matrix.
    borders_ : list of matplotlib Line2D
        Lines between labels.

    See Also
    --------
    Kernel.gram : Computes the matrix.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.kernels import KernelMatrixDisplay, RBF
    >>> X, y = np.array([[0.0], [5.0], [0.1], [5.1]]), ["a", "b", "a", "b"]
    >>> display = KernelMatrixDisplay.from_kernel(RBF(), X, y)
    >>> display.K.round(2)
    array([[1., 1., 0., 0.],
           [1., 1., 0., 0.],
           [0., 0., 1., 1.],
           [0., 0., 1., 1.]])
    """

    def __init__(self, K: np.ndarray, *, labels: np.ndarray | None = None) -> None:
        self.K = K
        self.labels = labels

    def plot(self, ax: Any = None, *, cmap: str | None = None, colorbar: bool = True) -> Self:
        """Draw the picture.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.
        cmap : str or None, default=None
            Colours; None for a scale from dark to bright, or one with a white zero if there are
            values below zero.
        colorbar : bool, default=True
            Whether a bar explains the colours.

        Returns
        -------
        display : KernelMatrixDisplay
            Itself, with ``ax_``, ``figure_``, ``image_`` and ``borders_``.
        """
        ax = axes_for(ax)
        largest = float(np.abs(self.K).max(initial=0.0)) or 1.0
        signed = bool((self.K < 0).any())
        self.image_ = ax.imshow(
            self.K,
            cmap=cmap or ("RdBu_r" if signed else "viridis"),
            vmin=-largest if signed else 0.0,
            vmax=largest,
            interpolation="nearest",
        )
        if colorbar:
            ax.figure.colorbar(self.image_, ax=ax, label="kernel", fraction=0.046, pad=0.04)
        self.borders_ = []
        ax.set_xlabel("row")
        ax.set_ylabel("row")
        if self.labels is not None:
            starts = np.flatnonzero(np.r_[True, self.labels[1:] != self.labels[:-1]])
            ends = np.r_[starts[1:], len(self.labels)]
            for at in starts[1:] - 0.5:
                style = {"color": "0.5" if signed else "white", "linewidth": 0.8}
                self.borders_ += [ax.axhline(at, **style), ax.axvline(at, **style)]
            centres = (starts + ends - 1) / 2
            names = [str(self.labels[i]) for i in starts]
            ax.set_xticks(centres, names)
            ax.set_yticks(centres, names)
            ax.set_xlabel("label")
            ax.set_ylabel("label")
        self.ax_, self.figure_ = ax, ax.figure
        return self

    @classmethod
    def from_kernel(
        cls,
        kernel: Any,
        X: Any,
        y: Any = None,
        *,
        ax: Any = None,
        cmap: str | None = None,
        colorbar: bool = True,
    ) -> "KernelMatrixDisplay":
        """Compute and draw the matrix of a kernel.

        Parameters
        ----------
        kernel : Kernel
            The kernel.
        X : array-like of shape (n, d), or the kernel's own kind of inputs
            Inputs.
        y : array-like of shape (n,) or None, default=None
            Labels, by which rows are sorted; None keeps their order.
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.
        cmap : str or None, default=None
            Colours, as for :meth:`plot`.
        colorbar : bool, default=True
            Whether a bar explains the colours.

        Returns
        -------
        display : KernelMatrixDisplay
            The drawn display.
        """
        return cls.from_matrix(kernel.gram(X), y, ax=ax, cmap=cmap, colorbar=colorbar)

    @classmethod
    def from_matrix(
        cls,
        K: Any,
        y: Any = None,
        *,
        ax: Any = None,
        cmap: str | None = None,
        colorbar: bool = True,
    ) -> "KernelMatrixDisplay":
        """Draw a matrix that has been computed.

        Parameters
        ----------
        K : array-like of shape (n, m)
            Kernel matrix; square if there are labels.
        y : array-like of shape (n,) or None, default=None
            Labels, by which rows and columns are sorted; None keeps their order.
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a new figure.
        cmap : str or None, default=None
            Colours, as for :meth:`plot`.
        colorbar : bool, default=True
            Whether a bar explains the colours.

        Returns
        -------
        display : KernelMatrixDisplay
            The drawn display.
        """
        K = np.asarray(K, dtype=float)
        if K.ndim != 2 or not K.size or not np.isfinite(K).all():
            raise ValueError(
                "KernelMatrixDisplay draws a matrix of finite numbers. "
                f"Got an array of shape {K.shape}."
            )
        labels = None
        if y is not None:
            labels = np.asarray(y)
            if labels.shape != (len(K),) or K.shape[0] != K.shape[1]:
                raise ValueError(
                    "KernelMatrixDisplay needs one label for each row of a square matrix. "
                    f"Got labels of shape {labels.shape} and a matrix of shape {K.shape}."
                )
            order = np.argsort(labels, kind="stable")
            K, labels = K[np.ix_(order, order)], labels[order]
        return cls(K, labels=labels).plot(ax, cmap=cmap, colorbar=colorbar)
