"""generate_image: has a picture drawn and puts it under the reply.

Invariant: what is handed to Discord decodes as a picture; the bytes never reach the prompt.
"""

import re
from collections.abc import Sequence
from typing import Annotated, Literal, Protocol, TypeAlias

from pydantic import Field

from prompt.values import Rate
from tools.registry import (
    Tool,
    ToolContext,
    ToolFailure,
    ToolFile,
    ToolOutput,
    ToolUnavailable,
    tool,
)
from tools.services import Missing, Service, Services
from tools.worker.process import JobFailed, Worker

Shape: TypeAlias = Literal["square", "portrait", "landscape"]

SECONDS = 120.0
"""For drawing and fetching one picture: small machines take their time."""

_RATE = Rate(calls=5, seconds=300)


class ImageRefused(Exception):
    """The service did not draw. The text says why; `reachable` tells that it answered at all."""

    def __init__(self, text: str, *, reachable: bool = True) -> None:
        super().__init__(text)
        self.reachable = reachable


class ImageBackend(Protocol):
    """Draws pictures."""

    async def draw(self, service: Service, prompt: str, shape: Shape) -> bytes:
        """The bytes of one picture. Raises ImageRefused."""
        ...


def image_tools(services: Services, backend: ImageBackend, worker: Worker) -> Sequence[Tool]:
    """The tool generate_image."""

    @tool(egress=True, rate=_RATE, seconds=SECONDS + 15)
    async def generate_image(
        context: ToolContext,
        *,
        prompt: Annotated[
            str, Field(min_length=1, max_length=2000, description="what it shows, in detail")
        ],
        shape: Shape = "square",
    ) -> ToolOutput:
        """Draw a picture and show it to the members."""
        service = await services.images(context.guild_id)
        if isinstance(service, Missing):
            raise ToolUnavailable(f"No picture can be drawn: {service.why}.")
        try:
            data = await backend.draw(service, prompt, shape)
            picture = await worker.picture(data)
        except ImageRefused as error:
            raise (ToolFailure if error.reachable else ToolUnavailable)(str(error)) from error
        except JobFailed as error:
            raise ToolFailure(f"The image endpoint sent no picture. {error}") from error
        words = "-".join(re.findall(r"[a-z0-9]+", prompt.lower())[:5]) or "picture"
        name = f"{words[:50]}.{picture.format.lower().replace('jpeg', 'jpg')}"
        return ToolOutput(
            text=f"The picture was drawn ({picture.width} x {picture.height}) and stands under "
            "your reply. Do not describe it as if you saw it.",
            files=(ToolFile(name=name, data=data, description=prompt[:1000]),),
        )

    return (generate_image,)
