"""Ordinary least squares and its theory."""
