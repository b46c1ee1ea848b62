"""Draws through an endpoint with OpenAI's images route.

Invariant: the key goes to the endpoint alone; a picture that it names by address is fetched like
any other address of a stranger's, without the key.
"""

import base64
import binascii
import json
from collections.abc import Mapping

from net.fetch import Answer, Fetcher, FetchFailed
from prompt.values import Json
from tools.builtin.picture import SECONDS, ImageRefused, Shape
from tools.services import Service

LARGEST_PICTURE = 10 * 1024 * 1024
"""Bytes: what Discord takes."""

_LARGEST_ANSWER = 24 * 1024 * 1024
_LONGEST_REASON = 200

_SIZES: dict[str, dict[Shape, str]] = {
    "dall-e-2": {"square": "1024x1024", "portrait": "1024x1024", "landscape": "1024x1024"},
    "dall-e-3": {"square": "1024x1024", "portrait": "1024x1792", "landscape": "1792x1024"},
}
_OTHER_SIZES: dict[Shape, str] = {
    "square": "1024x1024",
    "portrait": "1024x1536",
    "landscape": "1536x1024",
}


class ImageEndpoint:
    """Asks `{url}/images/generations` for one picture."""

    def __init__(self, fetcher: Fetcher) -> None:
        self._fetcher = fetcher

    async def draw(self, service: Service, prompt: str, shape: Shape) -> bytes:
        """See ImageBackend."""
        body = {
            "model": service.model,
            "prompt": prompt,
            "n": 1,
            "size": _SIZES.get(service.model, _OTHER_SIZES)[shape],
        }
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if service.key:
            headers["Authorization"] = f"Bearer {service.key}"
        try:
            answer = await self._fetcher.ask(
                "POST",
                f"{service.url}/images/generations",
                headers=headers,
                content=json.dumps(body).encode(),
                allow_private=service.allow_private,
                most=_LARGEST_ANSWER,
                seconds=SECONDS,
            )
        except FetchFailed as error:
            raise ImageRefused(
                f"The image endpoint does not answer: {error}", reachable=False
            ) from error
        return await self._picture(_first(answer))

    async def _picture(self, entry: Mapping[str, Json]) -> bytes:
        if isinstance(encoded := entry.get("b64_json"), str):
            try:
                data = base64.b64decode(encoded, validate=True)
            except (binascii.Error, ValueError) as error:
                raise ImageRefused("The image endpoint sent damaged data.") from error
            if len(data) > LARGEST_PICTURE:
                raise ImageRefused("The picture is larger than Discord takes.")
            return data
        if isinstance(url := entry.get("url"), str):
            try:
                return await self._fetcher.file(url, most=LARGEST_PICTURE)
            except FetchFailed as error:
                raise ImageRefused(f"The drawn picture cannot be fetched. {error}") from error
        raise ImageRefused("The image endpoint sent no picture.")


def _first(answer: Answer) -> Mapping[str, Json]:
    """The entry with the picture. Raises ImageRefused."""
    try:
        body: Json = json.loads(answer.data)
    except (ValueError, RecursionError):
        body = None
    if answer.status != 200:
        raise ImageRefused(_reason(answer.status, body), reachable=answer.status < 500)
    try:
        entry = body["data"][0]
    except (KeyError, IndexError, TypeError) as error:
        raise ImageRefused("The image endpoint answered in a form that I do not know.") from error
    return entry if isinstance(entry, dict) else {}  # pyright: ignore[reportUnknownVariableType]


def _reason(status: int, body: Json) -> str:
    """What a refusal means. Of a 400 the server's own words help: they say what to change."""
    if status in {401, 403}:
        return (
            "The image endpoint does not take the key. An admin can enter it with /config images."
        )
    if status == 404:
        return (
            "The image endpoint does not know the model or has no images route. See /config images."
        )
    if status == 429:
        return "The image endpoint takes no more requests for now. Try again later."
    said = ""
    if isinstance(body, dict):
        error: Json = body.get("error")  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
        said = str(error.get("message") or "") if isinstance(error, dict) else str(error or "")  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]
    if status == 400 and said:
        return f"The image endpoint refuses: {' '.join(said.split())[:_LONGEST_REASON]}"
    return f"The image endpoint answered with status {status}. Try again later."
