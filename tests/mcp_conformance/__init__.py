"""The official conformance suite of MCP against the running program."""
