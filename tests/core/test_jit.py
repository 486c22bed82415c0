import gc
from types import SimpleNamespace

import pytest

from corollary.core.jit import _Undisturbed


def compiling(module):
    function = SimpleNamespace(__module__=module)
    return SimpleNamespace(data={"dispatcher": SimpleNamespace(py_func=function)})


@pytest.mark.parametrize("enabled", [True, False])
def test_garbage_waits_while_our_kernels_are_compiled(enabled):
    was, listener = gc.isenabled(), _Undisturbed()
    ours, theirs = compiling("corollary.tree._exact"), compiling("numpy")
    try:
        gc.enable() if enabled else gc.disable()
        listener.on_start(theirs)
        assert gc.isenabled() == enabled
        listener.on_start(ours)
        listener.on_start(ours)  # a helper, inside its caller
        listener.on_end(ours)
        assert not gc.isenabled()
        listener.on_end(ours)
        assert gc.isenabled() == enabled
        listener.on_end(theirs)
        assert gc.isenabled() == enabled
    finally:
        gc.enable() if was else gc.disable()
