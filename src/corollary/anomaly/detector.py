"""AnomalyDetector: how unusual rows are, with a p-value, and which columns make them so."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, replace
from numbers import Real
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from corollary.anomaly._calibrated import CalibratedScores, checked_weights
from corollary.anomaly._preparation import Preparation, is_mixed
from corollary.anomaly._rows import Rows
from corollary.anomaly.discoveries import Discoveries
from corollary.anomaly.measures import score_threshold
from corollary.anomaly.scores._base import Score
from corollary.anomaly.scores.distances import ClusterDistance, Reconstruction
from corollary.anomaly.scores.gaussian import Mahalanobis, PCAMixture
from corollary.anomaly.scores.model import ModelScore
from corollary.anomaly.tail import tail_p_values
from corollary.conformal import conformal_p_values, weighted_selection
from corollary.core.compat import Interval, fit_context, safe_indexing
from corollary.core.estimator import (
    CountFromTwo,
    Probability,
    RandomSeed,
    check_squares,
    checked,
    fitted,
    read_source,
    remember_rows,
    without_memory,
)
from corollary.core.schema import Array, Instance, Nullable
from corollary.core.summary import Moments
from corollary.density import KernelDensity
from corollary.svm import OneClassSVM

_NAMED: dict[str, Score] = {
    "mixture": PCAMixture(),
    "pca-mixture": PCAMixture(residual=False),
    "mahalanobis": Mahalanobis(),
    "reconstruction": Reconstruction(),
    "clusters": ClusterDistance(),
    "density": ModelScore(KernelDensity(bandwidth="scott")),
    "one-class": ModelScore(OneClassSVM(nu=0.1, tol=1e-6)),
}
_Name = Literal[
    "mixture", "pca-mixture", "mahalanobis", "reconstruction", "clusters", "density", "one-class"
]
_CalibrationShare = Annotated[float, Interval(Real, 0, 1, closed="left")]


class AnomalyDetector(CalibratedScores):
    """Tell how unusual rows are, how sure that is, and which columns make them so.

    Some of the training rows fit a score, the others calibrate it: a new row's p-value is the share
    of calibration rows, and of itself, that score as high. No share of anomalies need be guessed.

    Parameters
    ----------
    measure : {"mixture", "pca-mixture", "mahalanobis", "reconstruction", "clusters", "density", \
            "one-class"} or score, default="mixture"
        How unusual a row is: "mixture" is :class:`PCAMixture`, a density on the leading directions
        times one across them; "pca-mixture" the former alone, blind to what happens across them;
        "reconstruction" (:class:`Reconstruction`) the latter. "mahalanobis"
        (:class:`Mahalanobis`) and "clusters" (:class:`ClusterDistance`) say what they are;
        "density" and "one-class" are a kernel density and a one-class machine
        (:class:`ModelScore`). An object has settings.
    contamination : float or "auto", default="auto"
        What :meth:`predict` calls without a level: "auto" rows that normal ones rarely equal, by
        ``false_alarm_rate``; a number that share of the training rows.
    false_alarm_rate : float, default=0.05
        Share of normal new rows that :meth:`predict` may call, if ``contamination="auto"``.
    calibration_size : float, default=0.5
        Share of the training rows that calibrate; with 0 all fit, and :meth:`calibrate` comes next.
    standardize : bool, default=True
        Whether columns are centred and divided by their standard deviations first.
    random_state : int, RandomState instance or None, default=None
        Deals rows to the two parts, and starts mixtures and clusters.

    Attributes
    ----------
    measure_ : score
        The fitted score.
    encoder_ : TableEncoder or None
        Makes numbers of tables that are not numbers.
    centre_, scale_ : ndarray of shape (n_encoded,)
        What is subtracted from the encoded columns, and what they are divided by then.
    mean_, covariance_ : ndarray of shape (n_encoded,) and (n_encoded, n_encoded)
        Those of the columns in these units, by which missing values are filled.
    calibration_indices_ : ndarray of shape (n_calibration,)
        Training rows that calibrate.
    calibration_scores_, calibration_weights_ : ndarray of shape (n_calibration,)
        Their scores, large for unusual rows, and their weights, if there are any.
    offset_ : float
        ``decision_function = score_samples - offset_``; minus infinity if calibration rows are too
        few for the rate of false alarms, so that no row is called.

    Notes
    -----
    Guarantee: the p-value of a new row that is exchangeable with the calibration rows is at most u
    with probability at most u; of rows called by ``predict(X, level=q)`` an expected share of at
    most q are normal. Checked by ``tests/guarantees/anomaly.py``. Both are about new rows: training
    rows have :meth:`fit_discover`. Weights are taken for counts of independent rows that are equal;
    the same row, repeated, makes p-values too small.

    Data frames with columns that are not numbers are encoded by
    :class:`corollary.representation.TableEncoder`. Missing numbers are filled by their conditional
    mean given the row's other columns, under a Gaussian that is fitted to what is there.

    References
    ----------
    Bates, S., Candes, E., Lei, L., Romano, Y. and Sesia, M. (2023). Testing for outliers with
    conformal p-values. Annals of Statistics 51.

    Examples
    --------
    >>> import numpy as np
    >>> from corollary.anomaly import AnomalyDetector
    >>> X = np.random.default_rng(0).normal(size=(400, 3))
    >>> model = AnomalyDetector(random_state=0).fit(X)
    >>> model.p_values([[0.0, 0.0, 0.0], [0.0, 6.0, 0.0]]).round(3)
    array([0.985, 0.005])
    >>> model.predict([[0.0, 0.0, 0.0], [0.0, 6.0, 0.0]], level=0.1)
    array([ 1, -1])
    >>> int(model.contributions([[0.0, 6.0, 0.0]]).argmax())
    1
    """

    measure: _Name | Score = "mixture"
    _: KW_ONLY
    calibration_size: _CalibrationShare = 0.5
    standardize: bool = True
    random_state: RandomSeed = None

    measure_: Score = fitted(Instance("scores", "contributions"))
    encoder_: Any = fitted(Nullable(Instance("transform", "transform_column")))
    centre_: np.ndarray = fitted(Array("f", "e"))
    scale_: np.ndarray = fitted(Array("f", "e", low=np.finfo(float).tiny))
    mean_: np.ndarray = fitted(Array("f", "e"))
    covariance_: np.ndarray = fitted(Array("f", "e", "e"))

    _rows: ClassVar[dict[str, Any]] = {"ensure_all_finite": "allow-nan"}

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the score to some of the rows and calibrate it on the others.

        X is an array or a data frame of rows, most of them normal; NaN is missing. A row of weight
        k counts like k equal rows; y is not used. See :class:`AnomalyDetector`.
        """
        mixed = is_mixed(X)
        if mixed:
            validate_data(self, X, skip_check_array=True)
            sample_weight = checked_weights(sample_weight, X)
        else:
            X, _, sample_weight = self._check(X, None, sample_weight)
        random = check_random_state(self.random_state)
        n = X.shape[0]
        used = np.arange(n) if sample_weight is None else np.flatnonzero(sample_weight > 0)
        n_calibration = int(self.calibration_size * len(used) + 1e-9)
        if len(used) - n_calibration < 2:
            raise ValueError(
                "AnomalyDetector needs at least 2 rows of positive weight to fit its score, beside "
                f"those that calibrate. Got n_samples={len(used)}, of which {n_calibration} "
                "calibrate; give more rows, or a smaller calibration_size."
            )
        indices = np.sort(random.permutation(used)[:n_calibration])
        rows = np.setdiff1d(np.arange(n), indices, assume_unique=True)
        part, weight, weights = safe_indexing(X, rows), None, None
        if sample_weight is not None:
            weight, weights = sample_weight[rows], sample_weight[indices]
        how = {"mixed": mixed, "standardize": self.standardize}
        self._preparation = preparation = Preparation.learn(part, weight, **how)
        prepared = preparation.rows(part)
        check_squares(self, prepared)
        self.measure_ = self._score().fit(Rows.of(prepared, weight), random)
        if mixed:
            remember_rows(self, prepared)
        scores = np.empty(0)
        if n_calibration:
            scores = self.measure_.scores(preparation.rows(safe_indexing(X, indices)))
        self._calibrate(scores, weights, indices)
        if self.contamination != "auto":
            scores = self.measure_.scores(preparation.rows(X))
            self.offset_ = -score_threshold(scores, self.contamination, sample_weight=sample_weight)
        return self

    @fit_context(prefer_skip_nested_validation=True)
    def fit_source(
        self,
        data: Any,
        *,
        columns: Sequence[str] | None = None,
        sample_weight: str | None = None,
        n_jobs: int | None = None,
    ) -> Self:
        """Fit the score to data that need not fit in memory; :meth:`calibrate` comes next.

        The score has the bits of ``fit`` with ``calibration_size=0``. Scores by kernels need all
        rows in memory. See :func:`corollary.core.summary.open_source` for data, which are read
        several times; columns hold numbers, and ``sample_weight`` is the name of one of them. The
        first pass takes ``n_jobs`` threads, on which the result does not depend.
        """
        names: Any = {"columns": columns, "sample_weight": sample_weight, "n_jobs": n_jobs}
        how: Any = {"several_passes": True, "supervised": False}
        source, moments = read_source(
            self, data, lambda source: Moments.of_width(source.n_features), **names, **how
        )
        random = check_random_state(self.random_state)
        random.permutation(moments.n_rows)  # so that seeds are those of `fit`
        self._preparation = Preparation.of_moments(moments, standardize=self.standardize)
        rows = Rows(source, moments.weight).map(self._preparation.rows)
        self.measure_ = self._score().fit(rows, random)
        self._calibrate(np.empty(0))
        if self.contamination != "auto":
            parts = [(self.measure_.scores(X), *others) for X, *others in rows]
            scores, weights = np.concatenate([part[0] for part in parts]), None
            if len(parts[0]) > 1 and parts[0][-1] is not None:
                weights = np.concatenate([part[-1] for part in parts])
            self.offset_ = -score_threshold(scores, self.contamination, sample_weight=weights)
        return self

    def score_samples(self, X: Any) -> np.ndarray:
        """Return minus the scores of rows X, low for unusual ones; NaN is missing."""
        X = self._prepared(X)
        return -self.measure_.scores(X)

    @checked
    def discover(
        self,
        X: Any,
        *,
        level: Probability = 0.1,
        density_ratio: Any = None,
        calibration_ratio: Any = None,
    ) -> Discoveries:
        """Find the unusual ones of new rows, which are judged together.

        The ``level`` is the expected share of normal rows among those called, at most. The other
        parameters are those of ``p_values``; with ratios, rows are called by
        :func:`corollary.conformal.weighted_selection`. See :class:`Discoveries`, which also say how
        many calibration rows are missing.
        """
        scores, old = -self.score_samples(X), self.calibration_scores_
        counts = self._counts(density_ratio, calibration_ratio)
        p_values = conformal_p_values(old, scores, **counts)
        (least,) = conformal_p_values(old, [np.inf], weights=self.calibration_weights_)
        chosen = None
        if density_ratio is not None:
            chosen = weighted_selection(old, scores, level, **counts)
        return Discoveries(scores, p_values, level, len(old), float(least), chosen=chosen)

    @checked
    def predict(self, X: Any, *, level: Probability | None = None) -> np.ndarray:
        """Return 1 for normal rows and -1 for unusual ones.

        Without a level each row is called by itself, by the threshold ``offset_``. A level calls
        rows together, such that in expectation at most that share of the called ones is normal.
        See :class:`AnomalyDetector`.
        """
        if level is None:
            decision = self.decision_function(X)
            if self.offset_ == -np.inf:
                self._warn_of_few_rows()
            return np.where(decision >= 0, 1, -1)
        return np.where(self.discover(X, level=level).called, -1, 1)

    @checked
    def fit_discover(
        self, X: Any, *, level: Probability = 0.1, cv: CountFromTwo = 5
    ) -> Discoveries:
        """Fit to rows X, and find the unusual ones of these very rows.

        Every row is scored by a model of the other folds. Ranks among themselves cannot call rows
        of a table; :func:`tail_p_values` assumes in addition that the distances of normal rows have
        a hazard rate that does not fall. Where the rows refute that, none is called. Up to a tenth
        of the rows may be unusual; of those called an expected share of at most ``level`` are
        normal. See :class:`Discoveries`; ``cv`` is the number of folds.

        Notes
        -----
        Few rows hardly refute anything: of 200 rows of Student's law with 3 degrees of freedom, one
        or more are called in seven tables of ten at level 0.1, and rare levels of an indicator are
        called as they are. A row that its own model has not seen lies a little farther from it than
        the others do: where the rate is constant, as for one Laplace column, a row is called in up
        to a fifth of the tables at level 0.1; Gaussian columns have room for that.
        """
        self._validate_params()
        self.fit(X)
        random = check_random_state(self.random_state)
        n = self._prepared(X).shape[0]
        folds = random.permutation(n) % min(cv, n)
        scores = np.empty(n)
        for fold in range(min(cv, n)):
            model = clone(self).set_params(calibration_size=0.0)
            with without_memory():
                model.fit(safe_indexing(X, np.flatnonzero(folds != fold)))
            inside = np.flatnonzero(folds == fold)
            scores[inside] = -model.score_samples(safe_indexing(X, inside))
        distances = np.sqrt(scores - scores.min()) if self.measure_.squared else scores
        p_values, assumption = tail_p_values(distances)
        judged = Discoveries(scores, p_values, level, n, 0.0, assumption=assumption)
        if not judged.refuted:
            return judged
        ranks = conformal_p_values(scores, scores) - 1 / (n + 1)
        return replace(judged, p_values=np.minimum(1.0, ranks * (n + 1) / n), least=1 / n)

    def contributions(self, X: Any) -> np.ndarray:
        """Return what each column adds to the score of each row, of shape (n_samples, n_features).

        For densities of Gaussians, distances and reconstruction errors it is an exact split: what a
        row's contributions do not sum to is the height of the density, for which no column is
        responsible. Scores by kernels have no such split: a column then adds what replacing it by
        its conditional mean takes off. Columns of a table that became several features have their
        sum. See :class:`AnomalyDetector`.
        """
        X = self._prepared(X)
        contributions = self.measure_.contributions(X)
        return self._preparation.by_column(contributions, self.n_features_in_)

    @property
    def _preparation(self) -> Preparation:
        return Preparation(self.encoder_, self.centre_, self.scale_, self.mean_, self.covariance_)

    @_preparation.setter
    def _preparation(self, parts: Preparation) -> None:
        self.encoder_, self.centre_, self.scale_, self.mean_, self.covariance_ = parts

    def _score(self) -> Score:
        return _NAMED[self.measure] if isinstance(self.measure, str) else self.measure

    def _prepared(self, X: Any) -> np.ndarray:
        """Validate rows and prepare them as in training."""
        check_is_fitted(self)
        if self.encoder_ is None:
            return self._preparation.rows(self._new(X))
        validate_data(self, X, skip_check_array=True, reset=False)
        return self._preparation.rows(X)
