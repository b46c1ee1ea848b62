"""Puts together what decides how each guild is served.

Invariant: all parts look at one store, so that what one of them keeps the others see at once.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Literal

from chat.admission import Admission
from chat.approval import Policies
from chat.endpoints import Connect, Endpoints
from chat.guild_setup import GuildSetup
from chat.portability import Portability
from chat.probing import Prober
from data.keys import KeyRing
from data.store import Store
from providers.base import Provider


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """Who is admitted, to which endpoint, and how admins and the operator change that."""

    admission: Admission
    endpoints: Endpoints
    setup: GuildSetup
    portability: Portability
    prober: Prober
    policies: Policies


def open_desk(
    store: Store,
    keys: KeyRing,
    *,
    operators: Provider,
    with_model: Callable[[str], Provider],
    connect: Connect,
    approved_guilds: Literal["ask", "all"] | Collection[int],
    dms: Literal["on", "off"] | None,
    probes_changes: bool = False,
) -> Desk:
    """A desk whose `prober` and then `endpoints` are the caller's to close; see Endpoints and
    Admission. With `probes_changes` an endpoint or model is tested as soon as a guild sets it."""
    admission = Admission(store, approved_guilds=approved_guilds, dms=dms)
    endpoints = Endpoints(
        store=store,
        keys=keys,
        operators=operators,
        connect=connect,
        with_model=with_model,
        is_approved=admission.is_approved,
    )
    prober = Prober(store=store, routes=endpoints)
    setup = GuildSetup(
        store=store,
        endpoints=endpoints,
        connect=connect,
        admission=admission,
        changed=prober.later if probes_changes else lambda _: None,
    )
    return Desk(
        admission=admission,
        endpoints=endpoints,
        setup=setup,
        portability=Portability(store=store, setup=setup),
        prober=prober,
        policies=Policies(store=store),
    )
