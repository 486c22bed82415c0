"""Sums of kernels as densities."""
