"""The toolset of what reaches out of the bot."""

import pytest

from net.fetch import Fetcher
from tests.tools.conftest import Contexts
from tests.tools.serving import Chosen
from tools.builtin import ON_BY_DEFAULT
from tools.builtin.calculating import calculating_tools
from tools.builtin.outside import OutsideTools
from tools.registry import ToolFailure
from tools.services import Service
from tools.worker.process import Worker


async def test_each_tool_is_listed_and_says_why_it_is_off(worker: Worker) -> None:
    services = Chosen()
    toolset = OutsideTools(services, Fetcher(), worker, on=ON_BY_DEFAULT)
    found = await toolset.offered(1)
    assert [(one.tool.spec.name, one.off, one.optional) for one in found] == [
        ("calculate", "", False),
        ("web_search", "no search provider is set; /config search sets one", False),
        ("web_fetch", "", False),
        ("generate_image", "no image endpoint is set; /config images sets one", False),
        ("read_attachment", "", True),
    ]
    services.searching = Service(provider="ddgs")
    services.drawing = Service(provider="openai", url="https://draw.example/v1", model="m")
    assert [one.off for one in await toolset.offered(1)] == [""] * 5


async def test_what_each_tool_may_do_is_told(worker: Worker) -> None:
    found = await OutsideTools(Chosen(), Fetcher(), worker, on=()).offered(1)
    kinds = {
        one.tool.spec.name: (
            one.tool.spec.read_only,
            one.tool.spec.destructive,
            one.tool.spec.egress,
            one.tool.spec.foreign,
        )
        for one in found
    }
    assert kinds == {
        "calculate": (True, False, False, False),
        "web_search": (True, False, True, True),
        "web_fetch": (True, False, True, True),
        "generate_image": (False, False, True, False),
        "read_attachment": (True, False, False, True),
    }
    assert all(one.tool.spec.rate is not None for one in found)
    assert all(one.tool.spec.description.endswith(".") for one in found)


async def test_calculate_tells_results_and_failures(context: Contexts, worker: Worker) -> None:
    (calculate,) = calculating_tools(worker)
    told = await calculate.run(context(), {"expression": "15% of 80"})
    assert told.text == "percent(15) * 80 = 12"
    for expression, words in (("9**9**9", "too large"), ("x", "'x' is unknown")):
        with pytest.raises(ToolFailure, match=words):
            await calculate.run(context(), {"expression": expression})
