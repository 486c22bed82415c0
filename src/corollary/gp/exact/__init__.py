"""Exact Gaussian processes: the evidence, the posterior, draws and regression."""
