"""Compiled loops of the support vector machines."""
