"""Compiled forms of losses without the compiler."""

import numpy as np


def check_every_loss():
    from corollary.risk import check_loss, loss_curvature, loss_names, loss_slope, loss_value

    f = np.array([-30.0, -1.5, -0.2, 0.0, 0.4, 1.0, 3.0, 30.0])
    for loss in map(check_loss, loss_names()):
        if loss.code < 0:
            continue
        for y in (1.0,) if loss.name == "poisson" else (-1.0, 1.0):
            for compiled, method in (
                (loss_value, loss.value),
                (loss_slope, loss.slope),
                (loss_curvature, loss.curvature),
            ):
                scalars = [compiled(loss.code, loss.shape, y, float(x)) for x in f]
                assert np.allclose(scalars, method(np.full(f.size, y), f), rtol=1e-13), loss
