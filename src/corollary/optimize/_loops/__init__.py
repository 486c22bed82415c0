"""Compiled loops of the solvers."""
