"""Kernels from kernels: each rule keeps the Gram matrix positive semi-definite."""
