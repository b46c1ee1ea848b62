"""An interaction's life: raised by a member, acknowledged in time or failed, followed up.

Invariant: it is acknowledged at most once and only before its deadline; its token works only
after that and only until it expires.
"""

import asyncio
import secrets
import time
from collections.abc import Mapping, Sequence

from tests.loopback.discord_server.command_rules import check_choices
from tests.loopback.discord_server.component_rules import check_components
from tests.loopback.discord_server.errors import ApiError, Problem, bad_choice, bad_length
from tests.loopback.discord_server.gateway import Gateway
from tests.loopback.discord_server.journal import Journal
from tests.loopback.discord_server.limits import Limits
from tests.loopback.discord_server.messages import Messages
from tests.loopback.discord_server.model import (
    Channel,
    Interaction,
    InteractionState,
    Message,
    Upload,
    User,
)
from tests.loopback.discord_server.payloads import Payloads
from tests.loopback.discord_server.wire import (
    CallbackKind,
    InteractionKind,
    MessageFlag,
    MessageKind,
    Payload,
    objects,
)
from tests.loopback.discord_server.world import World

WITH_MESSAGE = (CallbackKind.MESSAGE, CallbackKind.DEFER)
ON_MESSAGE = (CallbackKind.DEFER_UPDATE, CallbackKind.UPDATE)
ELSEWHERE = (CallbackKind.MODAL, CallbackKind.LAUNCH)
ANSWERS: Mapping[InteractionKind, tuple[CallbackKind, ...]] = {
    InteractionKind.COMMAND: (*WITH_MESSAGE, *ELSEWHERE),
    InteractionKind.COMPONENT: (*WITH_MESSAGE, *ON_MESSAGE, *ELSEWHERE),
    InteractionKind.AUTOCOMPLETE: (CallbackKind.CHOICES,),
    InteractionKind.MODAL: (*WITH_MESSAGE, *ON_MESSAGE),
}
"""How each kind of interaction may be answered: no modal from a modal, nothing but choices
while a member types."""


