"""Setting a guild up, without Discord: what is kept, what is refused, and what a file may hold."""

import json
from pathlib import Path
from typing import Any

import pytest

from chat.desk import Desk, open_desk
from chat.entries import SetupRefused
from chat.guild_setup import Wish
from chat.personas import LONGEST_TEXT, Texts
from chat.portability import LARGEST_FILE, Imported
from chat.services import Wanted
from data.endpoints import GuildEndpoint
from data.keys import open_keys
from data.store import Store
from providers.base import EndpointError, Provider, Unavailable
from tests.chat.scripted import ScriptedModel

OPERATOR, ADMIN = 1, 2
GUILD, OTHER = 7, 8
PUBLIC = "https://8.8.8.8/v1"
PRIVATE = "http://192.168.1.20:11434/v1"


class Listing(ScriptedModel):
    """An endpoint that lists models, or fails to."""

    def __init__(self, names: list[str], failure: EndpointError | None = None) -> None:
        super().__init__()
        self.names = names
        self.failure = failure
        self.keys: list[str | None] = []
        self.closed = 0

    async def list_models(self) -> list[str]:
        if self.failure is not None:
            raise self.failure
        return self.names

    async def close(self) -> None:
        self.closed += 1


@pytest.fixture
def server() -> Listing:
    return Listing(["first", "second"])


@pytest.fixture
def desk(store: Store, tmp_path: Path, server: Listing) -> Desk:
    def connect(endpoint: GuildEndpoint, key: str | None) -> Provider:
        server.keys.append(key)
        return server

    made = open_desk(
        store,
        open_keys(tmp_path, None),
        operators=ScriptedModel(),
        with_model=lambda model: ScriptedModel(),
        connect=connect,
        approved_guilds="ask",
        dms=None,
    )
    made.admission.introduce({OPERATOR}, is_public=True)
    return made


async def stored(desk: Desk, guild_id: int = GUILD) -> GuildEndpoint:
    found = await desk.setup.endpoint(guild_id)
    assert found is not None
    return found


async def test_without_a_model_the_first_listed_is_taken(desk: Desk, server: Listing) -> None:
    saved = await desk.setup.set_endpoint(GUILD, Wish(url=PUBLIC, key="k-1"), by=ADMIN)
    assert (saved.model, saved.has_key, saved.doubt) == ("first", True, "")
    assert server.keys == ["k-1"]
    assert server.closed == 1
    kept = await stored(desk)
    assert (kept.base_url, kept.model, kept.allow_private) == (PUBLIC, "first", False)
    assert kept.sealed_key != "k-1"
    assert await desk.setup.endpoint(OTHER) is None


@pytest.mark.parametrize(
    ("url", "kept"),
    [
        ("8.8.8.8", "https://8.8.8.8/v1"),
        (" https://8.8.8.8/v1/chat/completions ", PUBLIC),
        ("https://8.8.8.8:444/api", "https://8.8.8.8:444/api"),
    ],
)
async def test_urls_are_taken_as_people_paste_them(desk: Desk, url: str, kept: str) -> None:
    saved = await desk.setup.set_endpoint(GUILD, Wish(url=url), by=ADMIN)
    assert saved.url == kept


@pytest.mark.parametrize(
    ("wish", "words"),
    [
        (Wish(url=PRIVATE), "Only the bot's operator"),
        (Wish(url="http://[::1/v1"), "no valid URL"),
        (Wish(url="ftp://8.8.8.8/v1"), "must start with https://"),
        (Wish(url="https://user:pw@8.8.8.8/v1"), "user name or password"),
        (Wish(url=f"https://8.8.8.8/{'x' * 500}"), "longer than"),
        (Wish(url=PUBLIC, key="two words"), "one word"),
        (Wish(url=PUBLIC, key="schlüssel"), "one word"),
        (Wish(url=PUBLIC, model="a\nb"), "one line"),
        (Wish(url=PUBLIC, model="x" * 201), "200 characters"),
    ],
)
async def test_what_is_refused_is_not_kept(desk: Desk, wish: Wish, words: str) -> None:
    with pytest.raises(SetupRefused, match=words):
        await desk.setup.set_endpoint(GUILD, wish, by=ADMIN)
    assert await desk.setup.endpoint(GUILD) is None


async def test_what_the_operator_set_an_admin_may_keep_but_not_move(desk: Desk) -> None:
    await desk.setup.set_endpoint(GUILD, Wish(url=PRIVATE, key="k"), by=OPERATOR)
    await desk.setup.set_endpoint(GUILD, Wish(url=PRIVATE, model="second"), by=ADMIN)
    kept = await stored(desk)
    assert (kept.model, kept.allow_private, kept.sealed_key is None) == ("second", True, False)
    with pytest.raises(SetupRefused, match="Only the bot's operator"):
        await desk.setup.set_endpoint(GUILD, Wish(url=PRIVATE.replace("11434", "22")), by=ADMIN)
    await desk.setup.set_endpoint(GUILD, Wish(url=PUBLIC), by=ADMIN)
    kept = await stored(desk)
    assert (kept.allow_private, kept.sealed_key) == (False, None)
    with pytest.raises(SetupRefused, match="Only the bot's operator"):
        await desk.setup.set_endpoint(GUILD, Wish(url=PRIVATE), by=ADMIN)


