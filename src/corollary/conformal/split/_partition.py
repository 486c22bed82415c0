"""What a partition of rows is."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from corollary.conformal._fitting import Rows


class Partition(ABC):
    """A way to name the group of each row."""

    @abstractmethod
    def groups(self, rows: Rows) -> Any:
        """Return the group of each row."""


def groups_of(partition: Partition | Callable[[Any], Any], rows: Rows) -> Any:
    """Return the group of each row under a partition or a function of the inputs."""
    return partition.groups(rows) if isinstance(partition, Partition) else partition(rows.X)
