"""Boosting of rows that are in blocks on the disk or on a cluster."""
