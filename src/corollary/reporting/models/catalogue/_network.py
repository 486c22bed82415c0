"""Small neural networks, several of them averaged."""

from typing import Any

import numpy as np

from corollary.reporting.models._candidates import Situation, register_candidate

#: Networks see at most this many rows, drawn at random, and are not tried beyond this many
#: features: they would take minutes.
NETWORK_ROWS, NETWORK_FEATURES = 50_000, 1_000
#: On fewer rows a Gaussian process takes their place: it needs no rows to stop by.
FEWEST_ROWS = 500


def _wants_networks(situation: Situation) -> bool:
    return not situation.fast and situation.n > FEWEST_ROWS and situation.d <= NETWORK_FEATURES


def _network_shape(situation: Situation) -> dict[str, Any]:
    """Choose depth, weight decay and batches by the number of rows: more bear more freedom.

    Noisy steps help small tables; large ones need fewer, larger steps to be fast.
    """
    n = situation.n
    return {
        "hidden_layer_sizes": (64, 64) if n >= 2_000 else (100,),
        "alpha": 0.0,
        "weight_decay": float(min(1.0, 300.0 / n)),
        "batch_size": 32 if n <= 2048 else 64 if n <= 8192 else 128 if n <= 32768 else 256,
        "learning_rate_init": 0.003,
        "max_iter": 1000,
        "standardize": True,
        "n_members": 5,
        "early_stopping": "loss",
        "n_iter_no_change": "auto",
        "random_state": situation.seed,
    }


def _network_rows(situation: Situation) -> Any:
    """Choose the rows a network sees: all, or as many as it can in seconds."""
    if situation.n <= NETWORK_ROWS:
        return slice(None)
    rng = np.random.default_rng(situation.seed)
    return np.sort(rng.permutation(situation.n)[:NETWORK_ROWS])


_NETWORK = (
    "Average of five small networks, each stopped early by rows it holds out (of at most 50,000)"
)


@register_candidate(
    "network",
    "neural network",
    f"{_NETWORK}.",
    tasks=("classification",),
    applies=_wants_networks,
    settings=("n_iter_",),
    learnt=("coefs_", "intercepts_"),
    article="a",
)
def _network_classifier(situation: Situation, X: np.ndarray, y: np.ndarray) -> Any:
    from corollary.neural import MLPClassifier

    rows = _network_rows(situation)
    return MLPClassifier(**_network_shape(situation)).fit(X[rows], y[rows])


@register_candidate(
    "network",
    "neural network",
    f"{_NETWORK}.",
    tasks=("regression",),
    applies=lambda s: _wants_networks(s) and not s.log,
    settings=("n_iter_",),
    learnt=("coefs_", "intercepts_"),
    article="a",
)
@register_candidate(
    "network-log",
    "neural network of the logarithm",
    f"{_NETWORK}, fitted to the logarithm of the target.",
    tasks=("regression",),
    applies=_wants_networks,
    log=True,
    settings=("n_iter_",),
    learnt=("coefs_", "intercepts_"),
    article="a",
)
def _network_regressor(situation: Situation, X: np.ndarray, y: np.ndarray) -> Any:
    from corollary.neural import MLPRegressor

    rows = _network_rows(situation)
    return MLPRegressor(**_network_shape(situation)).fit(X[rows], y[rows])
