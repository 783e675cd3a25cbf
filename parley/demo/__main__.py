"""`python -m parley.demo`, the same as `parley demo`."""

import sys

from parley.cli.main import main

sys.argv.insert(1, "demo")
main()
