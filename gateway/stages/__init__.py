"""The stages of the message's way. Each is `async (exchange, services) -> Decision`."""
