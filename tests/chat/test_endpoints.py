"""Which provider serves a guild, and when it is closed."""

from pathlib import Path

import pytest

from chat.endpoints import LAST_RESORT, MODEL, Endpoints, KeyUnreadable, NoFurther, NotServed
from data.endpoints import GuildEndpoint
from data.keys import open_keys
from data.store import Store
from providers.base import Provider
from tests.chat.scripted import ScriptedModel

GUILD, OTHER = 7, 8
URL = "https://llm.example/v1"


class Model(ScriptedModel):
    """A scripted model that knows what it was made from and whether it was closed."""

    def __init__(self, name: str, key: str | None = None) -> None:
        super().__init__()
        self.name = name
        self.key = key
        self.closed = 0

    @property
    def model(self) -> str:
        return self.name

    async def close(self) -> None:
        self.closed += 1


class Exchange:
    """Endpoints over a real store, and every provider that they had made."""

    def __init__(self, store: Store, home: Path) -> None:
        self.store = store
        self.home = home
        self.operators = Model("operators")
        self.spare = Model("spare")
        self.made: list[Model] = []
        self.approved = {GUILD}
        self.endpoints = self.restarted()

    def restarted(self) -> Endpoints:
        async def is_approved(guild_id: int) -> bool:
            return guild_id in self.approved

        def connect(endpoint: GuildEndpoint, key: str | None) -> Provider:
            self.made.append(Model(endpoint.model, key))
            return self.made[-1]

        def with_model(model: str) -> Provider:
            self.made.append(Model(model, "operators-key"))
            return self.made[-1]

        self.endpoints = Endpoints(
            store=self.store,
            keys=open_keys(self.home, None),
            operators=self.operators,
            connect=connect,
            with_model=with_model,
            is_approved=is_approved,
            fallbacks=[self.spare],
        )
        return self.endpoints

    async def order(self, guild_id: int | None) -> list[str]:
        """The models of a guild's endpoints, the first to try first."""
        names: list[str] = []
        while True:
            try:
                async with self.endpoints.serving(guild_id, len(names)) as route:
                    assert route.rank == len(names)
                    names.append(route.provider.model)
            except NoFurther:
                return names

    async def bring(
        self,
        guild_id: int,
        *,
        url: str = URL,
        model: str = "own",
        key: str = "k",
        added: bool = False,
    ) -> None:
        await self.store.endpoints.put(
            guild_id,
            base_url=url,
            model=model,
            sealed_key=self.endpoints.sealed(url, key) if key else None,
            allow_private=False,
            set_by=1,
            added=added,
        )


@pytest.fixture
def exchange(store: Store, tmp_path: Path) -> Exchange:
    return Exchange(store, tmp_path)


async def test_the_operators_serves_those_approved_and_direct_messages(exchange: Exchange) -> None:
    for guild_id in (GUILD, None):
        async with exchange.endpoints.serving(guild_id) as route:
            assert route.provider is exchange.operators
            assert (route.key, route.owner) == (exchange.operators.endpoint, 0)
    with pytest.raises(NotServed, match="/config setup"):
        async with exchange.endpoints.serving(OTHER):
            pass
    await exchange.endpoints.close()
    assert exchange.operators.closed == 0


async def test_an_own_endpoint_comes_first_and_serves_nobody_else(exchange: Exchange) -> None:
    await exchange.bring(GUILD)
    await exchange.bring(OTHER, model="others", key="other-key")
    async with (
        exchange.endpoints.serving(GUILD) as one,
        exchange.endpoints.serving(OTHER) as two,
    ):
        assert (one.owner, two.owner) == (GUILD, OTHER)
        assert one.key != two.key
        assert [(model.name, model.key) for model in exchange.made] == [
            ("own", "k"),
            ("others", "other-key"),
        ]
    async with exchange.endpoints.serving(None) as route:
        assert route.provider is exchange.operators


async def test_a_provider_is_kept_and_closed_at_the_end(exchange: Exchange) -> None:
    await exchange.bring(GUILD)
    for _ in range(3):
        async with exchange.endpoints.serving(GUILD):
            pass
    (model,) = exchange.made
    assert model.closed == 0
    await exchange.endpoints.close()
    assert model.closed == 1


