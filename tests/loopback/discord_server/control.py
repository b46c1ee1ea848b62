"""Steers the server from another process: one JSON object in, one out.

Invariant: a thin layer over the builder, the driver, the faults and the journal; it can do
nothing that they cannot. It is no part of Discord and lies outside of its paths.
"""

import dataclasses
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeAlias

from aiohttp import web

from tests.loopback.discord_server.core import Core
from tests.loopback.discord_server.driver import Driver
from tests.loopback.discord_server.errors import ApiError
from tests.loopback.discord_server.limits import Bucket
from tests.loopback.discord_server.model import Channel, Interaction, Message, User
from tests.loopback.discord_server.wire import ChannelKind, CloseCode, Payload

Action: TypeAlias = Callable[[Payload], Awaitable[Any]]


class Control:
    """Serves /_control/ACTION. Ids are JSON numbers, in both directions."""

    def __init__(self, core: Core, driver: Driver) -> None:
        self._core = core
        self._driver = driver
        self._actions: Mapping[str, Action] = {
            "say": self._say,
            "edit": self._edit,
            "delete": self._delete,
            "slash": self._slash,
            "autocomplete": self._autocomplete,
            "use_on": self._use_on,
            "press": self._press,
            "choose": self._choose,
            "submit": self._submit,
            "interaction": self._interaction_state,
            "messages": self._messages,
            "versions": self._versions,
            "journal": self._journal,
            "wait": self._wait,
            "user": self._user,
            "channel": self._channel,
            "direct_messages": self._direct_messages,
            "thread": self._thread,
            "overwrite": self._overwrite,
            "limits": self._limits,
            "fault": self._fault,
            "gateway": self._gateway,
        }

    async def handle(self, request: web.Request) -> web.Response:
        """Run one action; 422 says what was wrong with its description."""
        action = self._actions.get(request.match_info["action"])
        if action is None:
            return _json({"error": f"the actions are {sorted(self._actions)}"}, status=404)
        description: Payload = await request.json() if request.can_read_body else {}
        try:
            return _json(await action(description))
        except ApiError as error:
            return _json(error.body(), status=error.status)
        except TimeoutError as error:
            return _json({"error": str(error)}, status=504)
        except (LookupError, ValueError, TypeError, AttributeError) as error:
            return _json({"error": repr(error)}, status=422)

    async def _say(self, given: Payload) -> Payload:
        replied = self._core.world.messages[given["reply_to"]] if given.get("reply_to") else None
        message = self._driver.say(*self._place(given), given["text"], reply_to=replied)
        return _message_json(message)

    async def _edit(self, given: Payload) -> Payload:
        message = self._message(given)
        self._driver.edit(message, given["text"])
        return _message_json(message)

    async def _delete(self, given: Payload) -> Payload:
        message = self._message(given)
        self._driver.delete(message)
        return _message_json(message)

    async def _slash(self, given: Payload) -> Payload:
        return await self._settle(
            self._driver.slash(*self._place(given), given["path"], given.get("options")), given
        )

    async def _autocomplete(self, given: Payload) -> Payload:
        interaction = self._driver.autocomplete(
            *self._place(given),
            given["path"],
            given["option"],
            given["typed"],
            given.get("options"),
        )
        return await self._settle(interaction, given)

    async def _use_on(self, given: Payload) -> Payload:
        interaction = self._driver.use_on(
            self._member(given), self._message(given), given["command"]
        )
        return await self._settle(interaction, given)

    async def _press(self, given: Payload) -> Payload:
        interaction = self._driver.press(self._member(given), self._message(given), given["button"])
        return await self._settle(interaction, given)

    async def _choose(self, given: Payload) -> Payload:
        interaction = self._driver.choose(
            self._member(given), self._message(given), given["select"], given["values"]
        )
        return await self._settle(interaction, given)

    async def _submit(self, given: Payload) -> Payload:
        opened_by = self._core.world.interactions[given["interaction"]]
        interaction = self._driver.submit(self._member(given), opened_by, given["values"])
        return await self._settle(interaction, given)

    async def _settle(self, interaction: Interaction, given: Payload) -> Payload:
        """Wait for the answer unless the description says otherwise."""
        if given.get("wait", True):
            await self._driver.answered(interaction, timeout=given.get("timeout", 10.0))
        return _interaction_json(interaction)

    async def _interaction_state(self, given: Payload) -> Payload:
        return _interaction_json(self._core.world.interactions[given["interaction"]])

    async def _messages(self, given: Payload) -> list[Payload]:
        channel = self._core.world.channel(given["channel"])
        return [_message_json(message) for message in channel.messages.values()]

    async def _versions(self, given: Payload) -> list[Payload]:
        return [dataclasses.asdict(version) for version in self._message(given).versions]

    async def _journal(self, given: Payload) -> list[Payload]:
        return [record.to_json() for record in self._core.journal.since(given.get("since", 0))]

    async def _wait(self, given: Payload) -> Payload:
        fields: Payload = given.get("fields") or {}
        record = await self._core.journal.wait_for(
            lambda r: r.kind == given["kind"] and all(r.get(k) == v for k, v in fields.items()),
            timeout=given.get("timeout", 10.0),
            since=given.get("since", 0),
        )
        return record.to_json()

    async def _user(self, given: Payload) -> Payload:
        user = self._core.build.user(given["name"], *self._core.world.guilds.values())
        return {"id": user.id}

    async def _channel(self, given: Payload) -> Payload:
        guild = self._core.world.guild(given["guild"])
        kind = ChannelKind(given.get("kind", ChannelKind.TEXT))
        return {"id": self._core.build.channel(guild, given["name"], kind).id}

    async def _direct_messages(self, given: Payload) -> Payload:
        return {"id": self._core.build.direct_messages(self._member(given)).id}

    async def _thread(self, given: Payload) -> Payload:
        channel, user = self._place(given)
        return {"id": self._core.build.thread(channel, given["name"], owner=user).id}

    async def _overwrite(self, given: Payload) -> Payload:
        channel = self._core.world.channel(given["channel"])
        target = self._core.world.user(given.get("user", self._core.world.bot.id))
        self._core.build.overwrite(
            channel, target, allow=given.get("allow", 0), deny=given.get("deny", 0)
        )
        return {}

    async def _limits(self, given: Payload) -> Payload:
        for name, value in given.items():
            if name == "buckets":
                buckets = {bucket: Bucket(**fields) for bucket, fields in value.items()}
                self._core.limits.buckets.update(buckets)
            else:
                setattr(self._core.limits, name, value)
        return {}

    async def _fault(self, given: Payload) -> Payload:
        self._core.faults.plant_json(given)
        return {}

    async def _gateway(self, given: Payload) -> Payload:
        gateway = self._core.gateway
        match given["do"]:
            case "cut":
                gateway.cut()
            case "reconnect":
                gateway.ask_to_reconnect()
            case "invalidate":
                gateway.invalidate(resumable=given.get("resumable", False))
            case "mute":
                gateway.mute()
            case "close":
                await gateway.close(CloseCode(given.get("code", CloseCode.UNKNOWN_ERROR)))
            case unknown:
                raise ValueError(f"there is no such gateway fault: {unknown}")
        return {}

    def _place(self, given: Payload) -> tuple[Channel, User]:
        return self._core.world.channel(given["channel"]), self._member(given)

    def _member(self, given: Payload) -> User:
        return self._core.world.user(given["user"])

    def _message(self, given: Payload) -> Message:
        return self._core.world.messages[given["message"]]


def _message_json(message: Message) -> Payload:
    return {
        "id": message.id,
        "channel": message.channel.id,
        "author": message.author.id,
        "text": message.text,
        "embeds": message.embeds,
        "components": message.components,
        "flags": int(message.flags),
        "reply_to": message.reply_to.id if message.reply_to else None,
        "pings": sorted(message.pings.users),
        "deleted": message.deleted,
    }


def _interaction_json(interaction: Interaction) -> Payload:
    original = interaction.original
    return {
        "id": interaction.id,
        "state": interaction.state.name.lower(),
        "answer": None if interaction.answer is None else int(interaction.answer),
        "original": None if original is None else _message_json(original),
        "followups": [_message_json(message) for message in interaction.followups],
        "choices": interaction.choices,
        "modal": interaction.modal,
    }


def _json(body: Any, *, status: int = 200) -> web.Response:
    return web.json_response(body, status=status, dumps=json.dumps)
