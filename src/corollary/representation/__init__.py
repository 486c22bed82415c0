"""Under construction."""

from corollary.representation.table import TableEncoder as TableEncoder