async def test_a_server_that_is_down_is_doubted_or_refused(desk: Desk, server: Listing) -> None:
    server.failure = Unavailable("It is down.", remedy="Start it.")
    with pytest.raises(SetupRefused, match=r"It is down\. Start it\. Nothing was saved\."):
        await desk.setup.set_endpoint(GUILD, Wish(url=PUBLIC), by=ADMIN)
    saved = await desk.setup.set_endpoint(GUILD, Wish(url=PUBLIC, model="m"), by=ADMIN)
    assert "It is down." in saved.doubt
    assert server.closed == 2


async def test_a_model_that_is_not_listed_is_doubted(desk: Desk) -> None:
    saved = await desk.setup.set_endpoint(GUILD, Wish(url=PUBLIC, model="third"), by=ADMIN)
    assert saved.doubt == "The server does not list third. It lists: first, second."
    assert (await stored(desk)).model == "third"


async def test_a_server_without_models_needs_one_named(desk: Desk, server: Listing) -> None:
    server.names = []
    with pytest.raises(SetupRefused, match="lists no model"):
        await desk.setup.set_endpoint(GUILD, Wish(url=PUBLIC), by=ADMIN)


async def test_a_kept_key_that_was_lost_has_to_be_entered_again(store: Store, desk: Desk) -> None:
    await store.endpoints.put(
        GUILD, base_url=PUBLIC, model="m", sealed_key="broken", allow_private=False, set_by=ADMIN
    )
    with pytest.raises(SetupRefused, match="Enter it again"):
        await desk.setup.set_endpoint(GUILD, Wish(url=PUBLIC, model="n"), by=ADMIN)
    saved = await desk.setup.set_endpoint(GUILD, Wish(url=PUBLIC, key="k"), by=ADMIN)
    assert saved.has_key


async def read_in(desk: Desk, document: Any, *, by: int = ADMIN) -> Imported:
    content = document if isinstance(document, bytes) else json.dumps(document).encode()
    return await desk.portability.read_in(GUILD, content, by=by, channels={100, 101})


SEARXNG = {"provider": "searxng", "base_url": "https://8.8.4.4", "model": ""}

VALID: dict[str, Any] = {
    "verbatim_config": 1,
    **dict.fromkeys(("answering", "limits", "budget", "prices", "moderation")),
    "knowledge_members_search": True,
    "services": {
        "search": SEARXNG,
        "images": {"provider": "none", "base_url": "", "model": ""},
        "embeddings": None,
    },
    "endpoint": {"base_url": PUBLIC, "model": "first"},
    "fallbacks": [{"base_url": "https://9.9.9.9/v1", "model": "second"}],
    "operator_as_last_resort": True,
    "persona": "Pip",
    "server_rules": None,
    "pinned_notes": "The cup is on Sunday.",
    "channel_personas": {"100": {"persona": "Be a pirate.", "notes": "", "how": "append"}},
    "channel_models": {"101": {"model": "third", "url": "https://9.9.9.9/v1"}},
    "channels": ["100"],
    "switches": {"first": {"nudge": "off"}},
    "tools": {
        "read_only": True,
        "allowlist": ["recall"],
        "tools": {"forget": False},
        "tool_policies": {"forget": "free"},
    },
}


async def test_a_file_takes_the_place_of_what_was_there(store: Store, desk: Desk) -> None:
    await desk.personas.set_server(GUILD, Texts(persona="Old", rules="Old rules"))
    await desk.personas.set_server(OTHER, Texts(persona="Other", rules=""))
    await store.settings.put(GUILD, "gone", "nudge", "off")
    imported = await read_in(desk, VALID)
    assert imported.done
    assert all(line.fine for line in imported.lines)
    notes = "The cup is on Sunday."
    assert await desk.personas.server(GUILD) == Texts(persona="Pip", notes=notes)
    assert await store.settings.everything(GUILD) == {
        "": {
            "persona": "Pip",
            "pinned_notes": "The cup is on Sunday.",
            "channel_personas": VALID["channel_personas"],
            "channel_models": VALID["channel_models"],
            "channels": ["100"],
            "operator_as_last_resort": True,
            "knowledge_members_search": True,
            **VALID["tools"],
        },
        "first": {"nudge": "off"},
    }
    assert (await stored(desk)).sealed_key is None
    assert await desk.personas.server(OTHER) == Texts(persona="Other", rules="")
    again = json.loads(await desk.portability.export(GUILD))
    assert again == VALID


