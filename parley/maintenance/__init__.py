"""Logs of messages, verification of the audit and backups: for commands and the console."""
