"""Grounding as it was agreed, number by number. The model is played, and tells the fact only if it
saw it; C6, C7, C9 and C10 are about values and stand with the prompt, the index and the web.

The witness that refuses the tempting wrong fix, to keep passages in the history, stands in
`test_paths`: test_the_tempting_fix_to_keep_passages_in_the_history_is_refused."""

import json
from collections.abc import Sequence

import pytest

from data.store import Store
from net.fetch import Fetcher
from prompt.knowledge import KNOWLEDGE_TAG
from prompt.prompt import Prompt
from tests.chat.scripted import ADA
from tests.grounding.witness import (
    DOCUMENT,
    FACT,
    IGNORANT,
    OWNER,
    QUESTION,
    STRANGER,
    Witness,
    keep,
    station,
    use,
    words,
)
from tests.tools.exhibits import Exhibits
from tools.builtin import ON_BY_DEFAULT
from tools.builtin.outside import OutsideTools
from tools.services import Missing
from tools.toolset import Offered, Toolset
from tools.worker.process import Worker


class NoServices:
    """A guild whose search provider is none."""

    async def search(self, guild_id: int) -> Missing:
        return Missing(why="none")

    async def images(self, guild_id: int) -> Missing:
        return Missing(why="none")


class Those:
    """The named tools of a toolset."""

    def __init__(self, inner: Toolset, *names: str) -> None:
        self._inner = inner
        self._names = names

    async def offered(self, guild_id: int) -> Sequence[Offered]:
        found = await self._inner.offered(guild_id)
        return [each for each in found if each.tool.spec.name in self._names]


def outside() -> OutsideTools:
    return OutsideTools(NoServices(), Fetcher(), Worker(), on=ON_BY_DEFAULT)


def grounding_in(prompt: Prompt) -> list[str]:
    return [item.text for item in prompt.items if item.tag == KNOWLEDGE_TAG]


def test_the_question_does_not_give_the_answer_away() -> None:
    assert FACT not in QUESTION
    assert FACT in DOCUMENT


@pytest.mark.parametrize("route", ["web", "attachment", "mcp__docs__lookup", "mcp__g42__ticket"])
async def test_c01_a_selected_context_grounds_turns_whatever_tools_there_are(
    store: Store, route: str
) -> None:
    exhibits = Those(Exhibits(), route)
    toolsets: list[Toolset] = [Those(outside(), "web_fetch"), exhibits]
    async with station(store, toolsets=toolsets) as here:
        await keep(store, DOCUMENT)
        await here.set(web=route == "web")
        files = {"note.txt": b"a note"} if route == "attachment" else None
        asked = here.house.channel.add(ADA, QUESTION, files=files)
        shown = here.house.presenter()
        await here.house.service.respond(here.house.about(asked), here.house.channel, shown)
        first = here.endpoint.received[0]
        assert first.body["tools"], "the turn went out without tools"
        if route != "attachment":
            assert {"web": "web_fetch"}.get(route, route) in here.offered
        assert FACT in words(first)
        assert [FACT in snippet.text for snippet in here.snippets] == [True]
        assert FACT in shown.reply.text
        assert here.searcher.asked == [QUESTION]


async def test_c02_without_a_selected_context_nothing_is_known(store: Store) -> None:
    async with station(store) as here:
        await keep(store, DOCUMENT, used=False)
        shown = await here.ask()
        assert FACT not in words(here.endpoint.received[0])
        assert here.snippets == ()
        assert shown.reply.text == IGNORANT
        assert len(here.endpoint.received) == 1
        assert here.searcher.asked == []
        assert "knowledge_search" not in here.offered


async def test_c03_a_context_offers_the_search_and_web_alone_the_fetch(store: Store) -> None:
    three = Those(outside(), "web_search", "web_fetch")
    async with station(store, toolsets=[three]) as here:
        await here.set(web=True)
        await here.ask()
        assert here.offered == ["web_fetch"]
        await keep(store, DOCUMENT)
        await here.ask()
        assert set(here.offered) == {"knowledge_search", "web_fetch"}
        await here.set(web=False)
        await here.ask()
        assert here.offered == ["knowledge_search"]


async def test_c04_a_context_of_another_guild_is_no_context(store: Store) -> None:
    theirs = await keep(store, DOCUMENT)
    async with station(store, guild_id=STRANGER) as here:
        await use(store, theirs, STRANGER)
        shown = await here.ask()
        assert (FACT in words(here.endpoint.received[0]), here.snippets) == (False, ())
        assert "knowledge_search" not in here.offered
        assert here.searcher.asked == []
        assert shown.reply.text == IGNORANT


async def test_c05_a_question_that_matches_nothing_gets_no_block(store: Store) -> None:
    async with station(store) as here:
        await keep(store, DOCUMENT)
        shown = await here.ask("Recommend chocolate pudding recipes")
        assert "knowledge_search" in here.offered
        assert here.snippets == ()
        assert grounding_in(here.provider.prompts[0]) == []
        assert "this server's document" not in words(here.endpoint.received[0])
        assert shown.reply.sources == ()
        assert len(here.searcher.asked) == 1


@pytest.mark.parametrize("chunks", [1, 5])
async def test_c08_whole_answers_are_grounded_like_streamed_ones(store: Store, chunks: int) -> None:
    """With five chunks the window is so small that some of them do not survive."""
    long = [f"{DOCUMENT} Part {n}: " + f"lamp{n} " * 300 for n in range(chunks)]
    await keep(store, *([DOCUMENT] if chunks == 1 else long))
    seen: list[tuple[str, object, object, str]] = []
    for way in ("stream", "whole"):
        async with station(store, Witness(whole=way == "whole")) as here:
            await here.switch("stream_with_tools", way)
            await here.switch("context_window", "3000" if chunks > 1 else "default")
            shown = await here.ask()
            first = here.endpoint.received[0]
            assert bool(first.body.get("stream")) is (way == "stream")
            messages = json.dumps(first.messages)
            seen.append((messages, here.snippets, shown.reply.sources, shown.reply.text))
            if chunks > 1:
                assert 0 < len(here.snippets) < 4
    assert seen[0] == seen[1]
    assert FACT in seen[0][3]


async def test_a_thread_uses_what_its_parent_does(store: Store) -> None:
    context = await keep(store, DOCUMENT, used=False)
    await use(store, context, channel_id=555)
    for parent_id, known in ((555, True), (556, False), (None, False)):
        async with station(store, parent_id=parent_id) as here:
            assert (FACT in (await here.ask()).reply.text) is known


async def test_direct_messages_have_no_knowledge(store: Store) -> None:
    await keep(store, DOCUMENT, guild_id=OWNER)
    async with station(store, guild_id=0) as here:
        assert (await here.ask()).reply.text == IGNORANT
        assert here.searcher.asked == []
