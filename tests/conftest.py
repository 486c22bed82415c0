"""Fixtures and settings for every test."""

import hashlib
import os
import pathlib
import tempfile

import pytest

SOURCE = pathlib.Path(__file__).parents[1] / "src" / "corollary"


def _source_hash() -> str:
    digest = hashlib.sha256()
    for path in sorted(SOURCE.rglob("_*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


# Numba does not notice a change in a function of another file, so compiled code is kept in a
# folder named after the kernels' content: any change starts from an empty cache.
os.environ.setdefault(
    "NUMBA_CACHE_DIR",
    str(pathlib.Path(tempfile.gettempdir()) / f"corollary-test-numba-{_source_hash()}"),
)
os.environ.setdefault("JAX_PLATFORMS", "cpu")


def pytest_configure(config):
    from hypothesis import settings

    # derandomize: the same examples every day; no deadline: compilation counts as time.
    settings.register_profile("house", derandomize=True, deadline=None, max_examples=30)
    settings.load_profile("house")


@pytest.fixture
def seed() -> int:
    """Seed of this run: 42, or COROLLARY_SEED; a test must hold for every value of it."""
    return int(os.environ.get("COROLLARY_SEED", "42"))
