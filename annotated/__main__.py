"""`python -m annotated` is the command `annotated`."""

from annotated.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
