"""Files out of a conversation, downloaded from the loopback Discord."""

from dataclasses import replace

import pytest

from chat.ports import History
from prompt.values import Attachment
from tests.cogs.conftest import Scene
from tests.loopback.discord_server import Message, Upload
from tools.registry import FileGone

DATA = bytes(range(256)) * 800
MOST = 1_000_000


class Album:
    """A message with a file, and the history that reads it."""

    def __init__(self, scene: Scene, message: Message, history: History, file: Attachment) -> None:
        self.scene = scene
        self.message = message
        self.file = file
        self._history = history

    async def read(self, file: Attachment | None = None, *, most: int = MOST) -> bytes:
        return await self._history.read_file(file or self.file, most=most)

    @property
    def downloads(self) -> int:
        """Requests to the CDN."""
        return len(self.scene.server.journal.of("cdn"))


async def album_of(scene: Scene, *, link_lifetime: float) -> Album:
    usual, scene.server.limits.link_lifetime = scene.server.limits.link_lifetime, link_lifetime
    message = scene.server.driver.say(
        scene.channel,
        scene.alice,
        f"{scene.server.bot.mention} look",
        files=[Upload(filename="photo.bin", data=DATA)],
    )
    await scene.turns_done()
    scene.server.limits.link_lifetime = usual
    stage = scene.service.stages[0]
    (file,) = stage.request.message.attachments
    return Album(scene, message, stage.history, file)


@pytest.fixture
async def album(scene: Scene) -> Album:
    return await album_of(scene, link_lifetime=3600)


@pytest.fixture
async def old_album(scene: Scene) -> Album:
    """Its link has expired since."""
    return await album_of(scene, link_lifetime=-10)


async def test_a_file_is_read_whole(album: Album) -> None:
    assert await album.read() == DATA
    assert await album.read(most=len(DATA)) == DATA


async def test_a_link_that_expired_is_asked_for_anew(old_album: Album) -> None:
    assert await old_album.read() == DATA
    assert old_album.downloads == 2


async def test_links_that_never_work_end_in_words(old_album: Album) -> None:
    old_album.scene.server.limits.link_lifetime = -10
    with pytest.raises(FileGone, match=r"no longer hands out photo\.bin"):
        await old_album.read()
    assert old_album.downloads == 2


async def test_what_is_too_large_is_not_downloaded(album: Album) -> None:
    with pytest.raises(FileGone, match=r"photo\.bin is larger than 0\.2 MB"):
        await album.read(most=len(DATA) - 1)
    assert album.downloads == 0


async def test_the_size_is_counted_whatever_is_claimed(album: Album) -> None:
    with pytest.raises(FileGone, match="is larger"):
        await album.read(replace(album.file, size=1), most=len(DATA) - 1)
    assert album.downloads == 1


async def test_a_deleted_message_takes_its_files_along(old_album: Album) -> None:
    old_album.scene.server.driver.delete(old_album.message)
    with pytest.raises(FileGone, match="was deleted, with its message"):
        await old_album.read()


async def test_a_file_that_was_taken_out_of_its_message(old_album: Album) -> None:
    old_album.message.attachments.clear()
    with pytest.raises(FileGone, match="was taken out of its message"):
        await old_album.read()


async def test_a_cdn_that_cannot_be_reached(album: Album) -> None:
    nowhere = replace(album.file, url="http://127.0.0.1:9/photo.bin")
    with pytest.raises(FileGone, match="could not be downloaded"):
        await album.read(nowhere)


async def test_the_file_of_a_forward_gets_a_fresh_link_too(scene: Scene) -> None:
    upload = Upload(filename="map.bin", data=DATA)
    source = scene.server.driver.say(scene.channel, scene.bob, "", files=[upload])
    letters = scene.server.build.direct_messages(scene.alice)
    scene.server.limits.link_lifetime = -10
    scene.server.driver.forward(letters, scene.alice, source)
    await scene.turns_done()
    scene.server.limits.link_lifetime = 3600
    stage = scene.service.stages[0]
    (file,) = stage.request.message.attachments
    assert await stage.history.read_file(file, most=MOST) == DATA
