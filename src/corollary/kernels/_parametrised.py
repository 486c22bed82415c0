"""Frozen dataclasses whose numbers are a flat vector: what optimisers see of a kernel.

A field is a hyper-parameter if :func:`hyperparameter` declares it; fields that hold kernels
contribute theirs, in the order of the fields.
"""

import dataclasses
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from corollary.core.schema import Array, Number
from corollary.kernels import _arrays as arrays

# What a model file holds for a number, or one for each feature.
SCALE = Number(0) | Array("f", "d", low=0)


def hyperparameter(
    default: Any = dataclasses.MISSING,
    *,
    positive: bool = True,
    low: float | None = None,
    high: float = 1e5,
) -> Any:
    """Declare a field of a kernel that optimisers may change.

    Parameters
    ----------
    default : float or array-like, default=MISSING
        The default of the field; without, the field is required.
    positive : bool, default=True
        Whether the number is positive, and then optimised on the log scale.
    low : float or None, default=None
        Smallest sensible value; None for 1e-5 if positive, else for ``-high``.
    high : float, default=1e5
        Largest sensible value.

    Returns
    -------
    field : dataclasses.Field
        For the body of a frozen dataclass.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from typing import Any
    >>> from corollary.kernels import Linear, hyperparameter
    >>> @dataclass(frozen=True, eq=False)
    ... class Weighted(Linear):
    ...     weight: Any = hyperparameter(2.0)
    ...
    ...     def _of_products(self, products):
    ...         return self.weight * products
    >>> kernel = Weighted(3.0)
    >>> kernel(1.0, 5.0), kernel.parameters().names
    (15.0, ('weight',))
    """
    if low is None:
        low = 1e-5 if positive else -high
    metadata = {"positive": positive, "low": low, "high": high}
    return dataclasses.field(default=default, metadata=metadata)


@dataclass(frozen=True)
class KernelParameters:
    """The hyper-parameters of a kernel as flat vectors."""

    names: tuple[str, ...]  # one for each number, such as "terms[0].length_scale[2]"
    values: np.ndarray  # as the kernel has them
    positive: np.ndarray  # whether a number is positive and optimised on the log scale
    low: np.ndarray  # smallest sensible values
    high: np.ndarray  # largest sensible values

    @property
    def vector(self) -> np.ndarray:
        """The numbers on the scale of :meth:`Kernel.with_parameters`: logarithms if positive."""
        return self._scaled(self.values)

    @property
    def bounds(self) -> np.ndarray:
        """Bounds on the scale of :attr:`vector`, of shape (p, 2)."""
        return np.stack([self._scaled(self.low), self._scaled(self.high)], axis=1)

    def _scaled(self, values: np.ndarray) -> np.ndarray:
        with np.errstate(divide="ignore"):
            return np.where(self.positive, np.log(np.where(self.positive, values, 1.0)), values)


