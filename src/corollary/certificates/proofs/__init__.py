"""One file per theorem, or for several that share a proof; each registers its theorems.

All files of this folder and of folders in it are imported. In which order theorems are listed is
stated in ``certificates/_order.py``, whatever was imported first.
"""

from importlib import import_module
from pkgutil import walk_packages

for _file in walk_packages(__path__, f"{__name__}."):
    import_module(_file.name)
