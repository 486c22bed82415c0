"""One file per theorem, or for several that share a proof; each registers its theorems.

All files of this folder are imported. In which order theorems are listed is stated in
``certificates/_order.py``, whatever was imported first.
"""

from importlib import import_module
from pkgutil import iter_modules

for _file in iter_modules(__path__):
    import_module(f"{__name__}.{_file.name}")
