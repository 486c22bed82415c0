"""Methods for differentiable functions."""
