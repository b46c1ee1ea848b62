"""Keeps the words of members who opted out away from every prompt.

Invariant: with the same wishes the same messages stay, so that consecutive prompts still begin
with the same bytes; nothing stands in the place of what is left out.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from chat.ports import ChannelMessage
from data.turns import StoredTurn


def heeded(
    messages: Sequence[ChannelMessage],
    answers: Mapping[int, StoredTurn],
    opted_out: Collection[int],
) -> list[ChannelMessage]:
    """`messages` without those of the members in `opted_out`, without our `answers` to them, and
    without what others quote of either."""
    return [
        without_quote_of(message, opted_out)
        for message in messages
        if message.author.id not in opted_out and not _answers_one(message, answers, opted_out)
    ]


def without_quote_of(message: ChannelMessage, opted_out: Collection[int]) -> ChannelMessage:
    """`message` without the words and files that it quotes of a member in `opted_out`."""
    quoted = message.reply_to
    if quoted is None or quoted.author.id not in opted_out:
        return message
    kept = tuple(file for file in message.attachments if file.message_id != quoted.message_id)
    return replace(message, reply_to=None, attachments=kept)


def _answers_one(
    message: ChannelMessage, answers: Mapping[int, StoredTurn], opted_out: Collection[int]
) -> bool:
    answer = answers.get(message.id)
    return message.ours and answer is not None and answer.member_id in opted_out
