"""Kernels on vectors."""
