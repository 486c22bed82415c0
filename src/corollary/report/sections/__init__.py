"""The report's sections, in the order of reading.

A section is one small module: ``build(evidence)`` turns what was measured into a dictionary of
plain values, or None if there is nothing to show, and a template of the same name turns the
dictionary into HTML. The same dictionaries are the JSON summary.
"""

from collections.abc import Callable
from typing import Any

from corollary.report.evidence import Evidence
from corollary.report.sections import calibration as calibration
from corollary.report.sections import certificate as certificate
from corollary.report.sections import data as data
from corollary.report.sections import errors as errors
from corollary.report.sections import limits as limits
from corollary.report.sections import models as models
from corollary.report.sections import new_data as new_data
from corollary.report.sections import reproduce as reproduce
from corollary.report.sections import verdict as verdict
from corollary.report.sections import why as why

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