class Interactions:
    """Raises interactions and takes their answers."""

    def __init__(
        self,
        *,
        world: World,
        limits: Limits,
        journal: Journal,
        gateway: Gateway,
        messages: Messages,
        payloads: Payloads,
    ) -> None:
        self._world = world
        self._limits = limits
        self._journal = journal
        self._gateway = gateway
        self._messages = messages
        self._payloads = payloads

    def begin(
        self,
        kind: InteractionKind,
        user: User,
        channel: Channel,
        data: Payload,
        *,
        message: Message | None = None,
        source: Interaction | None = None,
    ) -> Interaction:
        """Raise an interaction and start its clock."""
        interaction = Interaction(
            id=self._world.next_id(),
            token="aW50ZXJhY3Rpb246" + secrets.token_urlsafe(90),
            kind=kind,
            user=user,
            channel=channel,
            data=data,
            born=time.monotonic(),
            message=message,
            source=source,
        )
        self._world.interactions[interaction.id] = interaction
        self._world.tokens[interaction.token] = interaction
        self._journal.note(
            "interaction", id=interaction.id, type=int(kind), name=interaction.name, user=user.id
        )
        payload = self._payloads.interaction(interaction, file_bytes=self._limits.file_bytes)
        self._gateway.dispatch("INTERACTION_CREATE", payload)
        loop = asyncio.get_running_loop()
        interaction.deadline = loop.call_later(
            self._limits.acknowledge, self._time_out, interaction
        )
        return interaction

    def acknowledge(
        self, interaction: Interaction, body: Payload, files: Sequence[Upload] = ()
    ) -> None:
        """Take the first answer. A refused answer leaves the interaction waiting."""
        if interaction.state is InteractionState.FAILED:
            raise ApiError(Problem.UNKNOWN_INTERACTION)
        if interaction.state is InteractionState.ACKNOWLEDGED:
            self._journal.violation("interaction acknowledged twice", interaction=interaction.id)
            raise ApiError(Problem.ALREADY_ACKNOWLEDGED)
        answer = self._answer_kind(interaction, body)
        data: Payload = body.get("data") or {}
        published = self._answer(interaction, answer, data, files)
        interaction.original = interaction.message if answer in ON_MESSAGE else published
        interaction.state, interaction.answer = InteractionState.ACKNOWLEDGED, answer
        if interaction.deadline is not None:
            interaction.deadline.cancel()
        self._journal.note(
            "acknowledge",
            interaction=interaction.id,
            type=int(answer),
            seconds=round(time.monotonic() - interaction.born, 4),
            ephemeral=bool(int(data.get("flags") or 0) & MessageFlag.EPHEMERAL),
        )
        if published is not None:
            self._messages.publish(published)

    def follow_up(
        self, interaction: Interaction, body: Payload, files: Sequence[Upload] = ()
    ) -> Message:
        """A further message; the first one after a deferred answer takes that one's place."""
        original = interaction.original
        if original is not None and original.loading:
            edit = {key: value for key, value in body.items() if key != "flags"}
            self._messages.edit(original, edit, files, by_interaction=True)
            return original
        message = self._messages.compose(
            interaction.channel, self._world.bot, body, files, interaction=interaction
        )
        interaction.followups.append(message)
        self._messages.publish(message)
        return message

    def by_token(self, application_id: int, token: str) -> Interaction:
        """The interaction whose token a webhook request carries, if it may be used now."""
        interaction = self._world.tokens.get(token)
        if application_id != self._world.application_id or interaction is None:
            raise ApiError(Problem.UNKNOWN_WEBHOOK)
        if time.monotonic() - interaction.born > self._limits.interaction_token:
            self._journal.violation("interaction token expired", interaction=interaction.id)
            raise ApiError(Problem.INVALID_WEBHOOK_TOKEN)
        if interaction.state is not InteractionState.ACKNOWLEDGED:
            raise ApiError(Problem.UNKNOWN_WEBHOOK)
        return interaction

    def close(self) -> None:
        """Stop all clocks."""
        for interaction in self._world.interactions.values():
            if interaction.deadline is not None:
                interaction.deadline.cancel()

    def _time_out(self, interaction: Interaction) -> None:
        interaction.state = InteractionState.FAILED
        self._journal.violation(
            "the application did not respond", interaction=interaction.id, name=interaction.name
        )

    @staticmethod
    def _answer_kind(interaction: Interaction, body: Payload) -> CallbackKind:
        allowed = ANSWERS[interaction.kind]
        kind = body.get("type")
        if kind not in allowed or (kind in ON_MESSAGE and interaction.message is None):
            raise bad_choice("type", {int(answer) for answer in allowed})
        return CallbackKind(kind)

    def _answer(
        self,
        interaction: Interaction,
        answer: CallbackKind,
        data: Payload,
        files: Sequence[Upload],
    ) -> Message | None:
        """Check the answer and keep what it brings; returns the message to publish, if any."""
        is_command = interaction.kind is InteractionKind.COMMAND
        match answer:
            case CallbackKind.MESSAGE:
                kind = MessageKind.COMMAND if is_command else MessageKind.DEFAULT
                if not is_command and interaction.message is not None:
                    kind = MessageKind.REPLY
                return self._messages.compose(
                    interaction.channel,
                    self._world.bot,
                    data,
                    files,
                    interaction=interaction,
                    kind=kind,
                )
            case CallbackKind.DEFER:
                kind = MessageKind.COMMAND if is_command else MessageKind.DEFAULT
                flags = int(data.get("flags") or 0)
                return self._messages.placeholder(interaction, kind=kind, flags=flags)
            case CallbackKind.UPDATE:
                assert interaction.message is not None
                self._messages.edit(interaction.message, data, files, by_interaction=True)
            case CallbackKind.CHOICES:
                choices = objects(data.get("choices"))
                check_choices(choices, "data.choices", self._limits)
                interaction.choices = choices
            case CallbackKind.MODAL:
                self._check_modal(data)
                interaction.modal = data
            case CallbackKind.DEFER_UPDATE | CallbackKind.LAUNCH:
                pass
        return None

    def _check_modal(self, modal: Payload) -> None:
        components = objects(modal.get("components"))
        for size, path, limit in (
            (len(modal.get("title") or ""), "data.title", self._limits.modal_title),
            (len(modal.get("custom_id") or ""), "data.custom_id", self._limits.custom_id),
            (len(components), "data.components", self._limits.modal_components),
        ):
            if not 1 <= size <= limit:
                raise bad_length(path, limit)
        check_components(components, self._limits, modal=True)
