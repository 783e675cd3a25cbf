"""Reads the documents that people send: text with its structure, page by page.

The readers of formats run in a process of their own, which is started for one document.
"""
