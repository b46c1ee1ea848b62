"""One request outside of any turn, and its answer as it came.

Invariant: an answer of whatever status is a value, not an error; only where no answer came is
something raised. At most MOST_BYTES of a body are read.
"""

import asyncio
from urllib.parse import urlsplit, urlunsplit

import httpx2
from openai import APIStatusError, AsyncOpenAI

from prompt.values import JsonObject
from providers.base import Exchange
from providers.openai.encode import body_bytes

MOST_BYTES = 2 * 1024 * 1024
"""Enough for a listing of some hundred models; nothing that is asked for here is larger."""


async def exchange(client: AsyncOpenAI, path: str, body: JsonObject | None) -> Exchange:
    """POST `body` to `path`, or GET it without one. Raises what the client and its transport do."""
    headers = {"X-Stainless-Raw-Response": "stream"}
    clock = asyncio.get_running_loop().time
    start = clock()
    try:
        if body is None:
            response = await client.get(path, cast_to=httpx2.Response, options={"headers": headers})
        else:
            response = await client.post(
                path,
                cast_to=httpx2.Response,
                content=body_bytes(body),
                options={"headers": {**headers, "Content-Type": "application/json"}},
            )
    except APIStatusError as error:
        took = clock() - start
        text = error.response.text[:MOST_BYTES]
        return Exchange(status=error.status_code, text=text, first=took, seconds=took)
    data = bytearray()
    first = 0.0
    try:
        async for piece in response.aiter_bytes():
            first = first or clock() - start
            data += piece
            if len(data) > MOST_BYTES:
                break
    finally:
        await response.aclose()
    return Exchange(
        status=response.status_code,
        text=data[:MOST_BYTES].decode("utf-8", "replace"),
        first=first,
        seconds=clock() - start,
    )


def beside(url: str, path: str) -> str:
    """The address of `path` beside the API below `url`, where servers tell about themselves."""
    parts = urlsplit(url)
    return urlunsplit(
        (parts.scheme, parts.netloc, f"{parts.path.removesuffix('/v1')}{path}", "", "")
    )
