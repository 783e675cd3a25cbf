"""Two processes that are given the same work, or share the same limits."""
