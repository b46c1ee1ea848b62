"""The parts of one server, wired once.

Invariant: parts know those that they are given here and no others; a request's handler is
given all of them.
"""

from dataclasses import dataclass

from tests.loopback.discord_server.builder import Builder
from tests.loopback.discord_server.cdn import Address, ContentDelivery
from tests.loopback.discord_server.faults import Faults
from tests.loopback.discord_server.gateway import Gateway
from tests.loopback.discord_server.interactions import Interactions
from tests.loopback.discord_server.journal import Journal
from tests.loopback.discord_server.limits import Limits
from tests.loopback.discord_server.messages import Messages
from tests.loopback.discord_server.payloads import Payloads
from tests.loopback.discord_server.ratelimits import RateLimits
from tests.loopback.discord_server.world import World


@dataclass(frozen=True, slots=True, kw_only=True)
class Core:
    """Everything that serves requests. `granted` are the privileged intents switched on."""

    token: str
    granted: int
    address: Address
    limits: Limits
    journal: Journal
    world: World
    gateway: Gateway
    cdn: ContentDelivery
    payloads: Payloads
    messages: Messages
    interactions: Interactions
    build: Builder
    faults: Faults
    rate_limits: RateLimits

    @classmethod
    def wire(cls, *, token: str, granted: int, limits: Limits, address: Address) -> "Core":
        """An empty server's parts."""
        journal, world = Journal(), World()
        gateway = Gateway(world, limits, journal)
        cdn = ContentDelivery(world, limits, journal, address)
        payloads = Payloads(world, cdn)
        messages = Messages(
            world=world, limits=limits, journal=journal, gateway=gateway, cdn=cdn, payloads=payloads
        )
        interactions = Interactions(
            world=world,
            limits=limits,
            journal=journal,
            gateway=gateway,
            messages=messages,
            payloads=payloads,
        )
        build = Builder(
            world=world, limits=limits, journal=journal, gateway=gateway, payloads=payloads
        )
        return cls(
            token=token,
            granted=granted,
            address=address,
            limits=limits,
            journal=journal,
            world=world,
            gateway=gateway,
            cdn=cdn,
            payloads=payloads,
            messages=messages,
            interactions=interactions,
            build=build,
            faults=Faults(),
            rate_limits=RateLimits(limits),
        )
