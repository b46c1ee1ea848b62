"""Points an unmodified discord.py program at a loopback Discord.

Python imports this module by itself at the start of any program that has its folder first on
PYTHONPATH. LOOPBACK_DISCORD=http://127.0.0.1:PORT says where the server listens. The program's
own files stay as they are.

Invariant: without that variable nothing is changed; an address that is not a loopback one ends
the program before its first line, so that a test can never reach the real Discord.
"""

import ipaddress
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import ModuleType
from urllib.parse import urlsplit

VARIABLE = "LOOPBACK_DISCORD"
Patch = Callable[[ModuleType], None]


def checked_origin(address: str) -> str:
    """The address without a trailing slash; SystemExit if it is not a numeric loopback one."""
    try:
        is_loopback = ipaddress.ip_address(urlsplit(address).hostname or "").is_loopback
    except ValueError:
        is_loopback = False
    if not is_loopback:
        raise SystemExit(f"{VARIABLE} must be a loopback address such as http://127.0.0.1:8080")
    return address.rstrip("/")


def patches_for(origin: str) -> Mapping[str, Patch]:
    """What to change in which module of discord.py, once it has been imported."""

    def patch_http(module: ModuleType) -> None:
        module.Route.BASE = f"{origin}/api/v10"
        # Choosing a version would set the base back to discord.com.
        vars(module)["_set_api_version"] = _keep_version

    def patch_gateway(module: ModuleType) -> None:
        address = f"{origin.replace('http', 'ws', 1)}/gateway"
        module.DiscordWebSocket.DEFAULT_GATEWAY = module.yarl.URL(address)

    def patch_asset(module: ModuleType) -> None:
        module.Asset.BASE = origin

    return {
        "discord.http": patch_http,
        "discord.gateway": patch_gateway,
        "discord.asset": patch_asset,
    }


def _keep_version(value: int) -> None:
    """Stands in for discord.py's switch between API versions."""


class PatchingLoader(SourceFileLoader):
    """Imports a module as usual, then patches it."""

    def __init__(self, name: str, path: str, patch: Patch) -> None:
        super().__init__(name, path)
        self._patch = patch

    def exec_module(self, module: ModuleType) -> None:
        super().exec_module(module)
        self._patch(module)


class PatchingFinder(MetaPathFinder):
    """Finds the modules that have a patch, and leaves all others to the finders after it."""

    def __init__(self, patches: Mapping[str, Patch]) -> None:
        self._patches = patches

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        patch = self._patches.get(fullname)
        spec = PathFinder.find_spec(fullname, path) if patch else None
        if patch is None or spec is None or spec.origin is None:
            return None
        spec.loader = PatchingLoader(fullname, spec.origin, patch)
        return spec


if address := os.environ.get(VARIABLE):
    sys.meta_path.insert(0, PatchingFinder(patches_for(checked_origin(address))))
