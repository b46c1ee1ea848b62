"""The mutations fit the parser as it stands, so that `make mutants` can be run at any time."""

import pytest

from tests.mutants.__main__ import ROOT
from tests.mutants.mutations import MUTATIONS, Mutation


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda m: m.dropped)
def test_a_mutation_has_one_place_and_can_be_compiled(mutation: Mutation) -> None:
    source = (ROOT / mutation.file).read_text(encoding="utf-8")
    assert source.count(mutation.before) == 1, f"adapt its anchor to {mutation.file}"
    changed = source.replace(mutation.before, mutation.after)
    assert changed != source
    compile(changed, mutation.file, "exec")
