"""The MCP servers: memory, conversation, agents, pools and handoffs as tools and resources."""
