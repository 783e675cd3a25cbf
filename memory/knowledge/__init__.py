"""Repositories as knowledge: code, documents, decision records and incident reports.

Files are read from git's object database at a commit, split into chunks, indexed and searched. The
index is derived data: it can be deleted and built again at any time.
"""
