"""Builds, checks and describes a release: `docs/how-to/make-a-release.md`. None of it is part of
the wheel."""
