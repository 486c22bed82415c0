"""What kernels that hold other kernels share."""

from typing import Any

from corollary.core.schema import Instance
from corollary.kernels.base import Kernel

KERNEL = Instance("gram")


def check_part(who: str, name: str, value: Any) -> None:
    """Refuse a part that is no kernel."""
    if not isinstance(value, Kernel):
        raise TypeError(f"The {name!r} parameter of {who} must be a Kernel. Got {value!r} instead.")


class Wrapper(Kernel):
    """A kernel made of one other kernel."""

    kernel: Kernel

    def __post_init__(self) -> None:
        check_part(type(self).__name__, "kernel", self.kernel)

    @property
    def positive_semidefinite(self) -> bool:  # type: ignore[override]
        """Whether the kernel inside is."""
        return self.kernel.positive_semidefinite

    @property
    def stationary(self) -> bool:  # type: ignore[override]
        """Whether the kernel inside is."""
        return self.kernel.stationary

    def _single(self, x: Any) -> Any:
        return self.kernel._single(x)

    def _prepare(self, X: Any, Y: Any) -> tuple[Any, Any]:
        return self.kernel._prepare(X, Y)

    def _evaluate(self, P: Any, Q: Any, same: bool) -> Any:
        return self.kernel._evaluate(P, Q, same)

    def _diag(self, P: Any) -> Any:
        return self.kernel._diag(P)
