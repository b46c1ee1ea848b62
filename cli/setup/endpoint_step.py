"""The first steps: which endpoint, with which key, and which of its models.

Invariant: only the draft changes. A key is asked for on the way to one server and used for that
one alone.
"""

from collections.abc import Sequence

from cli.embedded.catalogue import MODELS
from cli.setup.discovery import Found, discover, usual_addresses
from cli.setup.draft import Draft
from cli.setup.options import Options, Unanswerable
from cli.setup.ports import Outside
from cli.setup.questions import Questions
from cli.terminal import one_line
from providers.base import AuthFailed, EndpointError

_SHOWN_MODELS = 20
_SHOWN_NAMES = 4
_NAME_CHARS = 80


class EndpointStep:
    """Asks until there is an endpoint, a model of this machine, or the step is skipped."""

    def __init__(self, draft: Draft, options: Options, ask: Questions, outside: Outside) -> None:
        self._draft = draft
        self._options = options
        self._ask = ask
        self._outside = outside

    def run(self) -> None:
        """Choose endpoint, key and model, as the options say."""
        before = self._draft.state
        if self._options.embedded:
            self._choose_embedded()
        elif not self._options.base_url or not self._take_url(self._options.base_url):
            self._draft.state = before
            self.choose()

    def choose(self) -> None:
        """Choose them among what there is."""
        before = self._draft.state
        while not self._choose_among(self._look()):
            self._draft.state = before

    def enter_key(self) -> None:
        """Ask for the endpoint's key; leaving it out keeps things as they are."""
        if key := self._ask.secret("API key (not shown; Enter for none)"):
            self._set(api_key=key)

    def _look(self) -> list[Found]:
        addresses = usual_addresses(self._options.look)
        found = self._ask.wait("Looking for model servers ...", discover(addresses))
        if not found:
            self._ask.say("No model server answers on the usual ports of this machine.")
        return found

    def _choose_among(self, found: Sequence[Found]) -> bool:
        """False where the question is to be asked again, of what is there by then."""
        present = self._draft.settings.base_url
        rows = [_described(one) for one in found]
        rows += ["another address", f"a model that the bot runs itself ({MODELS[0].title})"]
        rows += [f"leave it as it is: {present}" if present else "skip this step", "look again"]
        urls = [one.base_url for one in found]
        embedded, leave = len(found) + 2, len(found) + 3
        if present:
            default = urls.index(present) + 1 if present in urls else leave
        else:
            default = 1 if found else embedded
        if self._ask.assume_defaults and not present and len(found) != 1:
            raise Unanswerable(
                f"{len(found) or 'No'} model servers were found. Choose with --base-url URL or "
                "--embedded."
            )
        number = self._ask.choice("Which one", rows, default)
        if number <= len(found):
            return self._take_found(found[number - 1])
        match number - len(found):
            case 1:
                return self._take_url(self._ask.line("Its URL"))
            case 2:
                self._choose_embedded()
            case 3:
                if self._options.model:
                    self._set(model=self._options.model)
            case _:
                return False
        return True

    def _take_found(self, found: Found) -> bool:
        self._draft.use_endpoint(found.base_url)
        self._take_key_option()
        if found.server.needs_key and self._draft.settings.api_key is None:
            self._ask.say("It wants a key.")
            self.enter_key()
        return self._choose_model(found.server.models)

    def _take_url(self, url: str) -> bool:
        if not url:
            return False
        try:
            self._draft.use_endpoint(url if "://" in url else f"http://{url}")
        except ValueError as error:
            if self._options.base_url:
                raise Unanswerable(f"--base-url {error}.") from None
            self._ask.say(f"The URL {error}.")
            return False
        self._take_key_option()
        if self._draft.settings.api_key is None and not self._options.base_url:
            self.enter_key()
        return self._choose_model(())

    def _take_key_option(self) -> None:
        if self._options.api_key:
            self._set(api_key=self._options.api_key)

    def _choose_embedded(self) -> None:
        titles = [f"{model.title}, {model.size / 1e9:.2f} GB to fetch once" for model in MODELS]
        names = [model.name for model in MODELS]
        chosen = self._options.model or self._draft.settings.model
        if self._options.model and chosen not in names:
            raise Unanswerable(f"--embedded knows these models: {', '.join(names)}.")
        if self._draft.settings.model_path is not None:
            self._ask.say(f"The model file is {self._draft.settings.model_path}.")
            self._draft.set(base_url=None, api_key=None, model=None)
            return
        if not self._options.model:
            default = names.index(chosen) + 1 if chosen in names else 1
            chosen = names[self._ask.choice("Which model", titles, default) - 1]
        self._draft.set(base_url=None, api_key=None, model=chosen)

    def _choose_model(self, known: Sequence[str]) -> bool:
        """False where the endpoint turned out to be of no use and another is wanted."""
        names = known
        while not names:
            try:
                names = self._listed()
                break
            except EndpointError as error:
                self._ask.say(f"{error.member} {error.remedy}", "yellow")
                if self._ask.assume_defaults:
                    if self._options.no_test:
                        break
                    raise Unanswerable("The endpoint cannot be used.") from None
                if isinstance(error, AuthFailed):
                    self.enter_key()
            choices = ("try again", "choose another endpoint", "go on all the same")
            answer = self._ask.choice("What now", choices, 1)
            if answer == 2:
                return False
            if answer == 3:
                break
        self._set(model=self._options.model or self._pick(names))
        return True

    def _listed(self) -> Sequence[str]:
        listing = self._outside.list_models(self._draft.settings)
        names = self._ask.wait("Asking for its models ...", listing)
        if not names:
            self._ask.say("It lists no model. Load or pull one there; it is then found by itself.")
        return names

    def _pick(self, names: Sequence[str]) -> str | None:
        present = self._draft.settings.model
        if len(names) == 1:
            self._ask.say(f"Its model: {names[0]}")
            return names[0]
        if not names:
            return (
                self._ask.line("Model (Enter for the first that it lists)", present or "") or None
            )
        for number, name in enumerate(names[:_SHOWN_MODELS], 1):
            self._ask.say(f"  {number}  {one_line(name, _NAME_CHARS)}")
        if len(names) > _SHOWN_MODELS:
            self._ask.say(f"  and {len(names) - _SHOWN_MODELS} more")
        default = present if present and present in names else names[0]
        while True:
            answer = self._ask.line("Model, by number or name", default)
            if answer.isdecimal() and 1 <= int(answer) <= len(names):
                return names[int(answer) - 1]
            if answer in names:
                return answer
            alike = [name for name in names if answer.lower() in name.lower()]
            if len(alike) == 1:
                return alike[0]
            if alike:
                self._ask.say("Several match: " + ", ".join(alike[:_SHOWN_MODELS]))
            else:
                self._ask.say("It lists no such model.")

    def _set(self, **changes: str | None) -> None:
        try:
            self._draft.set(**changes)
        except ValueError as error:
            (field,) = changes
            self._ask.say(f"The {field.replace('_', ' ')} {error}. It is left out.", "yellow")


def _described(found: Found) -> str:
    server = found.server
    names = [one_line(name, _NAME_CHARS) for name in server.models[:_SHOWN_NAMES]]
    more = f" and {len(server.models) - len(names)} more" if len(server.models) > len(names) else ""
    told = "wants a key" if server.needs_key else ", ".join(names) + more or "no model yet"
    version = f" {one_line(server.version, 20)}" if server.version else ""
    return f"{server.kind}{version} at {found.base_url}: {told}"
