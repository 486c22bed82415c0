"""The models that take part in every report, one file for each kind.

Importing this package registers them, the quickest first. Which of them run is decided by the size
of the data and by ``fast``, never by a clock.
"""

from importlib import import_module
from pkgutil import iter_modules

#: From the quickest to the slowest; files that are not named here come after these.
_ORDER = ("_linear", "_process", "_forest", "_kernel", "_boosting", "_network")
_FILES = sorted(
    (module.name for module in iter_modules(__path__)),
    key=lambda name: (_ORDER.index(name) if name in _ORDER else len(_ORDER), name),
)
#: The modules whose models are registered, in the order of the comparison.
MODULES = tuple(import_module(f"{__name__}.{name}") for name in _FILES)
