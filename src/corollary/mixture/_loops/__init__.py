"""Compiled loops of mixtures."""
