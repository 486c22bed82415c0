"""Compiled loops of linear models."""
