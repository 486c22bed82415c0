"""Changes that change nothing that a test could see, each with its reason."""

EQUIVALENT: dict[str, str] = {}
