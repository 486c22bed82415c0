"""The models that take part in every report, one file for each kind.

Importing this package registers them, the quickest first. Which of them run is decided by the size
of the data and by ``fast``, never by a clock.
"""

from importlib import import_module

#: The modules whose models are registered, in the order of the comparison.
MODULES = tuple(
    import_module(f"corollary.reporting.models.catalogue._{name}")
    for name in ("linear", "process", "forest", "kernel", "boosting", "network")
)
