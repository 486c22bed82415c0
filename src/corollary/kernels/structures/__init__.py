"""Kernels on strings, graphs and distributions."""
