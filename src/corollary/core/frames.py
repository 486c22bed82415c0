"""Data frames of any library in one way: narwhals reads them all.

pandas, polars, pyarrow, Modin and cuDF are wrapped as they are; lazy frames (polars, DuckDB, Dask,
Ibis) are collected.
"""

from typing import Any

import numpy as np


def as_frame(X: Any) -> Any:
    """Wrap a data frame as narwhals' ``DataFrame``; None if X is none.

    Examples
    --------
    >>> import pandas as pd
    >>> from corollary.core.frames import as_frame
    >>> as_frame(pd.DataFrame({"size": [1, 2], "colour": ["red", "blue"]}))[:, 1].to_list()
    ['red', 'blue']
    >>> as_frame([[1, 2]]) is None
    True
    """
    import narwhals.stable.v2 as nw

    # Asked of the class: a lazy frame would compute its columns, and arrays are most frequent.
    if not hasattr(type(X), "columns"):
        return None
    frame = nw.from_native(X, pass_through=True)
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    return frame if isinstance(frame, nw.DataFrame) else None


def set_columns(frame: Any, columns: dict[int, np.ndarray]) -> Any:
    """Replace columns, given by position, and return a frame of the user's library."""
    import narwhals.stable.v2 as nw

    names = frame.columns
    changed = [
        nw.new_series(names[j], values, nw.Float64, backend=frame.implementation)
        for j, values in columns.items()
    ]
    return frame.with_columns(*changed).to_native()


def as_pandas(X: Any) -> Any:
    """Turn a data frame of another library into one of pandas; leave anything else as it is.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from corollary.core.frames import as_pandas
    >>> as_pandas(pa.table({"size": [1, 2]}))
       size
    0     1
    1     2
    """
    import pandas as pd

    frame = None if isinstance(X, pd.DataFrame) else as_frame(X)
    return X if frame is None else frame.to_pandas()
