"""Measures the cost of a temporary outage of a store, while people write."""
