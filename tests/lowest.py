"""Print pip constraints: the oldest dependencies that are allowed, and the pinned tools."""

import pathlib
import re
import tomllib

ROOT = pathlib.Path(__file__).parents[1]


def lowest(project: str, pins: str) -> list[str]:
    """Turn every ``name>=version`` into ``name==version``; tools keep the versions of ``pins``."""
    declared = tomllib.loads(project)["project"]
    pinned = {line.partition("==")[0].lower(): line for line in pins.splitlines()}
    tools = declared["optional-dependencies"]["dev"]
    names = [re.split(r"[\[>]", need)[0].lower() for need in tools]
    oldest = [re.sub(r"(\[.*\])?>=", "==", need) for need in declared["dependencies"]]
    return oldest + [pinned[name] for name in names if name in pinned]


if __name__ == "__main__":
    texts = [(ROOT / name).read_text() for name in ("pyproject.toml", "constraints.txt")]
    print("\n".join(lowest(*texts)))
