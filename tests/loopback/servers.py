"""Six kinds of model servers on 127.0.0.1, as far as their routes tell them apart, and impostors.

Invariant: each answers in the form of its own kind, the imitations of other kinds included, and
keeps what it was asked. None of them generates anything.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

Json = Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What stands behind one path. `hang` never answers, `endless` never stops."""

    body: Json = None
    text: str | None = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    hang: bool = False
    endless: bool = False


Routes = Mapping[str, Reply]
ANY = "*"
"""The path of what answers where nothing else does."""

KEY = "let-me-in"


def ollama(*models: str) -> Routes:
    names = models or ("qwen3:8b", "llama3.2:3b")
    listed = [{"id": n, "object": "model", "created": 1, "owned_by": "library"} for n in names]
    tags = [{"name": n, "model": n, "size": 5225388164, "details": {"family": "x"}} for n in names]
    return {
        "/": Reply(text="Ollama is running"),
        "/api/version": Reply(body={"version": "0.12.3"}),
        "/api/tags": Reply(body={"models": tags}),
        "/v1/models": Reply(body={"object": "list", "data": listed}),
    }


def empty_ollama() -> Routes:
    """Before the first `ollama pull`: its list is null rather than empty."""
    return {
        **ollama(),
        "/api/tags": Reply(body={"models": []}),
        "/v1/models": Reply(body={"object": "list", "data": None}),
    }


def lm_studio() -> Routes:
    def entry(name: str, kind: str, state: str) -> Json:
        return {
            "id": name,
            "object": "model",
            "type": kind,
            "publisher": "p",
            "arch": "qwen3",
            "compatibility_type": "gguf",
            "quantization": "Q4_K_M",
            "state": state,
            "max_context_length": 32768,
        }

    entries = [
        entry("text-embedding-nomic", "embeddings", "loaded"),
        entry("qwen3-4b", "llm", "not-loaded"),
        entry("gemma-3-12b", "vlm", "loaded"),
    ]
    listed = [{"id": e["id"], "object": "model", "owned_by": "organization_owner"} for e in entries]
    return {
        "/v1/models": Reply(body={"object": "list", "data": listed}),
        "/api/v0/models": Reply(body={"object": "list", "data": entries}),
        ANY: Reply(body={"error": "Unexpected endpoint or method. (GET /x). Returning 200 anyway"}),
    }


def llama_cpp() -> Routes:
    name = "qwen3-8b-q4_k_m.gguf"
    entry = {"id": name, "object": "model", "created": 1, "owned_by": "llamacpp"}
    tags = {"models": [{"name": name, "model": name, "details": {"format": "gguf"}}]}
    return {
        "/health": Reply(body={"status": "ok"}),
        "/props": Reply(
            body={
                "default_generation_settings": {"n_ctx": 8192, "params": {}},
                "total_slots": 1,
                "model_path": f"/models/{name}",
                "chat_template": "{{ messages }}",
                "build_info": "b6500-abcdef",
            }
        ),
        "/api/tags": Reply(body=tags),
        "/v1/models": Reply(body={**tags, "object": "list", "data": [entry]}),
        ANY: Reply(status=404, body={"error": {"code": 404, "message": "File Not Found"}}),
    }


def koboldcpp() -> Routes:
    """It answers like Ollama and like llama.cpp too."""
    name = "koboldcpp/mistral-7b.Q4_K_M"
    entry = {"id": name, "object": "model", "created": 1, "owned_by": "koboldcpp", "root": "k"}
    return {
        "/api/extra/version": Reply(
            body={"result": "KoboldCpp", "version": "1.99", "protected": False}
        ),
        "/api/version": Reply(body={"version": "0.7.0"}),
        "/api/tags": Reply(body={"models": [{"name": "koboldcpp", "model": name}]}),
        "/props": Reply(body={"chat_template": "", "default_generation_settings": {"n_ctx": 4096}}),
        "/v1/models": Reply(body={"object": "list", "data": [entry]}),
    }


