"""Searches for the nearest rows, and for all rows within a distance."""
