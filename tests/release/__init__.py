"""The scripts that build and check a release."""
