"""The models of a report: candidates, their comparison, and the one that is chosen."""
