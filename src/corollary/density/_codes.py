"""The numbers by which loops know kernels."""

GAUSSIAN, EXPONENTIAL, TOPHAT, EPANECHNIKOV, LINEAR, COSINE = range(6)
