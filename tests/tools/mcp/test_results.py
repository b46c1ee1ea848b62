"""What a server answers, as the model reads it and the member sees it."""

import base64

import pytest
from mcp import types

from tools.mcp.results import LONGEST_RESULT, MOST_FILES, output_of
from tools.registry import ToolFailure

PIXEL = base64.b64encode(b"\x89PNG-pixel").decode()


def answer(
    *content: types.ContentBlock, error: bool = False, **more: object
) -> types.CallToolResult:
    return types.CallToolResult.model_validate(
        {"content": list(content), "is_error": error, **more}, by_name=True
    )


def words(text: str) -> types.TextContent:
    return types.TextContent(text=text)


def test_text_is_handed_on_in_order():
    assert output_of(answer(words("one"), words("two")), tool="t").text == "one\ntwo"


def test_structured_content_stands_in_where_there_is_no_text():
    data = {"b": 1, "a": [True]}
    assert output_of(answer(structured_content=data), tool="t").text == '{"b":1,"a":[true]}'
    assert output_of(answer(words("b is 1"), structured_content=data), tool="t").text == "b is 1"


@pytest.mark.parametrize(
    ("texts", "told"),
    [
        (["pump offline"], 'pump offline\n{"code":"E7","retry_after":30}'),
        ([], '{"code":"E7","retry_after":30}'),
        (['{"retry_after": 30, "code": "E7"}'], '{"retry_after": 30, "code": "E7"}'),
    ],
)
def test_an_error_is_told_in_words_and_then_for_machines(texts: list[str], told: str):
    """The second part is not said again where the words are the same JSON."""
    data = {"code": "E7", "retry_after": 30}
    with pytest.raises(ToolFailure) as raised:
        output_of(answer(*map(words, texts), error=True, structured_content=data), tool="t")
    assert str(raised.value) == told


def test_a_long_error_keeps_its_part_for_machines():
    with pytest.raises(ToolFailure) as raised:
        output_of(
            answer(words("x" * 10_000), error=True, structured_content={"code": "E7"}), tool="t"
        )
    assert str(raised.value).endswith('{"code":"E7"}')
    assert len(str(raised.value)) < 3_000


def test_a_picture_goes_to_the_member_and_the_model_is_told_of_it():
    output = output_of(
        answer(words("Here:"), types.ImageContent(data=PIXEL, mime_type="image/png")), tool="draw"
    )
    (file,) = output.files
    assert (file.name, file.data) == ("draw-1.png", b"\x89PNG-pixel")
    assert output.text.startswith("Here:\n[image: image/png, ")
    assert "draw-1.png" in output.text
    assert PIXEL not in output.text


def test_only_some_pictures_are_shown():
    images = [types.ImageContent(data=PIXEL, mime_type="image/png")] * (MOST_FILES + 1)
    output = output_of(answer(*images), tool="draw")
    assert len(output.files) == MOST_FILES
    assert "left out" in output.text


def test_a_picture_that_is_none_is_told_of():
    output = output_of(answer(types.ImageContent(data="!", mime_type="image/png")), tool="draw")
    assert output.files == ()
    assert "could not be decoded" in output.text


def test_the_name_of_a_file_leads_nowhere():
    image = types.ImageContent(data=PIXEL, mime_type="image/../../x")
    (file,) = output_of(answer(image), tool="../etc/pass\u202ewd").files
    assert file.name == ".._etc_passwd-1.bin"


def test_resources_are_named_or_quoted():
    output = output_of(
        answer(
            types.ResourceLink(name="n", uri="demo://1", description="about\nit"),
            types.EmbeddedResource(
                resource=types.TextResourceContents(uri="demo://2", text="inside")
            ),
            types.EmbeddedResource(
                resource=types.BlobResourceContents(
                    uri="demo://3", blob=PIXEL, mime_type="application/pdf"
                )
            ),
        ),
        tool="t",
    )
    assert "[resource n: demo://1, about it]" in output.text
    assert "[resource demo://2]\ninside" in output.text
    assert [file.name for file in output.files] == ["t-1.pdf"]


def test_an_error_leaves_as_one():
    with pytest.raises(ToolFailure, match="no such page"):
        output_of(answer(words("no such page"), error=True), tool="t")
    with pytest.raises(ToolFailure, match="gave no reason"):
        output_of(answer(error=True), tool="t")


def test_a_long_answer_is_cut():
    text = output_of(answer(words("x" * (LONGEST_RESULT + 5))), tool="t").text
    assert text == f"{'x' * LONGEST_RESULT}\n[cut: 5 more]"
