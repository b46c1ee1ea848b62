"""The dialogue, answered line by line: what it offers, takes, refuses and writes."""

import io

import pytest

from chat.reply import Reply
from cli.setup.dialogue import wants_setup
from cli.setup.options import Options
from data.keys import KEY_NAME
from tests.cli.setup.conftest import GOOD, GOOD_TOKEN, Desk, answered
from tests.loopback import servers
from tests.loopback.servers import KEY, standing

SKIP_TEST = "n"
YES = ""
NO_TOKEN = ""


def look(*places: servers.Standing) -> Options:
    return Options(look=[f"127.0.0.1:{place.port}" for place in places])


def secret(desk: Desk, field: str) -> str | None:
    value = getattr(desk.load(), field)
    return None if value is None else value.get_secret_value()


async def test_a_server_a_model_and_a_token_are_chosen_and_written(desk: Desk) -> None:
    desk.reports, desk.replies = [GOOD], [answered("You rolled 7.")]
    async with standing(servers.lm_studio()) as first, standing(servers.ollama()) as second:
        ended = await desk.run("2", "2", GOOD_TOKEN, YES, YES, options=look(first, second))
    assert ended.status == 0
    assert f"1  LM Studio at {first.base_url}: gemma-3-12b, qwen3-4b" in ended.shown
    assert f"2  Ollama 0.12.3 at {second.base_url}: qwen3:8b, llama3.2:3b" in ended.shown
    assert ended.settings.base_url == second.base_url
    assert ended.settings.model == "llama3.2:3b"
    assert secret(desk, "discord_token") == GOOD_TOKEN
    assert desk.tokens == [GOOD_TOKEN]
    assert GOOD.invite_url in ended.shown
    assert "permissions 274878008384" in ended.shown
    assert "You rolled 7." in ended.shown
    assert ended.config is not None
    assert GOOD_TOKEN not in ended.config + ended.shown


async def test_present_values_are_the_defaults(desk: Desk) -> None:
    async with standing(servers.ollama()) as other, standing(servers.ollama()) as place:
        desk.keep(
            base_url=place.base_url, model="llama3.2:3b", discord_token=GOOD_TOKEN, idle_timeout=60
        )
        before = desk.load()
        desk.reports = [GOOD]
        ended = await desk.run("", "", "", SKIP_TEST, YES, options=look(other, place))
    assert "Which one [2]:" in ended.shown
    assert "Model, by number or name [llama3.2:3b]:" in ended.shown
    assert ended.settings == before
    assert (desk.home / "config.toml.bak").exists()


async def test_everything_can_be_skipped(desk: Desk) -> None:
    ended = await desk.run("3", NO_TOKEN, SKIP_TEST, YES)
    assert ended.status == 0
    assert ended.settings == desk.load()
    assert ended.config == ""


async def test_nothing_found_offers_a_model_of_its_own(desk: Desk) -> None:
    ended = await desk.run("", "2", NO_TOKEN, SKIP_TEST, YES)
    assert "No model server answers" in ended.shown
    assert ended.settings.base_url is None
    assert ended.settings.model == "qwen2.5-coder-0.5b-instruct-q4_k_m"


async def test_a_declined_fetch_is_a_failed_test_that_can_be_passed_over(desk: Desk) -> None:
    ended = await desk.run("", "1", NO_TOKEN, YES, "4", YES)
    assert "Nothing was fetched." in ended.shown
    assert ended.settings.model == "qwen2.5-coder-1.5b-instruct-q4_k_m"


async def test_looking_again_finds_what_was_started_meanwhile(desk: Desk) -> None:
    async with standing(servers.IMPOSTORS["a web page on every path"]) as place:
        ended = await desk.run("4", "3", NO_TOKEN, SKIP_TEST, "n", options=look(place))
        assert ended.shown.count("No model server answers") == 2
        place.routes = servers.plain("late")
        ended = await desk.run("1", NO_TOKEN, SKIP_TEST, YES, options=look(place))
    assert ended.settings.model == "late"


async def test_a_typed_address_is_asked_for_its_models(desk: Desk) -> None:
    async with standing(servers.plain("a", "b")) as place:
        ended = await desk.run("1", f"127.0.0.1:{place.port}", "", "b", NO_TOKEN, SKIP_TEST, YES)
    assert (ended.settings.base_url, ended.settings.model) == (place.base_url, "b")