class Parametrised:
    """A frozen dataclass with hyper-parameters; equal to others with the same values."""

    def parameters(self) -> KernelParameters:
        """Return the hyper-parameters as flat vectors.

        Returns
        -------
        parameters : KernelParameters
            ``names``, ``values``, ``positive`` (on the log scale), and sensible values from ``low``
            to ``high``, in the order of :meth:`with_parameters`.
        """
        leaves = list(self._leaves(""))
        return KernelParameters(
            names=tuple(name for name, *_ in leaves),
            values=np.array([value for _, value, _ in leaves], dtype=float),
            positive=np.array([meta["positive"] for *_, meta in leaves], dtype=bool),
            low=np.array([meta["low"] for *_, meta in leaves], dtype=float),
            high=np.array([meta["high"] for *_, meta in leaves], dtype=float),
        )

    def with_parameters(self, vector: Any) -> Self:
        """Return the same kernel with other hyper-parameters.

        Parameters
        ----------
        vector : array of shape (p,)
            One number for each of :meth:`parameters`; logarithms of those that are positive. A
            JAX tracer gives a kernel that can be compiled and differentiated.

        Returns
        -------
        kernel : Kernel
            The kernel.
        """
        if not hasattr(vector, "__array_namespace__"):
            vector = np.asarray(vector, dtype=float)
        needed = sum(1 for _ in self._leaves(""))
        if vector.shape != (needed,):
            raise ValueError(
                f"{type(self).__name__} has {needed} hyper-parameters, and with_parameters needs "
                f"as many. Got an array of shape {vector.shape}."
            )
        kernel, _ = self._rebuilt(vector, 0)
        return kernel

    def _leaves(self, prefix: str) -> Iterator[tuple[str, Any, Any]]:
        for field in dataclasses.fields(self):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            if isinstance(value, Parametrised):
                yield from value._leaves(f"{prefix}{field.name}.")
            elif isinstance(value, tuple) and value and isinstance(value[0], Parametrised):
                for i, part in enumerate(value):
                    yield from part._leaves(f"{prefix}{field.name}[{i}].")
            elif field.metadata:
                if np.ndim(value) == 0:
                    yield f"{prefix}{field.name}", value, field.metadata
                else:
                    for i in range(value.shape[0]):
                        yield f"{prefix}{field.name}[{i}]", value[i], field.metadata

    def _rebuilt(self, vector: Any, at: int) -> tuple[Self, int]:
        changes: dict[str, Any] = {}
        for field in dataclasses.fields(self):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            if isinstance(value, Parametrised):
                changes[field.name], at = value._rebuilt(vector, at)
            elif isinstance(value, tuple) and value and isinstance(value[0], Parametrised):
                parts = []
                for part in value:
                    part, at = part._rebuilt(vector, at)
                    parts.append(part)
                changes[field.name] = tuple(parts)
            elif field.metadata:
                size = 1 if np.ndim(value) == 0 else value.shape[0]
                new = vector[at] if np.ndim(value) == 0 else vector[at : at + size]
                if field.metadata["positive"]:
                    new = vector.__array_namespace__().exp(new)
                changes[field.name], at = new, at + size
        return dataclasses.replace(self, **changes), at  # type: ignore[type-var]

    def _settle(
        self, name: str, *, vector: bool = False, low: float = 0.0, strict: bool = True
    ) -> None:
        """Check a parameter and store it as a float or a read-only array; leave tracers alone."""
        value = getattr(self, name)
        if arrays.is_traced(value):
            return
        try:
            number = np.asarray(value, dtype=np.float64)
        except (TypeError, ValueError):
            number = np.asarray(np.nan)
        fits = number.ndim == 0 or (vector and number.ndim == 1 and number.size)
        good = number > low if strict else number >= low
        if isinstance(value, bool) or not fits or not (np.isfinite(number) & good).all():
            sign, end = ("(", low) if strict else ("[", low)
            start = "(-inf" if math.isinf(low) else f"{sign}{end}"
            raise ValueError(
                f"The {name!r} parameter of {type(self).__name__} must be a float in the range "
                f"{start}, inf){' or one for each feature' if vector else ''}. "
                f"Got {value!r} instead."
            )
        if number.ndim:
            number = number.copy()
            number.flags.writeable = False
        object.__setattr__(self, name, number if number.ndim else float(number))

    def __eq__(self, other: object) -> bool:
        if self.__class__ is not other.__class__:
            return NotImplemented
        return all(
            _equal(getattr(self, f.name), getattr(other, f.name))
            for f in dataclasses.fields(self)  # type: ignore[arg-type]
        )

    def __hash__(self) -> int:
        values = (getattr(self, f.name) for f in dataclasses.fields(self))  # type: ignore[arg-type]
        keys = (v.tobytes() if isinstance(v, np.ndarray) else v for v in values)
        return hash((type(self), *keys))


def _equal(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return np.shape(a) == np.shape(b) and bool(np.all(np.asarray(a) == np.asarray(b)))
    return bool(a == b)


def check_whole(who: str, name: str, value: Any, low: int) -> None:
    """Refuse what is not a whole number of at least ``low``."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < low:
        raise ValueError(
            f"The {name!r} parameter of {who} must be an int in the range [{low}, inf). "
            f"Got {value!r} instead."
        )
