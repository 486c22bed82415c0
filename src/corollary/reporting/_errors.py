"""What can go wrong for a user of the report, by kind."""

#: Exit code of the command line by kind of failure.
EXIT_CODES = {
    "fault": 1,
    "usage": 2,
    "data": 3,
    "target": 4,
    "output": 5,
    "model": 6,
    "interrupted": 130,
}


class ReportError(Exception):
    """A failure that the user can mend, with a message that says how.

    Parameters
    ----------
    kind : {"usage", "data", "target", "output", "model"}
        What is at fault: how the command was called, the data file, the target column, the place
        to write to, or the model file.
    message : str
        What is required, what was found, how to repair it.

    Examples
    --------
    >>> from corollary.reporting import ReportError
    >>> ReportError("data", "The file is empty.").exit_code
    3
    """

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message

    def __reduce__(self) -> tuple[type, tuple[str, str]]:
        return type(self), (self.kind, self.message)

    @property
    def exit_code(self) -> int:
        """Exit code of the command line for this kind of failure."""
        return EXIT_CODES[self.kind]
