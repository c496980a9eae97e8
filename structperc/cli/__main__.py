"""`python -m structperc.cli`, where the script is not on the path."""

import sys

from structperc.cli import main

sys.exit(main())
