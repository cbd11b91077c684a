"""Print what pyproject.toml asks for, as input for pip-compile: `run`, or a dependency group."""

import sys
import tomllib
from pathlib import Path


def main() -> None:
    """Print one requirement a line for the set named by the first argument."""
    project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))
    wanted = sys.argv[1]
    if wanted == "run":
        # The build backend is locked too (editables is what it needs for `pip install -e`).
        build = [*project["build-system"]["requires"], "editables"]
        lines = [*project["project"]["dependencies"], *build]
    else:
        lines = project["dependency-groups"][wanted]
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
