"""Separating hyperplanes, margins and the perceptron."""
