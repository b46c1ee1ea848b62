"""Puts together what decides how each guild is served.

Invariant: all parts look at one store, so that what one of them keeps the others see at once.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from chat.admission import Admission
from chat.answering import AnsweringSettings
from chat.approval import Policies
from chat.embedding import ChosenEmbedders
from chat.endpoints import Connect, Endpoints
from chat.guild_setup import GuildSetup
from chat.knowledge import Grounder
from chat.knowledge_admin import KnowledgeAdmin
from chat.mcp_admin import McpAdmin
from chat.moderation import ModerationSettings
from chat.personas import Personas, Whereabouts
from chat.portability import Portability
from chat.privacy import Privacy
from chat.probing import Prober
from chat.quotas import Quotas
from chat.reminding import Reminding
from chat.scheduler import Schedulers
from chat.services import ChosenServices
from chat.tuning.tuner import Tuner
from chat.usage import UsageLedger
from data.channels import Channels
from data.guild_settings import GuildSettings
from data.keys import KeyRing
from data.services import ServiceKind
from data.store import Store
from data.turns import Turns
from data.unfinished import Unfinished
from net.fetch import Fetcher
from providers.base import Provider
from tools.builtin import ON_BY_DEFAULT
from tools.builtin.server import ServerTools
from tools.mcp.link import Opener, Server
from tools.mcp.toolset import McpToolset
from tools.services import Service
from tools.worker.process import Worker


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """Who is admitted, to which endpoint, and how admins and the operator change that."""

    admission: Admission
    endpoints: Endpoints
    setup: GuildSetup
    portability: Portability
    personas: Personas
    whereabouts: Whereabouts
    prober: Prober
    tuner: Tuner
    schedulers: Schedulers
    services: ChosenServices
    policies: Policies
    reminding: Reminding
    server_tools: ServerTools
    mcp: McpAdmin
    knowledge: KnowledgeAdmin
    grounder: Grounder
    answering: AnsweringSettings
    channels: Channels
    quotas: Quotas
    usage: UsageLedger
    turns: Turns
    unfinished: Unfinished
    privacy: Privacy
    moderation: ModerationSettings
    noted: GuildSettings
    """The settings of all guilds, which tell what is changed in them."""


def open_desk(
    store: Store,
    keys: KeyRing,
    *,
    operators: Provider,
    with_model: Callable[[str], Provider],
    connect: Connect,
    approved_guilds: Literal["ask", "all"] | Collection[int],
    dms: Literal["on", "off"] | None,
    fallbacks: Sequence[Provider] = (),
    probes_changes: bool = False,
    services: Mapping[ServiceKind, Service] | None = None,
    mcp_servers: Sequence[Server] = (),
    mcp_logs: Path | None = None,
    worker: Worker | None = None,
) -> Desk:
    """A desk whose `prober`, `knowledge` and then `endpoints` are the caller's to close; see
    Endpoints and Admission. With `probes_changes` an endpoint or model is tested as soon as a guild
    sets it.
    `fallbacks` are the operator's further endpoints.

    `mcp_servers` are the operator's, whose programs complain to `mcp_logs`. `mcp.toolset` is the
    caller's to start and to close. `worker` reads the documents of knowledge, and is the caller's
    to close.
    """
    admission = Admission(store, approved_guilds=approved_guilds, dms=dms)
    whereabouts = Whereabouts()
    endpoints = Endpoints(
        store=store,
        keys=keys,
        operators=operators,
        connect=connect,
        with_model=with_model,
        is_approved=admission.is_approved,
        fallbacks=fallbacks,
        whereabouts=whereabouts,
    )
    schedulers = Schedulers()
    reminding = Reminding(store.reminders)
    prober = Prober(store=store, routes=endpoints, schedulers=schedulers)
    setup = GuildSetup(
        store=store,
        endpoints=endpoints,
        connect=connect,
        admission=admission,
        changed=prober.later if probes_changes else lambda _, __: None,
    )
    chosen = ChosenServices(store, keys, admission, operators=services or {})
    embedders = ChosenEmbedders(chosen)
    return Desk(
        admission=admission,
        endpoints=endpoints,
        setup=setup,
        portability=Portability(store=store, setup=setup, services=chosen),
        personas=Personas(store, whereabouts),
        whereabouts=whereabouts,
        prober=prober,
        tuner=Tuner(store=store, routes=endpoints, schedulers=schedulers),
        schedulers=schedulers,
        services=chosen,
        policies=Policies(store=store),
        answering=AnsweringSettings(store),
        channels=store.channels,
        quotas=Quotas(store),
        usage=UsageLedger(store),
        reminding=reminding,
        server_tools=ServerTools(store.reminders, reminding.changed, on=ON_BY_DEFAULT),
        mcp=McpAdmin(
            store=store,
            keys=keys,
            toolset=McpToolset(
                store.mcp_servers,
                keys,
                operators=mcp_servers,
                opener=Opener(complaints=mcp_logs),
            ),
            is_operator=lambda user_id: user_id in admission.operators,
        ),
        knowledge=KnowledgeAdmin(store, embedders, worker=worker or Worker(), fetcher=Fetcher()),
        grounder=Grounder(store.knowledge, embedders),
        turns=store.turns,
        unfinished=store.unfinished,
        privacy=Privacy(store),
        moderation=ModerationSettings(store),
        noted=store.settings,
    )
