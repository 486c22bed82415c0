"""Training by gradients: one compiled loop for every model that JAX can differentiate.

:func:`train` runs whole epochs inside one compiled program, with early stopping, checkpoints and
resumption; rows are drawn in batches of a fixed size, so that few shapes are compiled.
"""

from corollary.core.training._steps import weighted_mean
from corollary.core.training.batches import Batches, bucket, draw_batches, pad_rows
from corollary.core.training.checkpoint import (
    Checkpoint,
    match_arrays,
    read_checkpoint,
    write_checkpoint,
)
from corollary.core.training.loop import Fall, TrainResult, train

__all__ = [
    "Batches",
    "Checkpoint",
    "Fall",
    "TrainResult",
    "bucket",
    "draw_batches",
    "match_arrays",
    "pad_rows",
    "read_checkpoint",
    "train",
    "weighted_mean",
    "write_checkpoint",
]
