"""Compiled loops of the kernels."""
