"""Builds, checks and describes a release: `docs/releases.md`. None of it is part of the wheel."""
