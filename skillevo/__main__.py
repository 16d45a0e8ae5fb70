"""``python -m skillevo``."""

from skillevo.cli.main import main

if __name__ == "__main__":
    main()
