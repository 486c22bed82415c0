"""Fixtures and settings for every test."""

import gc
import linecache
import os
import sys
import tempfile

import pytest

os.environ.setdefault("JAX_PLATFORMS", "cpu")
# Networks of the same shape are compiled once for all test processes, not once in each.
os.environ.setdefault(
    "JAX_COMPILATION_CACHE_DIR", os.path.join(tempfile.gettempdir(), "corollary-test-jax")
)
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0.1")
# Tests compile many small programs and run each for moments: XLA spends half its time on making
# them fast. `make verify` runs what users run.
os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0")
#: Names of all tests that pytest found, those that it will not run included.
COLLECTED = pytest.StashKey[set[str]]()


def pytest_configure(config):
    from hypothesis import settings

    # derandomize: the same examples every day; no deadline: compilation counts as time.
    settings.register_profile("house", derandomize=True, deadline=None, max_examples=30)
    settings.load_profile("house")
    config.pluginmanager.register(_TidyUp())


class _TidyUp:
    """Close what a test or an example has drawn; keep what accumulates from costing time."""

    def pytest_runtest_teardown(self, item, nextitem):
        if pyplot := sys.modules.get("matplotlib.pyplot"):  # None where a test hides it
            pyplot.close("all")
        if nextitem is None or nextitem.path != item.path:
            # Each example of a docstring looks whether any of these files has changed.
            linecache.clearcache()
            _freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    config.stash[COLLECTED] = {item.nodeid.partition("[")[0] for item in items}


def pytest_collection_finish():
    _freeze()


def _freeze():
    """Leave what is there to stay out of garbage collection: a look at all of it takes seconds."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def seed() -> int:
    """Seed of this run: 42, or COROLLARY_SEED; a test must hold for every value of it."""
    return int(os.environ.get("COROLLARY_SEED", "42"))
