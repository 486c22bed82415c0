"""No module any more: :func:`corollary.report` is a function, its parts are in ``reporting``."""

raise ImportError(
    "corollary.report is a function, not a package: call corollary.report(data, target=...), and "
    "import other names of the report from corollary.reporting."
)
