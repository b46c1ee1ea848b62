"""What counts as made up. A value that was named in any form has to count as known."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.known_values import Known
from prompt.assemble import assemble
from prompt.dialogue import turn_item
from prompt.prompt import EXCHANGE, Prompt
from prompt.snapshot import Budget
from prompt.values import Json, ToolCall, ToolResult, ToolSpec
from tests.prompt.builders import asked, said, snapshot


def spec(**properties: Json) -> ToolSpec:
    return ToolSpec(
        name="cancel",
        description="Cancel something.",
        parameters={
            "type": "object",
            "properties": properties,
            "required": list(properties),
        },
    )


WHOLE: Json = {"type": "integer"}
TEXT: Json = {"type": "string"}


def prompt(text: str, *results: str) -> Prompt:
    made = assemble(snapshot(dialogue=(asked(text, None),)), Budget())
    for place, result in enumerate(results):
        call = called(event_id=990 + place)
        got = ToolResult(call_id=call.id, name=call.name, text=result, outcome="ok")
        made = made.grown(
            turn_item(said("assistant", call), tag=EXCHANGE),
            turn_item(said("tool", got), tag=EXCHANGE),
        )
    return made


def called(**arguments: Json) -> ToolCall:
    return ToolCall(id="c", name="cancel", arguments=arguments, raw_arguments="{}", origin="text")


def invented(made: Prompt, name: str, value: Json, schema: Json = WHOLE) -> bool:
    found, why = Known(made).invented(spec(**{name: schema}), called(**{name: value}))
    assert bool(found) == bool(why)
    return found == (name,)


@pytest.mark.parametrize("name", ["event_id", "id", "eventId", "number", "issue_number"])
def test_a_number_that_nobody_named_is_made_up(name: str) -> None:
    assert invented(prompt("cancel the pub quiz"), name, 123)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("cancel 17", 17),
        ("cancel #0017!", 17),
        ("cancel event17", 17),
        ("cancel the third", 3),
        ("lösch die drei", 3),
        ("取消三", 3),
        ("cancel ③", 3),
        ("cancel ١٧", 17),
        ("cancel 1,234,567", 1234567),
    ],
)
def test_a_number_is_known_in_any_form(text: str, value: int) -> None:
    assert not invented(prompt(text), "event_id", value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("close inv-0042 please", "INV-0042"),
        ("close INV 42", "inv-0042"),
        ("close invoice 42", "INV-42"),
        ("the user is <@81384788765712384>", "81384788765712384"),
        ("close it", "it"),
        ("close it", "the newest"),
    ],
)
def test_a_code_is_known_in_any_form(text: str, value: str) -> None:
    assert not invented(prompt(text), "invoice_id", value, TEXT)


def test_a_code_that_nobody_named_is_made_up() -> None:
    assert invented(prompt("close the last invoice"), "invoice_id", "INV-1001", TEXT)


@pytest.mark.parametrize("name", ["count", "minutes", "percent", "fact", "valid", "paid", "ideas"])
def test_other_arguments_are_the_models_to_choose(name: str) -> None:
    assert not invented(prompt("cancel some"), name, 123)


def test_an_argument_that_may_be_left_out_is_not_looked_at() -> None:
    optional = ToolSpec(
        name="cancel",
        description="",
        parameters={"type": "object", "properties": {"event_id": WHOLE}},
    )
    assert Known(prompt("cancel it")).invented(optional, called(event_id=5)) == ((), "")


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "integer", "default": 5},
        {"type": "integer", "enum": [4, 5]},
        {"type": "integer", "examples": [5]},
        {"type": "integer", "description": "5 is the main hall"},
    ],
)
def test_what_the_tool_itself_names_is_known(schema: Json) -> None:
    assert not invented(prompt("cancel it"), "hall_id", 5, schema)


def test_a_result_makes_a_number_known_and_the_models_own_call_does_not() -> None:
    made = prompt("cancel the pub quiz", "event 31: Pub quiz")
    assert not invented(made, "event_id", 31)
    assert invented(made, "event_id", 990)


def test_neither_worked_turns_nor_the_clock_make_a_number_known() -> None:
    made = prompt("lend me the book")
    texts = "\n".join(item.text for item in made.all_items)
    assert "book 31" in texts
    assert "2026" in texts
    assert invented(made, "book_id", 31)
    assert invented(made, "book_id", 2026)


def test_a_list_is_made_up_where_one_of_it_is() -> None:
    made = prompt("cancel 4 and 5")
    assert not invented(made, "event_ids", [4, 5], {"type": "array"})
    assert invented(made, "event_ids", [4, 6], {"type": "array"})


@given(
    value=st.integers(min_value=0, max_value=10**20),
    before=st.sampled_from(["", "#", "no. ", "0", "Nr", "(", "event-"]),
    after=st.sampled_from(["", ".", "!", ")", "th", " please"]),
    as_text=st.booleans(),
)
def test_a_number_in_the_message_is_never_made_up(
    value: int, before: str, after: str, as_text: bool
) -> None:
    made = prompt(f"cancel {before}{value}{after} now")
    assert not invented(made, "event_id", str(value) if as_text else value)


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("what does https://club.example/rules say?", "https://club.example/rules"),
        ("what does club.example/rules say?", "https://www.club.example/rules?page=1"),
        ("look at the page on boats in Wikipedia", "https://en.wikipedia.org/wiki/Boat"),
        ("the news of my-club please", "http://my-club.example:8080/news"),
        ("read the rules", "rules.txt"),
    ],
)
def test_an_address_is_known_by_its_site(text: str, url: str) -> None:
    assert Known(prompt(text)).made_up_address(spec(url=TEXT), called(url=url)) == ((), "")


def test_an_address_put_together_from_words_is_made_up() -> None:
    found = Known(prompt("news about the harbour club?")).made_up_address(
        spec(url=TEXT), called(url="https://www.harbourclub.com/news")
    )
    assert found == (("url",), "harbourclub.com is known from nowhere")
