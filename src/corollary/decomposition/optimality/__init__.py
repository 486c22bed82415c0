"""Which subspace is best, and why."""
