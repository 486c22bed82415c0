"""Which rows are left out: whole units, later rows, stretches of time."""
