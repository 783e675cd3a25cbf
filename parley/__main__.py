"""`python -m parley`."""

from parley.cli.entry import main

main()
