"""Who embeds for which guild."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from chat.admission import Admission
from chat.embedding import ChosenEmbedders
from chat.services import ChosenServices, Wanted
from data.keys import open_keys
from data.knowledge import Vectors
from data.store import Store
from tools.services import Service

OPERATOR, ADMIN = 1, 2
HOME, AWAY = 100, 200


@dataclass
class Held:
    """An embedder that notes whether it was closed."""

    service: Service
    closed: bool = False

    @property
    def model(self) -> str:
        return self.service.model

    async def embed(self, texts: Sequence[str], model: str) -> Vectors:
        return np.ones((len(texts), 2), dtype=np.float32)

    async def close(self) -> None:
        self.closed = True


async def test_each_guild_has_what_it_chose_and_old_ones_are_closed(
    store: Store, tmp_path: Path
) -> None:
    admission = Admission(store, approved_guilds={HOME}, dms=None)
    admission.introduce({OPERATOR}, is_public=True)
    offered = Service(provider="openai", url="http://10.0.0.9/v1", model="op", allow_private=True)
    services = ChosenServices(
        store, open_keys(tmp_path, None), admission, operators={"embeddings": offered}
    )
    made: list[Held] = []

    def connect(service: Service) -> Held:
        made.append(Held(service))
        return made[-1]

    embedders = ChosenEmbedders(services, connect)
    assert await embedders.of(AWAY) is None, "the operator's serve approved servers only"
    first = await embedders.of(HOME)
    assert first is not None
    assert first is made[0]
    assert await embedders.of(HOME) is first
    assert first.model == "op"
    own = Wanted(provider="openai", url="https://8.8.8.8/v1", model="own", key="key-1")
    await services.choose(HOME, "embeddings", own, by=ADMIN)
    second = await embedders.of(HOME)
    assert second is not None
    assert second is made[1]
    assert (second.model, made[0].closed) == ("own", True)
    assert made[1].service.key == "key-1"
    await services.choose(HOME, "embeddings", Wanted(provider="none"), by=ADMIN)
    assert await embedders.of(HOME) is None
    assert made[1].closed
    await services.forget(HOME, "embeddings")
    third = await embedders.of(HOME)
    assert third is made[2]
    await embedders.close()
    assert all(each.closed for each in made)
