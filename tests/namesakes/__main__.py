"""Print what scikit-learn's classes have and ours do not, and list what is to be closed."""

import sys

from tests.namesakes import HERE, family, gaps, listed, namesakes


def main() -> None:
    """Look at the families that are named, or at all."""
    chosen = sys.argv[1:]
    lines: dict[str, list[str]] = {}
    for name, pair in namesakes().items():
        if chosen and family(name) not in chosen:
            continue
        _, meant = listed(name)
        lines.setdefault(family(name), []).extend(sorted(gaps(*pair) - meant.keys()))
        for line, reason in meant.items():
            print(f"meant: {line}: {reason}")
    for package, gap in lines.items():
        path = HERE / "gaps" / f"{package}.txt"
        path.write_text("".join(f"{line}\n" for line in gap), "utf-8")
        print(f"{package}: {len(gap)} to be closed", *gap, sep="\n  ")
        if not gap:
            path.unlink()


if __name__ == "__main__":
    main()
