"""Under construction."""

from corollary.report.errors import ReportError as ReportError