async def test_an_address_that_is_none_and_one_that_is_silent(desk: Desk) -> None:
    async with standing({}) as place:
        closed = place.base_url
    ended = await desk.run(
        *("1", "ftp://box"), *("1", closed, ""), *("1", "2"), "3", NO_TOKEN, SKIP_TEST, "n"
    )
    assert "The URL must start with http:// or https://." in ended.shown
    assert ended.shown.count("What now") == 2
    assert "3  skip this step" in ended.shown.rpartition("another address")[2]
    assert ended.config is None


@pytest.mark.parametrize("make", [servers.tabby, servers.hosted])
async def test_a_guarded_server_gets_its_key_which_is_kept_encrypted(
    desk: Desk, make: type[dict[str, servers.Reply]]
) -> None:
    async with standing(make()) as place:
        ended = await desk.run(
            "1", "wrong", KEY, "1", NO_TOKEN, SKIP_TEST, YES, options=look(place)
        )
    assert "wants a key" in ended.shown
    assert ended.settings.model == "behind-the-key"
    assert secret(desk, "api_key") == KEY
    assert ended.config is not None
    assert KEY not in ended.config + ended.shown


async def test_a_key_does_not_follow_to_another_server(desk: Desk) -> None:
    async with standing(servers.hosted()) as mine, standing(servers.hosted()) as foreign:
        desk.keep(base_url=mine.base_url, api_key=KEY)
        await desk.run("2", "", "", "2", "3", NO_TOKEN, SKIP_TEST, "n", options=look(mine, foreign))
        sent = [asked.headers.get("Authorization") for asked in foreign.asked]
        assert KEY not in "".join(filter(None, sent))
        assert secret(desk, "api_key") == KEY
        ended = await desk.run(
            *("2", "", "", "3", "some-model"), NO_TOKEN, SKIP_TEST, YES, options=look(mine, foreign)
        )
    assert ended.settings.base_url == foreign.base_url
    assert ended.settings.api_key is None


async def test_another_path_at_the_same_server_keeps_the_key(desk: Desk) -> None:
    async with standing({**servers.hosted(), "/api/models": servers.Reply(status=401)}) as place:
        desk.keep(base_url=place.base_url, api_key=KEY)
        url = place.base_url.replace("/v1", "/api")
        ended = await desk.run("1", url, NO_TOKEN, SKIP_TEST, YES)
    assert ended.settings.base_url == url
    assert secret(desk, "api_key") == KEY


async def test_a_refused_token_is_asked_for_again(desk: Desk) -> None:
    refused = type(GOOD)(problem="Discord refuses this token.", refused=True)
    desk.reports = [refused, GOOD]
    ended = await desk.run("3", "bad", GOOD_TOKEN, SKIP_TEST, YES)
    assert desk.tokens == ["bad", GOOD_TOKEN]
    assert secret(desk, "discord_token") == GOOD_TOKEN
    assert "Discord refuses this token." in ended.shown


@pytest.mark.parametrize(("answer", "kept"), [("y", GOOD_TOKEN), ("n", None)])
async def test_a_token_can_be_kept_while_discord_is_out_of_reach(
    desk: Desk, answer: str, kept: str | None
) -> None:
    desk.reports = [type(GOOD)(problem="Discord cannot be reached.")]
    rest = [SKIP_TEST, YES] if kept else [NO_TOKEN, SKIP_TEST, YES]
    await desk.run("3", GOOD_TOKEN, answer, *rest)
    assert desk.tokens == [GOOD_TOKEN]
    assert secret(desk, "discord_token") == kept


async def test_a_token_of_two_words_is_not_sent(desk: Desk) -> None:
    ended = await desk.run("3", "two words", NO_TOKEN, SKIP_TEST, YES)
    assert desk.tokens == []
    assert "copy it again" in ended.shown


async def test_a_present_token_can_be_removed(desk: Desk) -> None:
    desk.keep(discord_token=GOOD_TOKEN)
    await desk.run("3", "-", SKIP_TEST, YES)
    assert secret(desk, "discord_token") is None
    assert desk.tokens == []


async def test_the_missing_intent_is_named_with_its_toggle(desk: Desk) -> None:
    blind = type(GOOD)(name="V", application_id=99, invite_url="https://invite")
    desk.reports = [blind, blind, GOOD]
    ended = await desk.run("3", GOOD_TOKEN, "", "", SKIP_TEST, YES)
    assert ended.shown.count("https://discord.com/developers/applications/99/bot") == 2
    assert ended.shown.count("Server Members and Presence are not needed; leave them off.") == 2
    assert "Its Message Content Intent is on." in ended.shown
    desk.reports = [blind]
    ended = await desk.run("3", GOOD_TOKEN, "s", SKIP_TEST, YES)
    assert "Its Message Content Intent is on." not in ended.shown
    assert "https://invite" in ended.shown


