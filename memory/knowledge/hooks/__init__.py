"""Git hooks that bring the knowledge of a repository up to date after a commit, in the background.

A person installs them with a command. Nothing in a repository installs them.
"""
