"""Logistic and softmax regression."""
