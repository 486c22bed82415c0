"""Maximise a function and keep every query above a threshold, with stated probability."""
