"""What a person can do in Discord, for a test to do in their place.

Invariant: only what the official client offers: a command that is registered, a component that
stands on a message, a modal that was opened.
"""

import time
from collections.abc import Mapping, Sequence

from tests.loopback.discord_server.command_data import CommandForm, OptionValue, find_command
from tests.loopback.discord_server.component_data import (
    choose_data,
    find_component,
    modal_data,
    press_data,
)
from tests.loopback.discord_server.core import Core
from tests.loopback.discord_server.model import (
    Channel,
    Interaction,
    InteractionState,
    Message,
    Upload,
    User,
)
from tests.loopback.discord_server.objects import poll_payload
from tests.loopback.discord_server.wire import CommandKind, InteractionKind, MessageKind, Payload

ANSWER_WAIT = 10.0


class Driver:
    """Members' actions. Each takes effect at once; what the bot makes of it comes later."""

    def __init__(self, core: Core) -> None:
        self._core = core

    def say(
        self,
        channel: Channel,
        user: User,
        text: str,
        *,
        reply_to: Message | None = None,
        files: Sequence[Upload] = (),
        stickers: Sequence[str] = (),
        poll: Sequence[str] = (),
        embeds: Sequence[Payload] = (),
    ) -> Message:
        """Send a message; a reply notifies the author of what it replies to. `stickers` are
        names, `poll` a question and its answers. Embeds are for webhooks and bots."""
        body: Payload = {"content": text, "embeds": list(embeds)}
        if stickers:
            body["sticker_ids"] = list(stickers)
        if poll:
            body["poll"] = poll_payload(poll)
        if reply_to is not None:
            body["message_reference"] = {"message_id": reply_to.id, "channel_id": channel.id}
        message = self._core.messages.compose(channel, user, body, files)
        message.stickers = stickers
        self._core.messages.publish(message)
        return message

    def forward(self, channel: Channel, user: User, forwarded: Message) -> Message:
        """Forward a message to a channel; it shows a copy and has no words of its own."""
        message = Message(
            id=self._core.world.next_id(),
            channel=channel,
            author=user,
            created=time.time(),
            forwards=forwarded,
        )
        self._core.messages.publish(message)
        return message

    def edit(self, message: Message, text: str) -> None:
        """Change the words of a member's message."""
        self._core.messages.edit(message, {"content": text})

    def delete(self, message: Message) -> None:
        """Delete a message, a member's or the bot's."""
        self._core.messages.delete(message)

    def redeliver(self, message: Message) -> None:
        """Announce a message once more, as Discord does after some lost connections."""
        payload = self._core.payloads.gateway_message(message)
        self._core.gateway.dispatch("MESSAGE_CREATE", payload, message.channel)

    def pin(self, user: User, message: Message) -> Message:
        """Pin a message; returns the system message that says so, which takes no replies."""
        notice = Message(
            id=self._core.world.next_id(),
            channel=message.channel,
            author=user,
            created=time.time(),
            kind=MessageKind.PIN_NOTICE,
            reply_to=message,
        )
        self._core.messages.publish(notice)
        return notice

    def slash(
        self,
        channel: Channel,
        user: User,
        path: str,
        options: Mapping[str, OptionValue] | None = None,
    ) -> Interaction:
        """Run a chat command, such as "config set", with options by name."""
        data = self._form(channel, user).fill(path, options or {})
        return self._core.interactions.begin(InteractionKind.COMMAND, user, channel, data)

    def autocomplete(
        self,
        channel: Channel,
        user: User,
        path: str,
        option: str,
        typed: str,
        options: Mapping[str, OptionValue] | None = None,
    ) -> Interaction:
        """Type into an option, with others filled in; see `choices` of the result."""
        values = {**(options or {}), option: typed}
        data = self._form(channel, user).fill(path, values, focused=option)
        return self._core.interactions.begin(InteractionKind.AUTOCOMPLETE, user, channel, data)

    def use_on(self, user: User, message: Message, name: str) -> Interaction:
        """Run a command from a message's context menu."""
        channel = message.channel
        command = find_command(self._core.world, channel.guild, name, CommandKind.MESSAGE)
        target = str(message.id)
        data: Payload = {
            "id": str(command.id),
            "name": command.name,
            "type": int(CommandKind.MESSAGE),
            "target_id": target,
            "resolved": {"messages": {target: self._core.payloads.message(message)}},
        }
        return self._core.interactions.begin(InteractionKind.COMMAND, user, channel, data)

    def press(self, user: User, message: Message, button: str) -> Interaction:
        """Press a button, named by custom id or label."""
        data = press_data(find_component(message, button))
        return self._use_component(user, message, data)

    def choose(
        self, user: User, message: Message, select: str, values: Sequence[str]
    ) -> Interaction:
        """Choose values in a select, named by custom id."""
        data = choose_data(find_component(message, select), values)
        return self._use_component(user, message, data)

    def submit(
        self, user: User, opened_by: Interaction, values: Mapping[str, str | Sequence[str]]
    ) -> Interaction:
        """Submit the modal that answered an interaction; fields by custom id or label."""
        if opened_by.modal is None:
            raise LookupError("that interaction was not answered with a modal")
        return self._core.interactions.begin(
            InteractionKind.MODAL,
            user,
            opened_by.channel,
            modal_data(opened_by.modal, values, self._core.limits),
            message=opened_by.message,
            source=opened_by,
        )

    async def acknowledged(
        self, interaction: Interaction, *, timeout: float = ANSWER_WAIT
    ) -> Interaction:
        """Wait until the bot reacted at all, or Discord gave up on it; see `state`."""
        await self._core.journal.until(
            lambda: interaction.state is not InteractionState.PENDING, timeout=timeout
        )
        return interaction

    async def answered(
        self, interaction: Interaction, *, timeout: float = ANSWER_WAIT
    ) -> Interaction:
        """Wait until there is more to see than "thinking"; see `original` and `modal`."""
        await self._core.journal.until(lambda: _is_answered(interaction), timeout=timeout)
        return interaction

    def _form(self, channel: Channel, user: User) -> CommandForm:
        return CommandForm(
            channel=channel,
            user=user,
            world=self._core.world,
            limits=self._core.limits,
            cdn=self._core.cdn,
            payloads=self._core.payloads,
        )

    def _use_component(self, user: User, message: Message, data: Payload) -> Interaction:
        return self._core.interactions.begin(
            InteractionKind.COMPONENT, user, message.channel, data, message=message
        )


def _is_answered(interaction: Interaction) -> bool:
    if interaction.state is InteractionState.PENDING:
        return False
    original = interaction.original
    return original is None or not original.loading or original.deleted
