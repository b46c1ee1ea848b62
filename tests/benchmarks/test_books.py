"""The PDF that adding is measured with is one, and holds what it was made of."""

import random

from benchmarks.books import pdf
from tools.worker.process import Worker


async def test_every_page_is_read_as_it_was_written() -> None:
    words = ["harbour", "lamp", "(1)", "a\\b", "keeper's"]
    choose = random.Random(1)
    pages = [" ".join(choose.choices(words, k=350)) for _ in range(3)]
    worker = Worker(processes=1)
    try:
        read = await worker.extract(pdf(pages), name="book.pdf")
    finally:
        await worker.close()
    assert read.pages == 3
    assert [" ".join(text.split()) for text in read.page_texts] == pages
