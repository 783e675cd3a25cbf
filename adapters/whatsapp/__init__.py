"""WhatsApp's Cloud API: events in over a webhook, answers out over the Graph API."""

from adapters.whatsapp.parse import parse

__all__ = ["parse"]
