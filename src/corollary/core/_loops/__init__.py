"""Compiled loops of core."""
