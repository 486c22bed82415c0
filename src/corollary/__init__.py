"""Machine learning with its guarantees computed for your own data.

The library is organised by family (``corollary.linear``, ``corollary.neural``, ...); every
estimator follows scikit-learn's contract. Four functions stand at the top because they serve
every family: :func:`report` makes the report of a table, :func:`certify` computes the guarantees
that theory gives a fitted model, and :func:`save` and :func:`load` keep models in files that are
data, never code.

Subpackages are imported on first use, so that ``import corollary`` costs next to nothing.
"""

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0.dev0"

if TYPE_CHECKING:
    from corollary.certificates import certify as certify
    from corollary.core.files import load as load
    from corollary.core.files import save as save
    from corollary.reporting import report as report

# Where each top-level name lives; resolved by __getattr__ (PEP 562).
_HOMES = {
    "certify": "corollary.certificates",
    "load": "corollary.core.files",
    "report": "corollary.reporting",
    "save": "corollary.core.files",
}
_PACKAGES = (
    "active",
    "anomaly",
    "bandit",
    "certificates",
    "cluster",
    "conformal",
    "core",
    "datasets",
    "decomposition",
    "density",
    "ensemble",
    "gp",
    "kernels",
    "linear",
    "mixture",
    "neighbors",
    "neural",
    "online",
    "optimize",
    "reporting",
    "representation",
    "risk",
    "svm",
    "theory",
    "tree",
    "validation",
)

__all__ = ["__version__", *_HOMES, *_PACKAGES]  # noqa: PLE0604


def __getattr__(name: str) -> Any:
    if name in _PACKAGES:
        return importlib.import_module(f"corollary.{name}")
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'corollary' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
