"""`python -m muniment`."""

from muniment.cli.main import main

if __name__ == "__main__":
    main()