async def test_a_failed_test_turn_leads_back(desk: Desk) -> None:
    failed = Reply(state="failed", notices=["The model cannot be reached."], remedy="Start it.")
    desk.replies = [failed, failed, failed, answered("7")]
    async with standing(servers.plain("m")) as place, standing(servers.plain("n")) as other:
        ended = await desk.run(
            *("1", NO_TOKEN, YES),
            "1",  # try again
            *("2", "typed-key"),
            *("3", "2"),  # another endpoint, which then answers
            YES,
            options=look(place, other),
        )
    assert ended.shown.count("The model cannot be reached. Start it.") == 3
    keys = [s.api_key and s.api_key.get_secret_value() for s in desk.tried]
    assert keys == [None, None, "typed-key", None]
    assert ended.settings.base_url == other.base_url


def test_declining_the_first_day_by_a_key_ends_the_line() -> None:
    class Interrupted(io.StringIO):
        def readline(self, size: int = -1, /) -> str:
            raise KeyboardInterrupt

    shown = io.StringIO()
    assert not wants_setup(io.StringIO(""), shown)
    assert shown.getvalue().endswith("[Y/n]: \n")
    with pytest.raises(KeyboardInterrupt):
        wants_setup(Interrupted(), shown)
    assert shown.getvalue().endswith("[Y/n]: \n")
    assert shown.getvalue().count("Set it up now?") == 2


async def test_an_interruption_leaves_nothing_half_written(desk: Desk) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    desk.keep(model="before")
    before = sorted((path.name, path.read_bytes()) for path in desk.home.iterdir())
    desk.on_turn = interrupt
    desk.reports = [GOOD]
    async with standing(servers.plain("m")) as place:
        ended = await desk.run("1", GOOD_TOKEN, YES, options=look(place))
    assert ended.status == 130
    assert "Nothing was written." in ended.shown
    assert sorted((path.name, path.read_bytes()) for path in desk.home.iterdir()) == before


@pytest.mark.parametrize("answers", [(), ("3",), ("3", NO_TOKEN), ("3", NO_TOKEN, SKIP_TEST)])
async def test_input_that_ends_early_writes_nothing(desk: Desk, answers: tuple[str, ...]) -> None:
    ended = await desk.run(*answers)
    assert ended.status == 1
    assert "The input ended" in ended.shown
    assert not desk.home.exists()


async def test_a_lost_master_key_is_mended_by_entering_the_secrets_again(desk: Desk) -> None:
    async with standing(servers.hosted()) as place:
        desk.keep(base_url=place.base_url, api_key=KEY, discord_token=GOOD_TOKEN)
        (desk.home / KEY_NAME).unlink()
        desk.reports = [GOOD]
        await desk.run("1", KEY, GOOD_TOKEN, SKIP_TEST, YES, options=look(place))
    assert secret(desk, "api_key") == KEY
    assert secret(desk, "discord_token") == GOOD_TOKEN


async def test_what_a_variable_sets_is_said_to_go_first(desk: Desk) -> None:
    async with standing(servers.plain("m")) as place:
        desk.environ["VERBATIM_MODEL"] = "elsewhere"
        ended = await desk.run("1", NO_TOKEN, SKIP_TEST, YES, options=look(place))
    assert "VERBATIM_MODEL is set in the environment and goes before it" in ended.shown
    assert "VERBATIM_BASE_URL is set" not in ended.shown
    assert ended.config is not None
    assert 'model = "m"' in ended.config


async def test_names_from_a_server_cannot_move_the_cursor(desk: Desk) -> None:
    async with standing(servers.plain("\x1b[2Jevil[bold]", "b")) as place:
        ended = await desk.run("1", "", NO_TOKEN, SKIP_TEST, "n", options=look(place))
    assert "\x1b" not in ended.shown
    assert "[2Jevil[bold]" in ended.shown


async def test_long_lists_are_cut_and_searched_by_name(desk: Desk) -> None:
    names = [f"vendor/model-{number}" for number in range(300)]
    async with standing(servers.plain(*names)) as place:
        ended = await desk.run(
            *("1", "model-29", "nothing", "model-299"),
            NO_TOKEN,
            SKIP_TEST,
            YES,
            options=look(place),
        )
    assert "and 296 more" in ended.shown
    assert "and 280 more" in ended.shown
    assert "Several match: vendor/model-29, vendor/model-290" in ended.shown
    assert "It lists no such model." in ended.shown
    assert ended.settings.model == "vendor/model-299"
