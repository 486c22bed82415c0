"""Methods that use curvature: Newton, conjugate gradients, quasi-Newton, scaling."""
