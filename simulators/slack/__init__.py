"""A local Slack for tests and for the demo: Web API, Socket Mode and HTTP events."""

from simulators.slack.simulator import SlackSimulator

__all__ = ["SlackSimulator"]
