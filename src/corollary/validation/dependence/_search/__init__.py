"""Candidates for units, found in the columns of a table without a model."""
