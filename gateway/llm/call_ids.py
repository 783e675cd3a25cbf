"""Gives the tool calls of a conversation ids that every service takes.

Those of another service can have characters that are refused, or repeat.
"""

from gateway.immutable import replace
from gateway.llm.chat_completions.calls import fitting_id, new_id
from gateway.ports import ContentBlock, ModelMessage, ToolCall, ToolOutcome


class CallIds:
    """The ids of one conversation, message by message. The same id always becomes the same one."""

    def __init__(self) -> None:
        self._sent: dict[str, str] = {}
        self._used: set[str] = set()

    def fitted(self, message: ModelMessage) -> ModelMessage:
        """Return the next message with fitting ids."""
        content = tuple(map(self._block, message.content))
        same = all(new is old for new, old in zip(content, message.content, strict=True))
        return message if same else replace(message, content=content)

    def _block(self, block: ContentBlock) -> ContentBlock:
        if isinstance(block, ToolCall):
            sent = new_id(fitting_id(block.id), self._used, len(self._used))
            self._sent[block.id] = sent
            self._used.add(sent)
            return block if sent == block.id else replace(block, id=sent)
        if isinstance(block, ToolOutcome):
            sent = self._sent.get(block.call_id) or fitting_id(block.call_id)
            return block if sent == block.call_id else replace(block, call_id=sent)
        return block
