"""A local OpenAI-compatible endpoint: chat completions, streamed, with tools."""

from simulators.openai.server import OpenAISimulator

__all__ = ["OpenAISimulator"]
