"""Texts as the server sends them: messages, formatted here as a page does."""

from typing import Any

from glassformer.messages import Message, literal
from glassformer.schema import MessageModel


def text_of(sent: MessageModel | dict[str, Any], language: str = "en") -> str:
    """The text of a message that was sent."""
    data = sent.model_dump() if isinstance(sent, MessageModel) else sent
    return Message.from_json(data).text(language)


def send_text(text: str) -> MessageModel:
    """A text that is not ours, as it is sent."""
    return MessageModel.of(literal(text))
