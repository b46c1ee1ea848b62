"""Reads the newest images of a conversation for a model that sees.

Invariant: bounded in number, bytes, pixels and time, and off the event loop where it is slow. An
image that cannot be had is told of in words; none ever fails a turn.
"""

import asyncio
import base64
import logging
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

from chat.ports import ChannelMessage
from chat.sizing import Sized, Unreadable, sized
from prompt.values import Attachment, ImageReference
from tools.registry import FileGone, FileSource

log = logging.getLogger(__name__)

NEWEST_MESSAGES = 3
"""The message that is answered and those before it whose images are sent."""

MOST_IMAGES = 4
MOST_BYTES = 16 * 1024 * 1024
"""Of one image as it was uploaded; Discord's own limit is 10 MiB without a subscription."""

SECONDS = 10.0
"""For all images of a turn together."""

BLIND = "you cannot see the images that are named above"
"""Told to a model that gets none of them, so that it does not make up what they show."""

_TYPES = frozenset({"image/png", "image/jpeg", "image/webp", "image/gif"})
_KEPT = 16
"""Images that stay in memory, sized, for the next messages of their channels."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """Images for the model, the oldest first, and in words why others are not among them."""

    images: tuple[ImageReference, ...] = ()
    unseen: tuple[str, ...] = ()


def attachments_of(messages: Sequence[ChannelMessage]) -> tuple[Attachment, ...]:
    """Every file of `messages`, the oldest first; what several carry counts where it is last."""
    found: dict[int, Attachment] = {}
    for message in messages:
        for attachment in message.attachments:
            found.pop(attachment.id, None)
            found[attachment.id] = attachment
    return tuple(found.values())


def newest_images(messages: Sequence[ChannelMessage]) -> tuple[Attachment, ...]:
    """The images of the last messages that a model gets to see."""
    files = attachments_of(messages[-NEWEST_MESSAGES:])
    images = [file for file in files if file.content_type.partition(";")[0].strip() in _TYPES]
    return tuple(images[-MOST_IMAGES:])


class ImageReader:
    """Reads images and remembers the last ones that it read."""

    def __init__(self, *, seconds: float = SECONDS) -> None:
        self._seconds = seconds
        self._decoder = asyncio.Lock()
        self._kept: OrderedDict[int, Sized] = OrderedDict()

    async def read(
        self, messages: Sequence[ChannelMessage], files: FileSource, *, sees: bool
    ) -> Seen:
        """What a model gets to see of `messages`, the last of which is to be answered."""
        wanted = newest_images(messages)
        if not wanted or not sees:
            return Seen(unseen=(BLIND,) if wanted else ())
        tasks = [asyncio.create_task(self._one(attachment, files)) for attachment in wanted]
        try:
            await asyncio.wait(tasks, timeout=self._seconds)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        images: list[ImageReference] = []
        unseen: list[str] = []
        for attachment, task in zip(wanted, tasks, strict=True):
            told = "could not be read in time" if task.cancelled() else task.result()
            if isinstance(told, Sized):
                images.append(_reference(attachment, told))
            else:
                unseen.append(f"{attachment.name} {told}")
        return Seen(images=tuple(images), unseen=tuple(unseen))

    async def _one(self, attachment: Attachment, files: FileSource) -> Sized | str:
        """The image, or why there is none, to follow its name."""
        if (kept := self._kept.get(attachment.id)) is not None:
            self._kept.move_to_end(attachment.id)
            return kept
        try:
            data = await files.read_file(attachment, most=MOST_BYTES)
            async with self._decoder:  # one at a time, for the memory that it takes
                image = await asyncio.to_thread(sized, data)
        except FileGone as error:
            log.info("An image could not be read: %s", error)
            return "could not be read"
        except Unreadable as error:
            return str(error)
        self._kept[attachment.id] = image
        while len(self._kept) > _KEPT:
            self._kept.popitem(last=False)
        return image


def _reference(attachment: Attachment, image: Sized) -> ImageReference:
    encoded = base64.b64encode(image.data).decode("ascii")
    return ImageReference(
        url=f"data:image/jpeg;base64,{encoded}",
        description=attachment.name,
        width=image.width,
        height=image.height,
    )
