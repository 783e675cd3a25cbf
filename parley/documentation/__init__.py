"""The pages of the documentation: in the installation and on the local listener."""
