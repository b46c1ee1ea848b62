"""What a message's content, embeds and files may hold.

Invariant: pure. A rule either passes or raises the ApiError that Discord answers with.
"""

from collections.abc import Sequence
from typing import Any

from tests.loopback.discord_server.component_rules import check_components
from tests.loopback.discord_server.errors import (
    ApiError,
    Problem,
    bad_length,
    form_error,
    missing,
    out_of_range,
    too_long,
)
from tests.loopback.discord_server.limits import Limits
from tests.loopback.discord_server.model import Upload
from tests.loopback.discord_server.wire import MessageFlag, Payload, objects


def check_content(content: str, limits: Limits) -> None:
    """Content counts in code points."""
    if len(content) > limits.content:
        raise too_long("content", limits.content)


def check_message(
    content: str, embeds: list[Payload], components: Any, flags: int, body: Payload, limits: Limits
) -> None:
    """The parts of a message, each for itself and against its flags."""
    layout = bool(flags & MessageFlag.COMPONENTS_V2)
    if layout and (content or embeds or body.get("poll") or body.get("sticker_ids")):
        raise form_error(
            "content" if content else "embeds",
            "MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2",
            "The 'content' field cannot be used when using MessageFlags.IS_COMPONENTS_V2",
        )
    check_content(content, limits)
    if body.get("poll"):
        check_poll(body["poll"], limits)
    check_embeds(embeds, limits)
    check_components(components, limits, layout=layout)


def check_poll(poll: Payload, limits: Limits) -> None:
    """A poll's question, answers and duration in hours."""
    if not 1 <= len(poll["question"]["text"]) <= limits.poll_question:
        raise bad_length("poll.question.text", limits.poll_question)
    answers = objects(poll.get("answers"))
    if not 1 <= len(answers) <= limits.poll_answers:
        raise bad_length("poll.answers", limits.poll_answers)
    for at, answer in enumerate(answers):
        if not 1 <= len(answer["poll_media"]["text"]) <= limits.poll_answer:
            raise bad_length(f"poll.answers.{at}.poll_media.text", limits.poll_answer)
    if not 1 <= (poll.get("duration") or 24) <= limits.poll_hours:
        raise out_of_range("poll.duration", 1, limits.poll_hours)


def check_files(files: Sequence[Upload], limits: Limits) -> None:
    """Number of files and the size of each."""
    if len(files) > limits.files:
        raise too_long("files", limits.files)
    if any(len(file.data) > limits.file_bytes for file in files):
        raise ApiError(Problem.FILE_TOO_LARGE)


def check_embeds(embeds: list[Payload], limits: Limits) -> None:
    """Each embed for itself, and the characters of all together."""
    if len(embeds) > limits.embeds:
        raise too_long("embeds", limits.embeds)
    total = sum(_embed_chars(embed, f"embeds.{i}", limits) for i, embed in enumerate(embeds))
    if total > limits.embed_total:
        message = f"Embed size exceeds maximum size of {limits.embed_total}"
        raise form_error("embeds", "MAX_EMBED_SIZE_EXCEEDED", message)


def _embed_chars(embed: Payload, path: str, limits: Limits) -> int:
    fields = objects(embed.get("fields"))
    if len(fields) > limits.embed_fields:
        raise too_long(f"{path}.fields", limits.embed_fields)
    footer: Payload = embed.get("footer") or {}
    author: Payload = embed.get("author") or {}
    texts = [
        (f"{path}.title", (embed.get("title") or "").strip(), limits.embed_title),
        (f"{path}.description", (embed.get("description") or "").strip(), limits.embed_description),
        (f"{path}.footer.text", footer.get("text") or "", limits.embed_footer),
        (f"{path}.author.name", author.get("name") or "", limits.embed_author),
    ]
    for i, field in enumerate(fields):
        for key, limit in (("name", limits.embed_field_name), ("value", limits.embed_field_value)):
            text = (field.get(key) or "").strip()
            if not text:
                raise missing(f"{path}.fields.{i}.{key}")
            texts.append((f"{path}.fields.{i}.{key}", text, limit))
    for where, text, limit in texts:
        if len(text) > limit:
            raise too_long(where, limit)
    return sum(len(text) for _, text, _ in texts)