def tabby(*, open_to_all: bool = False) -> Routes:
    """It wants a key by default."""
    health = {"/health": Reply(body={"status": "healthy", "issues": []})}
    refusal = Reply(status=401, body={"detail": "Please provide an API key"})
    if not open_to_all:
        return {**health, "/v1/models": refusal, "/v1/model": refusal}
    entry = {"id": "Qwen3-14B-exl3", "object": "model", "created": 1, "owned_by": "tabbyAPI"}
    return {
        **health,
        "/v1/model": Reply(body={**entry, "parameters": {"max_seq_len": 16384}}),
        "/v1/models": Reply(body={"object": "list", "data": [entry]}),
    }


def vllm(*, guarded: bool = False) -> Routes:
    entry = {
        "id": "Qwen/Qwen3-8B",
        "object": "model",
        "created": 1,
        "owned_by": "vllm",
        "root": "Qwen/Qwen3-8B",
        "max_model_len": 40960,
    }
    return {
        "/version": Reply(body={"version": "0.11.0"}),
        "/v1/models": Reply(status=401, body={"error": "Unauthorized"})
        if guarded
        else Reply(body={"object": "list", "data": [entry]}),
    }


def hosted() -> Routes:
    """Some other server with the protocol, behind a key."""
    error = {"message": "Incorrect API key provided", "type": "invalid_request_error"}
    return {"/v1/models": Reply(status=401, body={"error": error})}


def plain(*models: str) -> Routes:
    """Some other server with the protocol."""
    return {"/v1/models": Reply(body={"data": [{"id": name} for name in models]})}


IMPOSTORS: Mapping[str, Routes] = {
    "a web page on every path": {ANY: Reply(text="<html>My router</html>")},
    "JSON on every path": {ANY: Reply(body={"status": "ok", "version": 3})},
    "JSON that is no object": {ANY: Reply(body=[1, 2, 3])},
    "data of another kind": {ANY: Reply(body={"data": {"id": "a"}})},
    "refusal of everything": {ANY: Reply(status=403, text="")},
    "a log-in page": {ANY: Reply(status=302, headers={"Location": "/v1/models"})},
    "errors in HTML": {ANY: Reply(status=500, text="<h1>oops</h1>")},
    "deep nesting": {ANY: Reply(text="[" * 200_000)},
    "a stream without end": {ANY: Reply(endless=True)},
    "silence": {ANY: Reply(hang=True)},
}


@dataclass(slots=True, kw_only=True)
class Asked:
    """A request as it came."""

    method: str
    path: str
    headers: Mapping[str, str]


class Standing:
    """A server that is listening.."""

    def __init__(self, routes: Routes) -> None:
        self.routes = routes
        self.asked: list[Asked] = []
        self.port = 0

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    async def answer(self, request: web.Request) -> web.StreamResponse:
        self.asked.append(
            Asked(method=request.method, path=request.path, headers=dict(request.headers))
        )
        reply = self.routes.get(request.path) or self.routes.get(ANY) or Reply(status=404)
        if request.headers.get("Authorization") == f"Bearer {KEY}" and reply.status == 401:
            reply = Reply(body={"object": "list", "data": [{"id": "behind-the-key"}]})
        if reply.hang:
            await asyncio.Event().wait()
        if reply.endless:
            response = web.StreamResponse()
            await response.prepare(request)
            while True:
                await response.write(b"x" * 65536)
        return web.Response(
            status=reply.status,
            text=reply.text if reply.text is not None else json.dumps(reply.body),
            content_type="text/html" if reply.text is not None else "application/json",
            headers=reply.headers,
        )


@asynccontextmanager
async def standing(routes: Routes) -> AsyncGenerator[Standing]:
    """A server with these routes on a free port."""
    server = Standing(routes)
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", server.answer)
    runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.2)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        server.port = int(runner.addresses[0][1])
        yield server
    finally:
        await runner.cleanup()
