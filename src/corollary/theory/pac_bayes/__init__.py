"""Bounds for distributions over hypotheses, and the identities behind them."""
