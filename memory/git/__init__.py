"""Reads git repositories on this machine from their object database.

Nothing of a repository is executed or configured: git runs with a folder of Parley's own as its
`GIT_DIR`, and reads only the objects of the repository.
"""
