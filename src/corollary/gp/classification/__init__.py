"""Gaussian processes of log odds, by Laplace's approximation."""
