"""`python -m structperc`, where the script is not on the path."""

import sys

from structperc.cli import main

if __name__ == "__main__":           # workers of --dask import the main module too
    sys.exit(main())
