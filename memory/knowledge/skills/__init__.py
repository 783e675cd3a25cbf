"""Agent Skills for the start and the end of a coding session, and their installation."""
