"""Texts as the server sends them: messages, formatted here as a page does."""

from typing import Any

from glassformer.messages import Message


def text_of(sent: Message | dict[str, Any], language: str = "en") -> str:
    """The text of a message that was sent."""
    return (sent if isinstance(sent, Message) else Message.from_json(sent)).text(language)
