"""The rules on which servers are kept apart and knowledge stays honest are guarded in every run.

The whole check, `make mutants`, takes minutes. Here each of a few mutations meets the one test that
is there for its rule, so that a test which can no longer fail is found at once.
"""

from pathlib import Path

import pytest

from tests.mutants.__main__ import copy_tree, first_failure, tried
from tests.mutants.mutations import MUTATIONS, REQUIRED

CHANGES = {mutation.dropped: mutation for mutation in MUTATIONS}


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the tree in which the tests pass as long as nothing is dropped."""
    folder = tmp_path_factory.mktemp("tree")
    copy_tree(folder)
    assert not first_failure(folder, *sorted(set(REQUIRED.values())))
    return folder


@pytest.mark.parametrize("dropped", REQUIRED)
def test_a_required_mutation_fails_the_test_of_its_rule(dropped: str, copy: Path) -> None:
    assert tried(copy, CHANGES[dropped], REQUIRED[dropped])
