"""The local web page as an adapter."""
