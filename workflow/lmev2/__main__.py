"""`python -m lmev2` is the command `lmev2`."""

import sys

from lmev2.cli import main

sys.exit(main())
