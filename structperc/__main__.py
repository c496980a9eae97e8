"""`python -m structperc`, where the script is not on the path."""

import sys

from structperc.cli import main

sys.exit(main())
