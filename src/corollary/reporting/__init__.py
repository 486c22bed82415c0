"""The main job: from a table to a report that answers five questions.

How good is the model, how sure of each prediction, how wrong at worst, why, and still true on new
data? :func:`report` reads a table, trains and compares models, calibrates, certifies and explains
the chosen one, and writes one self-contained page, the same content as JSON, and a model file.

Measuring (:func:`measure`) and rendering are separate: :class:`Evidence` is all that passes from
one to the other. Other models take part through :func:`register_candidate`.
"""

from corollary.core.moved import refuse_moved as _refuse_moved
from corollary.reporting._clock import Stage as Stage
from corollary.reporting._distance import DistanceRule as DistanceRule
from corollary.reporting._errors import ReportError as ReportError
from corollary.reporting._export import as_csv as as_csv
from corollary.reporting._measure import measure as measure
from corollary.reporting._model import ReportModel as ReportModel
from corollary.reporting._predict import load_model as load_model
from corollary.reporting._predict import predict_file as predict_file
from corollary.reporting._promise import Promise as Promise
from corollary.reporting._records import Evidence as Evidence
from corollary.reporting._report import Report as Report
from corollary.reporting._report import report as report
from corollary.reporting.models._candidates import register_candidate as register_candidate
from corollary.reporting.models._predictor import Predictor as Predictor
from corollary.reporting.models.catalogue import MODULES as _MODULES  # noqa: F401
from corollary.reporting.page._schema import json_schema as json_schema
from corollary.reporting.table._read import Table as Table
from corollary.reporting.table._read import from_memory as from_memory
from corollary.reporting.table._read import read_demo as read_demo
from corollary.reporting.table._read import read_table as read_table

__getattr__ = _refuse_moved(
    "corollary.reporting",
    {
        "IntervalCalibration": "corollary.conformal.IntervalCalibration",
        "MarginClassifier": "corollary.svm.CalibratedMachine",
        "SetCalibration": "corollary.conformal.SetCalibration",
    },
)
