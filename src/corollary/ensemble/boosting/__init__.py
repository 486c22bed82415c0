"""Gradient boosting on histograms, of rows in memory or in blocks elsewhere."""
