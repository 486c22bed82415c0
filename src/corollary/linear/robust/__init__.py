"""Regression that rows far off cannot turn."""