async def test_what_a_file_does_not_speak_of_stays(store: Store, desk: Desk) -> None:
    there = {"read_only": True, "dispatch_models": {"1": ["*"]}, "web": True}
    for name, value in there.items():
        await store.settings.put(GUILD, "", name, value)
    without = {name: value for name, value in VALID.items() if name != "tools"}
    assert (await read_in(desk, without)).done
    assert (await store.settings.values(GUILD, "")).items() >= there.items()
    assert (await read_in(desk, VALID | {"tools": {}})).done
    left = await store.settings.values(GUILD, "")
    assert "read_only" not in left
    assert left["dispatch_models"] == {"1": ["*"]}


async def test_a_key_stays_where_the_file_names_the_same_server(desk: Desk) -> None:
    await desk.setup.set_endpoint(GUILD, Wish(url=PUBLIC, key="k"), by=ADMIN)
    await read_in(desk, VALID)
    assert (await stored(desk)).sealed_key is not None
    await read_in(desk, VALID | {"endpoint": {"base_url": "https://9.9.9.9/v1", "model": "m"}})
    assert (await stored(desk)).sealed_key is None
    await read_in(desk, VALID | {"endpoint": None, "fallbacks": [], "channel_models": None})
    assert await desk.setup.endpoint(GUILD) is None


async def test_services_come_without_their_keys_which_stay_with_their_servers(
    store: Store, desk: Desk
) -> None:
    async def choose(wanted: Wanted) -> None:
        await desk.services.choose(GUILD, "search", wanted, by=ADMIN)

    async def key() -> bool:
        found = await desk.services.chosen(GUILD, "search")
        return found is not None and found.sealed_key is not None

    await choose(Wanted(provider="searxng", url="https://8.8.4.4", key="secret"))
    for kind in ("images", "embeddings"):
        made = Wanted(provider="openai", url="https://8.8.8.8/v1", model="m")
        await desk.services.choose(GUILD, kind, made, by=ADMIN)
    file = await desk.portability.export(GUILD)
    assert "secret" not in file
    assert (await read_in(desk, VALID)).done
    assert await key()
    assert (await desk.services.chosen(GUILD, "embeddings")) is None
    images = await desk.services.chosen(GUILD, "images")
    assert images is not None
    assert images.provider == "none"
    await desk.setup.reset(GUILD)
    assert (await read_in(desk, json.loads(file))).done
    assert json.loads(await desk.portability.export(GUILD)) == json.loads(file)
    assert not await key()
    without = {name: value for name, value in VALID.items() if name != "services"}
    assert (await read_in(desk, without)).done
    assert (await desk.services.chosen(GUILD, "embeddings")) is not None


