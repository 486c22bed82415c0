"""Nearest neighbours and what they promise."""
