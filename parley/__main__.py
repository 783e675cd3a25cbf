"""`python -m parley`."""

from parley.cli.main import main

main()
