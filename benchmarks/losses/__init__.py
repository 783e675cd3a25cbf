"""Measures what is lost and what comes twice when Redis loses its data, or data is restored."""
