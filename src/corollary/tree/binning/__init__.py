"""Bins of columns and codes of categories."""
