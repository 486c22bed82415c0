"""JAX has one thread here, and the environment is left as it was."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

COUNT = """
import os
from corollary.core.xla import jnp
jnp.ones(3).sum().block_until_ready()
names = [open(f"/proc/self/task/{task}/comm").read() for task in os.listdir("/proc/self/task")]
print(sum("XLAEigen" in name for name in names), os.environ.get("NPROC"))
"""


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="threads have names on Linux")
@pytest.mark.parametrize(("wish", "threads"), [(None, 1), ("3", 3)])
def test_one_thread_unless_the_environment_says_otherwise(wish, threads):
    env = {name: value for name, value in os.environ.items() if name != "NPROC"}
    env |= {} if wish is None else {"NPROC": wish}
    words = [sys.executable, "-c", COUNT]
    said = subprocess.run(words, env=env, capture_output=True, text=True, check=True).stdout
    assert said.split() == [str(threads), str(wish)]
