"""Principal components, of features and of kernels."""
