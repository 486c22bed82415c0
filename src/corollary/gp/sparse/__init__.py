"""Sparse Gaussian processes: many rows seen through a few inducing points."""
