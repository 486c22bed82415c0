"""Pictures: the one place that asks for Matplotlib, which is an optional extra."""

from typing import Any


def axes_for(ax: Any = None, **options: Any) -> Any:
    """Return the axes to draw on."""
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            "Pictures need Matplotlib, which is not installed. Install it with "
            "pip install 'corollary[plot]'."
        ) from error
    return plt.subplots(**options)[1]
