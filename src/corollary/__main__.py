"""Run the command line as ``python -m corollary``."""

from corollary.cli import main

if __name__ == "__main__":
    main()
