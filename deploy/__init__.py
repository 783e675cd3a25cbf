"""Files for deployments, and `make check-deploy`, which plays them without a container engine."""