async def test_a_service_that_needs_a_key_is_left_as_it_was_without_one(desk: Desk) -> None:
    brave = {"provider": "brave", "base_url": "", "model": ""}
    file = VALID | {"services": {"search": brave}}
    imported = await read_in(desk, file)
    assert imported.done
    assert any("brave needs a key" in line.what for line in imported.lines)
    assert await desk.services.chosen(GUILD, "search") is None
    await desk.services.choose(GUILD, "search", Wanted(provider="brave", key="k"), by=ADMIN)
    imported = await read_in(desk, file)
    assert any(line.what == "services: search by brave" for line in imported.lines)
    found = await desk.services.chosen(GUILD, "search")
    assert found is not None
    assert found.sealed_key is not None


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (b"{", "not JSON"),
        (b"\xff", "not JSON"),
        (b"[]", "not what /config export makes"),
        (b"[" * 100_000, "not JSON"),
        (b" " * (LARGEST_FILE + 1), "larger than"),
        ({"verbatim_config": 2}, "not what /config export makes"),
        ({"api_key": "secret"}, "'api_key' is not part"),
        ({"endpoint": {"base_url": PUBLIC, "model": "m", "key": "k"}}, "and nothing else"),
        ({"endpoint": {"base_url": PUBLIC, "model": ""}}, "must be texts"),
        ({"endpoint": {"base_url": PRIVATE, "model": "m"}}, "Only the bot's operator"),
        ({"endpoint": "here"}, "must hold base_url"),
        ({"persona": "x" * (LONGEST_TEXT + 1)}, "at most 4000"),
        ({"server_rules": 5}, "must be a text"),
        ({"server_rules": "a\n{% for x in y %}"}, "server_rules, line 2"),
        ({"channel_models": {"9": {"model": "x"}}}, "of 9: no channel of this server"),
        ({"channel_models": {"100": {"model": ""}}}, "of 100: must hold a model"),
        ({"channel_models": {"100": {"model": "x", "url": "y"}}}, "of 100: must hold a model"),
        ({"endpoint": None, "fallbacks": []}, "behind an endpoint"),
        ({"channel_personas": []}, "must be an object of at most 50"),
        ({"channel_personas": {"9": {"persona": "x"}}}, "of 9: no channel of this server"),
        ({"channel_personas": {"100": {"persona": "x"}}}, "of 100: must hold persona, notes"),
        (
            {"channel_personas": {"100": {"persona": "{{", "notes": "", "how": "append"}}},
            "of 100, line 1",
        ),
        ({"channels": ["100", "999"]}, "'999' is no channel of this server"),
        ({"channels": [100]}, "is no channel"),
        ({"channels": []}, "must be a list"),
        ({"channels": "100"}, "must be a list"),
        ({"switches": {"m": {"nudge": "maybe"}}}, "nudge is one of"),
        ({"switches": {"m": {"persona": "x"}}}, "There is no switch 'persona'"),
        ({"switches": {"m": {"nudge": 2}}}, "nudge is one of"),
        ({"switches": {"m": {"nudge": ["on"]}}}, "nudge is one of"),
        ({"switches": {"": {"model": "big"}}}, "must be named"),
        ({"switches": {"m": "off"}}, "hold an object"),
        ({"switches": []}, "must be an object"),
        ({"tools": []}, "must be an object"),
        ({"tools": {"exposure": "all"}}, "'exposure' is no setting, or not with this value"),
        ({"tools": {"read_only": "on"}}, "not with this value"),
        ({"tools": {"allowlist": "recall"}}, "not with this value"),
        ({"tools": {"allowlist": [5]}}, "not with this value"),
        ({"tools": {"tool_policies": {"forget": "sometimes"}}}, "not with this value"),
        ({"tools": {"tools": {"recall": "off"}}}, "not with this value"),
        ({"tools": {"dispatch_models": {}}}, "no setting"),
        ({"knowledge_members_search": "on"}, "no setting"),
        ({"services": []}, "must be an object with search, images, embeddings"),
        ({"services": {"speech": None}}, "must be an object with search, images, embeddings"),
        ({"services": {"search": {"provider": "ddgs"}}}, "provider, base_url and model alone"),
        ({"services": {"search": SEARXNG | {"key": "k"}}}, "provider, base_url and model alone"),
        ({"services": {"search": SEARXNG | {"base_url": 5}}}, "provider, base_url and model alone"),
        ({"services": {"search": SEARXNG | {"provider": "who"}}}, "The provider is one of"),
        ({"services": {"search": SEARXNG | {"base_url": PRIVATE}}}, "Only the bot's operator"),
        ({"services": {"images": SEARXNG | {"provider": "openai"}}}, "Name the model"),
    ],
)
async def test_one_wrong_line_and_nothing_is_imported(
    store: Store, desk: Desk, change: Any, words: str
) -> None:
    await desk.personas.set_server(GUILD, Texts(persona="Old", rules=""))
    imported = await read_in(desk, change if isinstance(change, bytes) else VALID | change)
    assert not imported.done
    assert any(words in line.what for line in imported.lines if not line.fine), imported.lines
    assert await store.settings.everything(GUILD) == {"": {"persona": "Old"}}
    assert await desk.setup.endpoint(GUILD) is None


async def test_every_line_is_reported_not_only_the_first_that_is_wrong(desk: Desk) -> None:
    imported = await read_in(
        desk, VALID | {"channels": ["1"], "switches": {"m": {"nudge": "no", "x": "y"}}}
    )
    assert [line.fine for line in imported.lines].count(False) == 2
    assert any(line.fine and line.what.startswith("persona") for line in imported.lines)
    assert any(line.fine and "nudge is off" in line.what for line in imported.lines)


async def test_switches_may_be_written_as_json_has_them(store: Store, desk: Desk) -> None:
    given = {"nudge": False, "context_window": 8192, "has_tools": True}
    assert (await read_in(desk, VALID | {"switches": {"m": given}})).done
    kept = await store.settings.values(GUILD, "m")
    assert kept == {"nudge": "off", "context_window": "8192", "has_tools": "on"}


async def test_a_file_does_not_choose_a_model_of_the_operators(store: Store, desk: Desk) -> None:
    imported = await read_in(
        desk, VALID | {"endpoint": None, "fallbacks": [], "model": "expensive"}
    )
    assert not imported.done
    with pytest.raises(SetupRefused, match="whose model the operator chooses"):
        await desk.setup.set_model(GUILD, "expensive", by=ADMIN)
    await desk.setup.set_model(GUILD, "expensive", by=OPERATOR)
    assert (
        await read_in(desk, VALID | {"endpoint": None, "fallbacks": [], "channel_models": None})
    ).done
    assert (await store.settings.values(GUILD, ""))["model"] == "expensive"
