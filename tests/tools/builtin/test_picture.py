"""generate_image against an endpoint on this machine."""

import base64
import json

import pytest
from aiohttp import web

from net.fetch import Fetcher
from tests.tools.conftest import Contexts
from tests.tools.serving import Chosen, Page, site
from tests.tools.worker.test_process import picture_of
from tools.builtin.picture import image_tools
from tools.image_endpoint import ImageEndpoint
from tools.registry import Tool, ToolFailure, ToolUnavailable
from tools.services import Service
from tools.worker.process import Worker

ROUTE = "/v1/images/generations"
PNG = picture_of("PNG")
ENCODED = {"data": [{"b64_json": base64.b64encode(PNG).decode()}]}


def drawing(url: str, worker: Worker, *, private_files: bool = True) -> Tool:
    service = Service(
        provider="openai", url=f"{url}/v1", model="flux", key="draw-key-1", allow_private=True
    )
    backend = ImageEndpoint(Fetcher(allow_private=private_files))
    (tool,) = image_tools(Chosen(drawing=service), backend, worker)
    return tool


async def test_a_picture_is_drawn_and_put_under_the_reply(
    context: Contexts, worker: Worker
) -> None:
    async with site({ROUTE: (200, ENCODED)}) as here:
        draw = drawing(here.url, worker)
        output = await draw.run(context(), {"prompt": "A Heron, at dawn", "shape": "landscape"})
    (file,) = output.files
    assert (file.name, file.data, file.description) == (
        "a-heron-at-dawn.png",
        PNG,
        "A Heron, at dawn",
    )
    assert "4 x 3" in output.text
    assert here.asked[0].headers["Authorization"] == "Bearer draw-key-1"
    assert json.loads(here.bodies[0]) == {
        "model": "flux",
        "prompt": "A Heron, at dawn",
        "n": 1,
        "size": "1536x1024",
    }


async def test_a_picture_that_is_named_by_address_is_fetched_without_the_key(
    context: Contexts, worker: Worker
) -> None:
    pages: dict[str, Page] = {"/file": web.Response(body=PNG, content_type="image/png")}
    async with site(pages) as here:
        pages[ROUTE] = (200, {"data": [{"url": f"{here.url}/file"}]})
        output = await drawing(here.url, worker).run(context(), {"prompt": "heron"})
        assert output.files[0].data == PNG
        assert "Authorization" not in here.asked[1].headers
        guarded = drawing(here.url, worker, private_files=False)
        with pytest.raises(ToolFailure, match="Only public http and https addresses"):
            await guarded.run(context(), {"prompt": "heron"})
    assert [request.path for request in here.asked] == [ROUTE, "/file", ROUTE]


REFUSALS: list[tuple[Page, str]] = [
    ((401, {}), "does not take the key"),
    ((404, {}), "no images route"),
    ((429, {}), "no more requests"),
    ((400, {"error": {"message": "no\nfaces"}}), "refuses: no faces"),
    ((200, {"data": []}), "form that I do not know"),
    ((200, {"data": [{}]}), "sent no picture"),
    ((200, {"data": [{"b64_json": "???"}]}), "damaged data"),
    ((200, {"data": [{"b64_json": "PHN2Zy8+"}]}), "no PNG, JPEG or WebP"),
    (web.Response(text="hello"), "form that I do not know"),
]


@pytest.mark.parametrize(("answer", "words"), REFUSALS)
async def test_an_endpoint_that_does_not_draw_is_told(
    answer: Page, words: str, context: Contexts, worker: Worker
) -> None:
    async with site({ROUTE: answer}) as here:
        with pytest.raises(ToolFailure, match=words):
            await drawing(here.url, worker).run(context(), {"prompt": "heron"})


async def test_an_endpoint_that_is_away_is_unavailable(context: Contexts, worker: Worker) -> None:
    with pytest.raises(ToolUnavailable, match="does not answer"):
        await drawing("http://127.0.0.1:1", worker).run(context(), {"prompt": "heron"})


async def test_without_an_endpoint_the_reason_is_told(context: Contexts, worker: Worker) -> None:
    (tool,) = image_tools(Chosen(), ImageEndpoint(Fetcher()), worker)
    with pytest.raises(ToolUnavailable, match="/config images sets one"):
        await tool.run(context(), {"prompt": "heron"})
