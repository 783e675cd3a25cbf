"""`parley knowledge`: repositories as knowledge."""