@pytest.mark.parametrize("change", ["model", "url", "key", "removed"])
async def test_a_change_closes_the_former_one_with_its_last_turn(
    exchange: Exchange, change: str
) -> None:
    await exchange.bring(GUILD)
    async with exchange.endpoints.serving(GUILD):
        match change:
            case "model":
                await exchange.store.endpoints.set_model(GUILD, "newer")
            case "url":
                await exchange.bring(GUILD, url="https://other.example/v1")
            case "key":
                await exchange.bring(GUILD, key="new-key")
            case _:
                await exchange.store.endpoints.remove(GUILD)
        async with exchange.endpoints.serving(GUILD) as after:
            assert after.provider is not exchange.made[0]
        assert exchange.made[0].closed == 0
    assert exchange.made[0].closed == 1
    await exchange.endpoints.close()
    assert [model.closed for model in exchange.made] == [1] * len(exchange.made)
    assert exchange.operators.closed == 0


async def test_closing_leaves_a_turn_its_provider(exchange: Exchange) -> None:
    await exchange.bring(GUILD)
    async with exchange.endpoints.serving(GUILD):
        await exchange.endpoints.close()
        assert exchange.made[0].closed == 0
    assert exchange.made[0].closed == 1


async def test_another_model_of_the_operators_endpoint(exchange: Exchange) -> None:
    await exchange.store.settings.put(GUILD, "", MODEL, "small")
    async with exchange.endpoints.serving(GUILD) as route:
        assert route.provider.model == "small"
        assert (route.key, route.owner) == (exchange.operators.endpoint, 0)
    await exchange.store.settings.put(OTHER, "", MODEL, "small")
    with pytest.raises(NotServed):
        async with exchange.endpoints.serving(OTHER):
            pass


async def test_a_key_that_cannot_be_read_any_more_is_told_and_nothing_is_sent(
    exchange: Exchange,
) -> None:
    await exchange.bring(GUILD)
    (exchange.home / "master.key").unlink()
    with pytest.raises(NotServed, match="enter it again"):
        async with exchange.restarted().serving(GUILD):
            pass
    assert exchange.made == []


async def test_a_key_moved_to_another_url_behind_our_back_is_not_sent_there(
    exchange: Exchange,
) -> None:
    await exchange.bring(GUILD)
    kept = await exchange.store.endpoints.get(GUILD)
    assert kept is not None
    await exchange.store.endpoints.put(
        GUILD,
        base_url="https://evil.example/v1",
        model="own",
        sealed_key=kept.sealed_key,
        allow_private=False,
        set_by=1,
    )
    with pytest.raises(NotServed):
        async with exchange.endpoints.serving(GUILD):
            pass
    assert exchange.made == []


async def test_the_order_in_which_endpoints_are_tried(exchange: Exchange) -> None:
    assert await exchange.order(None) == ["operators", "spare"]
    assert await exchange.order(GUILD) == ["operators", "spare"]
    await exchange.bring(GUILD)
    await exchange.bring(GUILD, model="second", added=True)
    assert await exchange.order(GUILD) == ["own", "second"]
    await exchange.store.settings.put(GUILD, "", LAST_RESORT, value=True)
    assert await exchange.order(GUILD) == ["own", "second", "operators", "spare"]
    exchange.approved.clear()
    assert await exchange.order(GUILD) == ["own", "second"]
    await exchange.endpoints.close()
    assert [each.closed for each in (exchange.operators, exchange.spare)] == [0, 0]


async def test_a_lost_key_does_not_keep_the_others_from_serving(exchange: Exchange) -> None:
    await exchange.bring(GUILD)
    await exchange.bring(GUILD, url="https://open.example/v1", model="open", key="", added=True)
    (exchange.home / "master.key").unlink()
    routes = exchange.restarted()
    with pytest.raises(KeyUnreadable):
        async with routes.serving(GUILD):
            pass
    async with routes.serving(GUILD, 1) as route:
        assert route.provider.model == "open"
    assert [(model.name, model.key) for model in exchange.made] == [("open", None)]
