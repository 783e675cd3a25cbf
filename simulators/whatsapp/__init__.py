"""A WhatsApp Cloud API on loopback, with Meta's webhooks. See `WhatsAppSimulator`."""

from simulators.whatsapp.simulator import TEMPLATE, WhatsAppSimulator
from simulators.whatsapp.webhooks import UNSIGNED

__all__ = ["TEMPLATE", "UNSIGNED", "WhatsAppSimulator"]
