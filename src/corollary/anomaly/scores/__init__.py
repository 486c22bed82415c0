"""Scores of anomalies as frozen objects."""
