"""`python -m teiten`."""

from teiten.cli import main

if __name__ == "__main__":
    main()
