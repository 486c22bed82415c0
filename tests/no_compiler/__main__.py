"""Run the checks of every file here and say which loops they went through.

    NUMBA_DISABLE_JIT=1 python -m tests.no_compiler            all of them, as JSON
    NUMBA_DISABLE_JIT=1 python -m tests.no_compiler tree       one file

Without the compiler loops are plain Python, so a debugger can step through them and a profiler sees
every call.
"""

import importlib
import json
import sys
import threading
import time
import traceback
import warnings
from pathlib import Path

import corollary

PACKAGE = Path(corollary.__file__).parent
HERE = Path(__file__).parent


def run(names):
    """Return the failures and seconds of each file, and the functions of loops that were called."""
    called = set()

    def note(frame, event, argument):
        if event == "call" and frame.f_code.co_filename.startswith(str(PACKAGE)):
            called.add((frame.f_code.co_filename, frame.f_code.co_qualname))

    # Compiled code wraps whole numbers around and divides by zero without a warning, in any thread.
    warnings.simplefilter("ignore", RuntimeWarning)
    failures, seconds = {}, {}
    threading.setprofile(note)
    sys.setprofile(note)
    try:
        for name in names:
            began, failures[name] = time.perf_counter(), []
            module = importlib.import_module(f"tests.no_compiler.{name}")
            for title, check in vars(module).items():
                if (
                    title.startswith("check_")
                    and getattr(check, "__module__", "") == module.__name__
                ):
                    try:
                        check()
                    except Exception:
                        failures[name].append(traceback.format_exc())
            seconds[name] = time.perf_counter() - began
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    loops = sorted(f"{Path(file).relative_to(PACKAGE)}::{name}" for file, name in called)
    return {"failures": failures, "seconds": seconds, "called": loops}


if __name__ == "__main__":
    everything = sorted(path.stem for path in HERE.glob("[a-z]*.py"))
    print(json.dumps(run(sys.argv[1:] or everything)))
