"""Estimators whose prediction is a combination of kernels at the training rows."""
