"""How replies are sampled, as the operator set it."""

from pathlib import Path

import pytest

from chat.generation import Generation
from data.settings import load_settings


@pytest.mark.parametrize(
    ("variable", "embedded", "temperature"),
    [(None, True, 0.0), (None, False, None), ("0.7", True, 0.7), ("0.7", False, 0.7)],
)
def test_only_a_model_of_our_own_is_left_nothing_to_chance(
    tmp_path: Path, variable: str | None, embedded: bool, temperature: float | None
) -> None:
    given = {} if variable is None else {"VERBATIM_TEMPERATURE": variable}
    environment = {"VERBATIM_HOME": str(tmp_path), "VERBATIM_CONTEXT_WINDOW": "8192", **given}
    made = Generation.of(load_settings(environment), embedded=embedded)
    assert (made.temperature, made.context_window) == (temperature, 8192)
