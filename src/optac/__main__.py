"""`python -m optac` is the command `optac`."""

import sys

from optac.cli import main

if __name__ == "__main__":
    sys.exit(main())
