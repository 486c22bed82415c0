"""Penalties by powers of the coefficients, between best subsets and ridge."""
