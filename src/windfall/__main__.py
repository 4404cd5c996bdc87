"""``python -m windfall`` is the command ``windfall``."""

from windfall.cli import main

# Worker processes import this file too: it must not run the command again there.
if __name__ == "__main__":
    main()
