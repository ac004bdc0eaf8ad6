"""`python -m optac` is the command `optac`."""

import sys

if __name__ == "__main__":
    if not sys.flags.safe_path:
        del sys.path[0]  # the working folder, from which nothing is imported unasked
    from optac.cli import main

    sys.exit(main())
