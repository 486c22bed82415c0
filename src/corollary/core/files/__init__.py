"""Model files: models are saved as data and loaded without trust.

:func:`save` and :func:`load` are also the library's own (``corollary.save``); the schema that a
loaded object must fit is declared with the words of :mod:`corollary.core.schema`.
"""

from corollary.core.files.atomic import atomic_write
from corollary.core.files.container import SIGNATURE, ModelFileError, pack, unpack
from corollary.core.files.persist import load, public_name, save
from corollary.core.files.pipe import spooled

__all__ = [
    "SIGNATURE",
    "ModelFileError",
    "atomic_write",
    "load",
    "pack",
    "public_name",
    "save",
    "spooled",
    "unpack",
]
