"""Print the oldest version that pyproject.toml allows of every dependency, as pip constraints."""

import pathlib
import re
import tomllib


def lowest(text: str) -> list[str]:
    """Turn every ``name>=version`` of the run-time dependencies into ``name==version``."""
    needs = tomllib.loads(text)["project"]["dependencies"]
    return [re.sub(r"(\[.*\])?>=", "==", need) for need in needs]


if __name__ == "__main__":
    print(
        "\n".join(lowest(pathlib.Path(__file__).parents[1].joinpath("pyproject.toml").read_text()))
    )
