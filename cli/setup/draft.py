"""The settings under way: what holds so far, and what is to be written.

Invariant: nothing reaches the disk from here, and a draft is always valid settings.
"""

from collections.abc import Mapping
from typing import TypeAlias

from pydantic import SecretStr, ValidationError

from data.config_file import ConfigValue
from data.keys import origin
from data.settings import Settings

State: TypeAlias = tuple[Settings, Mapping[str, ConfigValue | None]]


class Draft:
    """Settings with the changes made to them."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._changes: dict[str, ConfigValue | None] = {}

    @property
    def settings(self) -> Settings:
        """The settings as they would be."""
        return self._settings

    @property
    def state(self) -> State:
        """All of it, for going back to."""
        return self._settings, dict(self._changes)

    @state.setter
    def state(self, state: State) -> None:
        self._settings, changes = state
        self._changes = dict(changes)

    @property
    def changes(self) -> Mapping[str, ConfigValue | None]:
        """Fields to write, None for those to remove."""
        return self._changes

    def set(self, **changes: str | None) -> None:
        """Change fields. ValueError says in words what is wrong with a value."""
        try:
            checked = Settings.model_validate(changes)
        except ValidationError as error:
            (detail, *_) = error.errors(include_url=False, include_context=False)
            problem = detail["msg"].removeprefix("Value error, ")
        else:
            values = {field: getattr(checked, field) for field in changes}
            self._settings = self._settings.model_copy(update=values)
            self._changes.update(
                (field, value.get_secret_value() if isinstance(value, SecretStr) else value)
                for field, value in values.items()
            )
            return
        # Raised out here so that no traceback shows the validation error and its input.
        raise ValueError(problem)

    def use_endpoint(self, base_url: str) -> None:
        """Change the endpoint. A key that was entered for another server does not come along."""
        old = self._settings.base_url
        self.set(base_url=base_url)
        new = self._settings.base_url
        if self._settings.api_key and (old is None or new is None or origin(old) != origin(new)):
            self.set(api_key=None)
