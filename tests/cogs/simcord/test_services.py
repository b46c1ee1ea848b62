import pytest

from cogs.tree import NOT_ALLOWED
from tests.cogs.simcord.conftest import Sim, private


@pytest.mark.parametrize(
    ("path", "options", "form"),
    [
        ("config search", {"provider": "searxng"}, True),
        ("config search", {"provider": "none"}, False),
        ("config images", {"choice": "endpoint"}, True),
    ],
)
async def test_services_are_brought_by_managers(
    sim: Sim, path: str, options: dict[str, str], form: bool
) -> None:
    got = await sim.for_managers_alone(path, **options)
    assert (got.modal is not None) == form
    if not form:
        assert private(got)


async def test_vectors_too(sim: Sim) -> None:
    chosen = {"choice": "endpoint"}
    told = await sim.privately(sim.alice, "knowledge embeddings", **chosen)
    assert told == NOT_ALLOWED
    assert (await sim.boss.slash(sim.channel, "knowledge embeddings", **chosen)).modal is not None
