"""Routes that answer interactions: the callback, and the webhook of its token."""

from tests.loopback.discord_server.core import Core
from tests.loopback.discord_server.errors import ApiError, Problem
from tests.loopback.discord_server.model import Interaction, Message
from tests.loopback.discord_server.rest.request import Request, Route
from tests.loopback.discord_server.wire import CallbackKind, Payload


async def acknowledge(core: Core, request: Request) -> Payload | None:
    """The first answer to an interaction."""
    interaction = core.world.interactions.get(request.id("interaction"))
    if interaction is None or interaction.token != request.text("token"):
        raise ApiError(Problem.UNKNOWN_INTERACTION)
    form = await request.form()
    core.interactions.acknowledge(interaction, form.fields, form.files)
    if request.query.get("with_response") in ("1", "true", "True"):
        return _callback_payload(core, interaction)
    return None


def _callback_payload(core: Core, interaction: Interaction) -> Payload:
    answer = interaction.answer
    assert answer is not None
    about: Payload = {"id": str(interaction.id), "type": int(interaction.kind)}
    payload: Payload = {"interaction": about}
    resource: Payload = {"type": int(answer)}
    answers_message = answer in (CallbackKind.MESSAGE, CallbackKind.DEFER, CallbackKind.UPDATE)
    if answers_message and interaction.original is not None:
        message = interaction.original
        about |= {
            "response_message_id": str(message.id),
            "response_message_loading": message.loading,
            "response_message_ephemeral": message.ephemeral,
        }
        resource["message"] = core.payloads.message(message)
    # A deferred answer is described, but is no resource yet.
    if answer in (CallbackKind.MESSAGE, CallbackKind.UPDATE):
        payload["resource"] = resource
    return payload


async def follow_up(core: Core, request: Request) -> Payload:
    """A further message of an interaction."""
    interaction = _interaction(core, request)
    form = await request.form()
    return core.payloads.message(core.interactions.follow_up(interaction, form.fields, form.files))


async def get_answer(core: Core, request: Request) -> Payload:
    """One of an interaction's messages."""
    return core.payloads.message(_message(core, request, _interaction(core, request)))


async def edit_answer(core: Core, request: Request) -> Payload:
    """Edit one of an interaction's messages."""
    message = _message(core, request, _interaction(core, request))
    form = await request.form()
    core.messages.edit(message, form.fields, form.files, by_interaction=True)
    return core.payloads.message(message)


async def delete_answer(core: Core, request: Request) -> None:
    """Delete one of an interaction's messages."""
    core.messages.delete(_message(core, request, _interaction(core, request)))


def _interaction(core: Core, request: Request) -> Interaction:
    return core.interactions.by_token(request.id("webhook"), request.text("token"))


def _message(core: Core, request: Request, interaction: Interaction) -> Message:
    message = interaction.original
    if request.text("message") != "@original":
        message = core.world.messages.get(request.id("message"))
    if message is None or message.deleted or message.channel is not interaction.channel:
        raise ApiError(Problem.UNKNOWN_MESSAGE)
    return message


CALLBACK = "/interactions/{interaction}/{token}/callback"
WEBHOOK = "/webhooks/{webhook}/{token}"
ANSWER = WEBHOOK + "/messages/{message}"
ROUTES = (
    Route("POST", CALLBACK, acknowledge, authorized=False, counted=False),
    Route("POST", WEBHOOK, follow_up, "webhook", authorized=False, counted=False),
    Route("GET", ANSWER, get_answer, "webhook", authorized=False, counted=False),
    Route("PATCH", ANSWER, edit_answer, "webhook", authorized=False, counted=False),
    Route("DELETE", ANSWER, delete_answer, "webhook", authorized=False, counted=False),
)
