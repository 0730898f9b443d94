"""`python -m glassformer`: the same as the `glassformer` command."""

from glassformer.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
