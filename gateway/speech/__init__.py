"""Recognises and makes speech: by a service, or in a process of its own on this machine."""
