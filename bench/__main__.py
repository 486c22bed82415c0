"""Run the bench modules, print their tables and write them to ``results.md``."""

import argparse
import importlib
import pkgutil
import re
from pathlib import Path

import bench
from bench.harness import machine, table

RESULTS = Path(__file__).parent / "results.md"
HEAD = """# Ours against the peers

Written by `python -m bench`. Contenders run interleaved in one process tree, on the same data
with the same threads; the best of several rounds counts. "Peer / ours" above 1 means that we are
faster. "Cold" is the first call in a fresh process with empty caches, imports included. "Memory"
is the data plus the largest growth of the resident set during a call, over the size of the data.
"""


def modules() -> list[str]:
    names = (m.name for m in pkgutil.iter_modules(bench.__path__))
    others = ("harness", "growth", "scale", "__main__")
    return sorted(n for n in names if n not in others and not n.startswith("dependence"))


def write(name: str, text: str) -> None:
    """Replace the section of one bench module, or append it."""
    page = RESULTS.read_text() if RESULTS.exists() else HEAD
    begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
    section = f"{begin}\n## {name.replace('_', ' ')}\n\n{text}\n\n{machine()}\n{end}"
    if begin in page:
        pattern = re.escape(begin) + ".*?" + re.escape(end)
        page = re.sub(pattern, lambda _: section, page, flags=re.DOTALL)
    else:
        page = f"{page.rstrip()}\n\n{section}\n"
    RESULTS.write_text(page)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("names", nargs="*", help="modules to run; all if none is given")
    chosen = parser.parse_args().names or modules()
    unknown = sorted(set(chosen) - set(modules()))
    if unknown:
        parser.error(f"unknown: {', '.join(unknown)}; choose from {', '.join(modules())}")
    for name in chosen:
        text = table(importlib.import_module(f"bench.{name}").rows())
        print(f"\n{name}\n\n{text}", flush=True)
        write(name, text)


if __name__ == "__main__":
    main()
