"""The report's sections, in the order of reading.

A section is one small module: ``build(evidence)`` turns what was measured into a dictionary of
plain values, or None if there is nothing to show, and a template of the same name turns the
dictionary into HTML. The same dictionaries are the JSON summary.
"""

from collections.abc import Callable
from typing import Any

from corollary.reporting._records import Evidence
from corollary.reporting.page.sections import _calibration as calibration
from corollary.reporting.page.sections import _certificate as certificate
from corollary.reporting.page.sections import _data as data
from corollary.reporting.page.sections import _errors as errors
from corollary.reporting.page.sections import _limits as limits
from corollary.reporting.page.sections import _models as models
from corollary.reporting.page.sections import _new_data as new_data
from corollary.reporting.page.sections import _reproduce as reproduce
from corollary.reporting.page.sections import _why as why

Builder = Callable[[Evidence], dict[str, Any] | None]

# Name -> (heading, builder); later methods add their sections here.
SECTIONS: dict[str, tuple[str, Builder]] = {
    "data": ("The data", data.build),
    "models": ("Models compared", models.build),
    "certificate": ("Certificate", certificate.build),
    "calibration": ("Calibration", calibration.build),
    "errors": ("Errors", errors.build),
    "why": ("Why", why.build),
    "new_data": ("New data", new_data.build),
    "reproduce": ("Reproduce", reproduce.build),
    "limits": ("Limits", limits.build),
}
