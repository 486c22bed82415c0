"""Run many cases, or one of them with its traceback.

``python -m tests.fuzz --cases 10000`` divides the cases among the kinds; ``python -m tests.fuzz
arrays 17`` runs one.
"""

import argparse
import multiprocessing
import sys
import time
from concurrent.futures import ProcessPoolExecutor

from tests.fuzz import arrays, files, outcome, tables

KINDS = {"arrays": arrays.run, "files": files.run, "tables": tables.run}
#: Of hundred cases so many are of each kind; a table costs a report.
SHARES = {"arrays": 45, "files": 50, "tables": 5}


def main() -> int:
    """Run cases; return the number of faults, at most 1."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("kind", nargs="?", choices=KINDS)
    parser.add_argument("seed", nargs="?", type=int)
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--start", type=int, default=0, help="Seed of the first case.")
    parser.add_argument("--workers", type=int, default=1)
    words = parser.parse_args()
    if words.seed is not None:
        outcome.SHOWS = True
        fault = KINDS[words.kind](words.seed)
        print(fault or "ends well")
        return int(fault is not None)
    faults = 0
    context = multiprocessing.get_context("spawn")  # compilers have threads, which do not fork
    with ProcessPoolExecutor(words.workers, mp_context=context) as pool:
        for kind in [words.kind] if words.kind else KINDS:
            n = words.cases if words.kind else words.cases * SHARES[kind] // 100
            start, before, seeds = time.perf_counter(), faults, range(words.start, words.start + n)
            for seed, fault in zip(seeds, pool.map(KINDS[kind], seeds, chunksize=20)):
                if fault is not None:
                    faults += 1
                    print(f"{kind} {seed}: {fault}", flush=True)
            seconds = time.perf_counter() - start
            print(f"{kind}: {n:,} cases, {faults - before} faults, {seconds:.0f} s", flush=True)
    return int(faults > 0)


if __name__ == "__main__":
    sys.exit(main())
