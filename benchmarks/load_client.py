"""The floor of `load`: the openai client by itself, reading streams and doing nothing with them.

    python -m benchmarks.load_client --base-url URL --streams 40 --spread 5

Prints one JSON line with the CPU seconds that it took, from the first request to the last token,
and its memory. The streams begin evenly over `spread` seconds.
"""

import argparse
import asyncio
import json
import time

from openai import AsyncOpenAI

from benchmarks.process_figures import resident_bytes


async def _read(client: AsyncOpenAI, number: int, wait: float) -> int:
    await asyncio.sleep(wait)
    stream = await client.chat.completions.create(
        model="load",
        messages=[{"role": "user", "content": f"stream-{number}"}],
        stream=True,
    )
    length = 0
    async for chunk in stream:
        if chunk.choices and (text := chunk.choices[0].delta.content):
            length += len(text)
    return length


async def _run(base_url: str, streams: int, spread: float) -> dict[str, float]:
    async with AsyncOpenAI(base_url=base_url, api_key="none", max_retries=0) as client:
        # One alone: imports and the first connection are not what is measured.
        await _read(client, 0, 0.0)
        idle = resident_bytes("self")
        begun, cpu = time.monotonic(), time.process_time()
        waits = [spread * number / streams for number in range(streams)]
        reading = [_read(client, number, wait) for number, wait in enumerate(waits, 1)]
        lengths = await asyncio.gather(*reading)
        return {
            "cpu_seconds": time.process_time() - cpu,
            "wall_seconds": time.monotonic() - begun,
            "resident_bytes": resident_bytes("self"),
            "idle_bytes": idle,
            "characters": sum(lengths),
        }


def main() -> None:
    """Read the command line and the streams."""
    parser = argparse.ArgumentParser(prog="benchmarks.load_client", description=__doc__)
    parser.add_argument("--base-url", required=True)
    parser.add_argument("--streams", type=int, default=40)
    parser.add_argument("--spread", type=float, default=5.0)
    arguments = parser.parse_args()
    figures = asyncio.run(_run(arguments.base_url, arguments.streams, arguments.spread))
    print(json.dumps(figures), flush=True)


if __name__ == "__main__":
    main()
