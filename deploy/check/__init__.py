"""Plays the container image, Docker Compose and the Helm chart of this repository."""
