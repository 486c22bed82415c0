"""Probabilities that mean what they say: scores of held-out rows are mapped to frequencies."""
