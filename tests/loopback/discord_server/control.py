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

    async def _say(self, d: Payload) -> Payload:
        replied = self._core.world.messages[d["reply_to"]] if d.get("reply_to") else None
        message = self._driver.say(*self._place(d), d["text"], reply_to=replied)
        return _message_json(message)

    async def _edit(self, d: Payload) -> Payload:
        message = self._message(d)
        self._driver.edit(message, d["text"])
        return _message_json(message)

    async def _delete(self, d: Payload) -> Payload:
        message = self._message(d)
        self._driver.delete(message)
        return _message_json(message)

    async def _slash(self, d: Payload) -> Payload:
        return await self._settle(
            self._driver.slash(*self._place(d), d["path"], d.get("options")), d
        )

    async def _autocomplete(self, d: Payload) -> Payload:
        interaction = self._driver.autocomplete(
            *self._place(d), d["path"], d["option"], d["typed"], d.get("options")
        )
        return await self._settle(interaction, d)

    async def _press(self, d: Payload) -> Payload:
        interaction = self._driver.press(self._member(d), self._message(d), d["button"])
        return await self._settle(interaction, d)

    async def _choose(self, d: Payload) -> Payload:
        interaction = self._driver.choose(
            self._member(d), self._message(d), d["select"], d["values"]
        )
        return await self._settle(interaction, d)

    async def _submit(self, d: Payload) -> Payload:
        opened_by = self._core.world.interactions[d["interaction"]]
        interaction = self._driver.submit(self._member(d), opened_by, d["values"])
        return await self._settle(interaction, d)

    async def _settle(self, interaction: Interaction, d: Payload) -> Payload:
        """Wait for the answer unless the description says otherwise."""
        if d.get("wait", True):
            await self._driver.answered(interaction, timeout=d.get("timeout", 10.0))
        return _interaction_json(interaction)

    async def _interaction_state(self, d: Payload) -> Payload:
        return _interaction_json(self._core.world.interactions[d["interaction"]])

    async def _messages(self, d: Payload) -> list[Payload]:
        channel = self._core.world.channel(d["channel"])
        return [_message_json(message) for message in channel.messages.values()]

    async def _versions(self, d: Payload) -> list[Payload]:
        return [dataclasses.asdict(version) for version in self._message(d).versions]

    async def _journal(self, d: Payload) -> list[Payload]:
        return [record.to_json() for record in self._core.journal.since(d.get("since", 0))]

    async def _wait(self, d: Payload) -> Payload:
        fields: Payload = d.get("fields") or {}
        record = await self._core.journal.wait_for(
            lambda r: r.kind == d["kind"] and all(r.get(k) == v for k, v in fields.items()),
            timeout=d.get("timeout", 10.0),
            since=d.get("since", 0),
        )
        return record.to_json()

    async def _user(self, d: Payload) -> Payload:
        user = self._core.build.user(d["name"], *self._core.world.guilds.values())
        return {"id": user.id}

    async def _channel(self, d: Payload) -> Payload:
        guild = self._core.world.guild(d["guild"])
        kind = ChannelKind(d.get("kind", ChannelKind.TEXT))
        return {"id": self._core.build.channel(guild, d["name"], kind).id}

    async def _direct_messages(self, d: Payload) -> Payload:
        return {"id": self._core.build.direct_messages(self._member(d)).id}

    async def _thread(self, d: Payload) -> Payload:
        channel, user = self._place(d)
        return {"id": self._core.build.thread(channel, d["name"], owner=user).id}

    async def _overwrite(self, d: Payload) -> Payload:
        channel = self._core.world.channel(d["channel"])
        target = self._core.world.user(d.get("user", self._core.world.bot.id))
        self._core.build.overwrite(channel, target, allow=d.get("allow", 0), deny=d.get("deny", 0))
        return {}

    async def _limits(self, d: Payload) -> Payload:
        for name, value in d.items():
            if name == "buckets":
                buckets = {bucket: Bucket(**fields) for bucket, fields in value.items()}
                self._core.limits.buckets.update(buckets)
            else:
                setattr(self._core.limits, name, value)
        return {}

    async def _fault(self, d: Payload) -> Payload:
        self._core.faults.plant_json(d)
        return {}

    async def _gateway(self, d: Payload) -> Payload:
        gateway = self._core.gateway
        match d["do"]:
            case "cut":
                gateway.cut()
            case "reconnect":
                gateway.ask_to_reconnect()
            case "invalidate":
                gateway.invalidate(resumable=d.get("resumable", False))
            case "mute":
                gateway.mute()
            case "close":
                await gateway.close(CloseCode(d.get("code", CloseCode.UNKNOWN_ERROR)))
            case unknown:
                raise ValueError(f"there is no such gateway fault: {unknown}")
        return {}

    def _place(self, d: Payload) -> tuple[Channel, User]:
        return self._core.world.channel(d["channel"]), self._member(d)

    def _member(self, d: Payload) -> User:
        return self._core.world.user(d["user"])

    def _message(self, d: Payload) -> Message:
        return self._core.world.messages[d["message"]]


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
