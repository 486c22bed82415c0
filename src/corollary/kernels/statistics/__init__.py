"""What kernels tell of samples, and what samples tell of kernels."""
