"""The quadratic program of kernel machines: its solver, two classes, path and leave-one-out."""
