"""Powers of two in single precision, for tiles of the RBF kernel."""

import numpy as np

from corollary.core.jit import jit

# 2^x for |x| <= 1/2, relative error below 2^-23 (the coefficients of Cephes' exp2f).
_P1, _P2, _P3 = (
    np.float32(6.931472028550421e-1),
    np.float32(2.402264791363012e-1),
    np.float32(5.550332471162809e-2),
)
_P4, _P5, _P6 = (
    np.float32(9.618437357674640e-3),
    np.float32(1.339887440266574e-3),
    np.float32(1.535336188319500e-4),
)
_ONE, _HALF, _LEAST = np.float32(1.0), np.float32(0.5), np.float32(-126.0)
_BIAS, _MANTISSA = np.int32(127), np.int32(23)


@jit
def powers_of_two(values):
    """Replace exponents, at most zero but for rounding, by powers of two, in single precision.

    The whole part goes into the bits of the exponent, a polynomial does the rest: without calls
    and branches, and so on vector instructions.
    """
    for i in range(values.shape[0]):
        row = values[i]
        for k in range(row.shape[0]):
            x = min(max(row[k], _LEAST), np.float32(0.0))
            whole = np.int32(x - _HALF)
            f = x - np.float32(whole)
            power = f * (_P1 + f * (_P2 + f * (_P3 + f * (_P4 + f * (_P5 + f * _P6)))))
            row[k] = (_ONE + power) * np.int32((whole + _BIAS) << _MANTISSA).view(np.float32)
