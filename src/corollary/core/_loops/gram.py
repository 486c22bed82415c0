"""Products of rows that stand side by side in lanes, as sums of squares need them."""

from corollary.core.jit import part


@part
def add_four(line, j, s0, s1, s2, s3):
    """Add four sums to a line."""
    line[j] += s0
    line[j + 1] += s1
    line[j + 2] += s2
    line[j + 3] += s3


@part
def add_products(left, right, out):
    """Add the scalar products of lanes of ``left`` and ``right``: tiles down to the diagonal.

    The number of lines is a multiple of four. Sixteen sums of a tile stay in registers, so that
    numbers are loaded half as often as they are multiplied.
    """
    for i in range(0, len(left), 4):
        for j in range(0, i + 1, 4):
            s00, s01, s02, s03, s10, s11, s12, s13 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
            s20, s21, s22, s23, s30, s31, s32, s33 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
            for b in range(left.shape[1]):
                a0, a1, a2, a3 = left[i, b], left[i + 1, b], left[i + 2, b], left[i + 3, b]
                c0, c1, c2, c3 = right[j, b], right[j + 1, b], right[j + 2, b], right[j + 3, b]
                s00, s01, s02, s03 = s00 + a0 * c0, s01 + a0 * c1, s02 + a0 * c2, s03 + a0 * c3
                s10, s11, s12, s13 = s10 + a1 * c0, s11 + a1 * c1, s12 + a1 * c2, s13 + a1 * c3
                s20, s21, s22, s23 = s20 + a2 * c0, s21 + a2 * c1, s22 + a2 * c2, s23 + a2 * c3
                s30, s31, s32, s33 = s30 + a3 * c0, s31 + a3 * c1, s32 + a3 * c2, s33 + a3 * c3
            add_four(out[i], j, s00, s01, s02, s03)
            add_four(out[i + 1], j, s10, s11, s12, s13)
            add_four(out[i + 2], j, s20, s21, s22, s23)
            add_four(out[i + 3], j, s30, s31, s32, s33)
