"""Densities by the gradients of their logarithm."""
