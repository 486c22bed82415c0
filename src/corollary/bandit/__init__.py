"""Choosing among arms when only the chosen one is seen."""
