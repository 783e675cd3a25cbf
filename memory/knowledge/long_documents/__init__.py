"""Searching long documents of conversations by words, with the index that repositories use."""
