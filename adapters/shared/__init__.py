"""The parts that the adapters share."""
