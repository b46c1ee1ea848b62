"""The messages of a request, as the adapter would send them."""

from prompt.prompt import Prompt
from providers.base import RequestOptions
from providers.openai.encode import request_body
from providers.openai.transforms import Message
from providers.wire import Wire


def encode_messages(prompt: Prompt, wire: Wire | None = None) -> list[Message]:
    options = RequestOptions(turn_id="t", wire=wire or Wire())
    return list(request_body(prompt, options, model="m")["messages"])
