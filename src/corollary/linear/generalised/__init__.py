"""Generalised linear models: counts, positive amounts, and what lies between them."""
