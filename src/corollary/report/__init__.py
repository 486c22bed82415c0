"""The main job: from a table to a report that answers five questions.

How good is the model, how sure of each prediction, how wrong at worst, why, and still true on new
data? :func:`report` reads a table, trains and compares models, calibrates, certifies and explains
the chosen one, and writes one self-contained page, the same content as JSON, and a model file.

Measuring (:func:`measure`) and rendering are separate: :class:`Evidence` is all that passes from
one to the other. Other models take part through :func:`register_candidate`.
"""

from corollary.report.calibration import IntervalCalibration as IntervalCalibration
from corollary.report.calibration import SetCalibration as SetCalibration
from corollary.report.candidates import register_candidate as register_candidate
from corollary.report.catalogue import MODULES as _MODULES  # noqa: F401
from corollary.report.errors import ReportError as ReportError
from corollary.report.evidence import Evidence as Evidence
from corollary.report.margins import MarginClassifier as MarginClassifier
from corollary.report.model import ReportModel as ReportModel
from corollary.report.pipeline import measure as measure
from corollary.report.predict import load_model as load_model
from corollary.report.predict import predict_file as predict_file
from corollary.report.predictor import Predictor as Predictor
from corollary.report.read import Table as Table
from corollary.report.read import from_memory as from_memory
from corollary.report.read import read_demo as read_demo
from corollary.report.read import read_table as read_table
from corollary.report.write import Report as Report
from corollary.report.write import report as report
