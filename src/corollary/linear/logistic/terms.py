r"""The logistic and the softmax loss of :mod:`corollary.risk`, summed over rows.

With scores :math:`z = \langle w, x \rangle + b` and labels coded 0 and 1 the loss of a row is
:math:`\log(1 + e^{-s z})`, :math:`s = 2y - 1`; with one score per class it is
:math:`\log \sum_k e^{z_k} - z_y`. Both have the derivative :math:`p - y` in the scores (y as a
unit vector for several classes) and the curvature :math:`p (1 - p)`, or
:math:`\mathrm{diag}(p) - p p^\top`.

:class:`LogisticTerms` is the sum of loss, gradient and Hessian over rows. Being a
:class:`~corollary.core.summary.Summary`, it runs over arrays in threads, over files and over Dask
collections, with the same bits each time.

Layout. Parameters are a matrix with one row per score (one row for two classes) and one column
per feature, the intercept last if there is one; its flattened form indexes the Hessian.
"""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from scipy import sparse

from corollary.core.summary import Chunk, Summary
from corollary.risk import CrossEntropyLoss, LogisticLoss

# Weighted copies of rows are made in pieces of this many values (256 kB): they stay in a core's
# second-level cache instead of being fetched from the system page by page.
_PIECE = 32768


def log_loss_terms(scores: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the loss of each row and the probabilities behind it.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_outputs)
        One column for two classes (the log odds of class 1), else one per class.
    y : ndarray of shape (n_samples,)
        Class codes 0, 1, ....

    Returns
    -------
    loss : ndarray of shape (n_samples,)
        Minus the log probability of the row's class, in nats.
    probability : ndarray of shape (n_samples, n_outputs)
        Probability of class 1, or of every class.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.linear import log_loss_terms
    >>> loss, p = log_loss_terms(np.zeros((1, 1)), np.array([1]))
    >>> round(float(loss[0]), 4), float(p[0, 0])
    (0.6931, 0.5)
    >>> loss, p = log_loss_terms(np.array([[1000.0, 0.0, 0.0]]), np.array([1]))
    >>> float(loss[0])
    1000.0
    """
    if scores.shape[1] > 1:
        return CrossEntropyLoss().terms_of_scores(y, scores)
    loss = LogisticLoss().value(2 * np.asarray(y) - 1, scores[:, 0])
    return loss, LogisticLoss().inverse_link(scores)


@dataclass(frozen=True)
class LogisticTerms(Summary):
    """Weighted sums of the logistic loss, its gradient and its Hessian over rows.

    The chunks are ``(X, y)`` or ``(X, y, sample_weight)``.

    Parameters
    ----------
    weights : ndarray of shape (n_outputs, n_features + fit_intercept)
        Where to evaluate.
    classes : ndarray or None, default=None
        Labels in ascending order, if y holds labels; None if y holds codes 0, 1, ....
    class_weight : ndarray of shape (n_classes,) or None, default=None
        Factor on the rows of each class.
    fit_intercept : bool, default=True
        Whether the last column of ``weights`` is an intercept.
    curvature : bool, default=False
        Whether to sum the Hessian.
    columns : ndarray of int or None, default=None
        Features that the Hessian is restricted to (the intercept is always kept); None for all.
    offset : ndarray of shape (n_features,) or None, default=None
        Subtracted from every row first.
    weight : float, default=0.0
        Sum of the weights of the rows so far.
    loss : float, default=0.0
        Sum of the losses.
    gradient : ndarray or None, default=None
        Sum of the gradients, shaped like ``weights``.
    hessian : ndarray or None, default=None
        Sum of the Hessians in the flattened parameters.
    margin : float, default=inf
        Smallest lead of a row's own score over the best other one: positive only if the
        weights separate the rows.
    reach : float, default=-inf
        Largest such lead.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.core.summary import reduce
    >>> from corollary.linear import LogisticTerms
    >>> X, y = np.array([[1.0], [-1.0]]), np.array([1, 0])
    >>> terms = reduce(LogisticTerms(np.zeros((1, 2)), curvature=True), (X, y))
    >>> terms.gradient
    array([[-1.,  0.]])
    >>> terms.hessian
    array([[0.5, 0. ],
           [0. , 0.5]])
    """

    weights: np.ndarray
    classes: np.ndarray | None = None
    class_weight: np.ndarray | None = None
    fit_intercept: bool = True
    curvature: bool = False
    columns: np.ndarray | None = None
    offset: np.ndarray | None = None
    weight: float = 0.0
    loss: float = 0.0
    gradient: np.ndarray | None = None
    hessian: np.ndarray | None = None
    margin: float = np.inf
    reach: float = -np.inf

    def empty(self) -> Self:
        """Return the sums over no rows."""
        return type(self)(
            self.weights,
            self.classes,
            self.class_weight,
            self.fit_intercept,
            self.curvature,
            self.columns,
            self.offset,
        )

    def update(self, chunk: Chunk) -> Self:
        """Add the rows of a chunk ``(X, y)`` or ``(X, y, sample_weight)``."""
        X = chunk[0]
        if sparse.issparse(X):
            X = sparse.csr_matrix(X)
        else:
            # Products round differently if rows lie otherwise in memory.
            X = np.require(X, dtype=np.float64, requirements=["C", "A"])
            X = X if self.offset is None else X - self.offset
        y = self._codes(chunk[1])
        w = None if len(chunk) < 3 else chunk[2]
        if self.class_weight is not None:
            factor = self.class_weight[y]
            w = factor if w is None else factor * w
        coef = self.weights[:, :-1] if self.fit_intercept else self.weights
        scores = np.asarray(X @ coef.T)
        if self.fit_intercept:
            scores += self.weights[:, -1]
        if len(self.weights) == 1:
            sign = 2.0 * y - 1.0
            lead = sign * scores[:, 0]
            loss, slope, bend = LogisticLoss().terms_of_margin(lead)
            residual = (sign * slope)[:, None]
        else:
            loss, p = CrossEntropyLoss().terms_of_scores(y, scores)
            lead, bend = _lead(scores, y), p
            residual = p.copy()
            residual[np.arange(len(y)), y] -= 1.0
        if w is not None:
            residual *= w[:, None]
            lead = lead[w > 0]
        gradient = np.empty_like(self.weights, dtype=np.float64)
        gradient[:, : coef.shape[1]] = (X.T @ residual).T
        if self.fit_intercept:
            gradient[:, -1] = residual.sum(axis=0)
        part = replace(
            self,
            weight=float(len(y) if w is None else w.sum()),
            loss=float(loss.sum() if w is None else loss @ w),
            gradient=gradient,
            hessian=self._hessian(X, bend, w) if self.curvature else None,
            margin=float(lead.min(initial=np.inf)),
            reach=float(lead.max(initial=-np.inf)),
        )
        return part if self.gradient is None else self.merge(part)

    def merge(self, other: Self) -> Self:
        """Return the sums over both sets of rows."""
        if other.gradient is None:
            return self
        if self.gradient is None:
            return other
        return replace(
            self,
            weight=self.weight + other.weight,
            loss=self.loss + other.loss,
            gradient=self.gradient + other.gradient,
            hessian=None if self.hessian is None else self.hessian + other.hessian,
            margin=min(self.margin, other.margin),
            reach=max(self.reach, other.reach),
        )

    def _codes(self, y: Any) -> np.ndarray:
        y = np.asarray(y)
        if self.classes is None:
            return y
        codes = np.searchsorted(self.classes, y)
        codes = np.minimum(codes, len(self.classes) - 1)
        unknown = self.classes[codes] != y
        if unknown.any():
            raise ValueError(
                f"The target holds {y[unknown].tolist()[0]!r}, which is not among the classes "
                f"{self.classes.tolist()}. Pass every label in classes."
            )
        return codes

    def _hessian(self, X: Any, bend: np.ndarray, w: np.ndarray | None) -> np.ndarray:
        """Sum the Hessian from the curvature of one score, or from the probabilities of several."""
        if self.columns is not None:
            X = X[:, self.columns]
        if len(self.weights) == 1:
            return _weighted_gram(X, bend if w is None else w * bend, intercept=self.fit_intercept)
        n_outputs, size = bend.shape[1], X.shape[1] + self.fit_intercept
        total = np.zeros((n_outputs, size, n_outputs, size))
        for k in range(n_outputs):
            for j in range(k + 1):
                # Between classes the curvature is -p_k p_j; the sign comes below, since the
                # weighted products take roots.
                v = bend[:, k] * (1.0 - bend[:, k] if j == k else bend[:, j])
                if w is not None:
                    v *= w
                block = _weighted_gram(X, v, intercept=self.fit_intercept)
                total[k, :, j, :] = block if j == k else -block
                total[j, :, k, :] = total[k, :, j, :]
        return total.reshape(n_outputs * size, n_outputs * size)


def _weighted_gram(X: Any, v: np.ndarray, *, intercept: bool) -> np.ndarray:
    """Return X' diag(v) X, bordered by the column of ones if there is an intercept."""
    d = X.shape[1]
    gram = np.zeros((d + intercept, d + intercept))
    root = np.sqrt(v)
    if sparse.issparse(X):
        rows = sparse.diags_array(root) @ X
        gram[:d, :d] = (rows.T @ rows).toarray()
    else:
        step = max(1, _PIECE // max(1, d))
        order: Any = "F" if X.flags.f_contiguous else "C"  # that of chosen columns is "F"
        scratch = np.empty((min(step, len(v)), d), order=order)
        for i in range(0, len(v), step):
            piece = scratch[: min(step, len(v) - i)]
            np.multiply(X[i : i + step], root[i : i + step, None], out=piece)
            gram[:d, :d] += piece.T @ piece
    if intercept:
        gram[:d, d] = gram[d, :d] = X.T @ v
        gram[d, d] = v.sum()
    return gram


def _lead(scores: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return by how much each row's own score exceeds the best other."""
    rows = np.arange(len(y))
    others = scores.copy()
    others[rows, y] = -np.inf
    return scores[rows, y] - others.max(axis=1)
