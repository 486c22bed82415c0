"""The table of a report: reading it, its columns, its target, what is odd, and the split."""
