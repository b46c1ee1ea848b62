"""The step about Discord: the token, what its bot may read, and the link that invites it.

Invariant: it asks for no more than the message content intent, and works without it.
"""

from cli.setup.draft import Draft
from cli.setup.options import Options, Unanswerable
from cli.setup.ports import Outside, TokenReport
from cli.setup.questions import Questions

_REMOVE = "-"


class TokenStep:
    """Asks until Discord takes the token, or the step is skipped."""

    def __init__(self, draft: Draft, options: Options, ask: Questions, outside: Outside) -> None:
        self._draft = draft
        self._options = options
        self._ask = ask
        self._outside = outside

    def run(self) -> None:
        """Choose the token and show how to invite its bot."""
        given = self._options.token
        while True:
            present = self._draft.settings.discord_token
            typed = given or self._ask.secret(
                f"Discord token (not shown; Enter keeps the present one, {_REMOVE} removes it)"
                if present
                else "Discord token (not shown; Enter for none: chat in the terminal only)"
            )
            if typed == _REMOVE:
                self._draft.set(discord_token=None)
                return
            if not typed and present is None:
                return
            token = typed or (present.get_secret_value() if present else "")
            if self._accept(token, typed=bool(typed)):
                return
            if given or self._ask.assume_defaults:
                raise Unanswerable("The token was not taken. Correct it, or pass --no-test.")
            if not typed and not self._ask.yes("Enter another token?"):
                return

    def _accept(self, token: str, *, typed: bool) -> bool:
        before = self._draft.settings.discord_token
        if typed:
            try:
                self._draft.set(discord_token=token)
            except ValueError as error:
                self._ask.say(f"The token {error}.", "yellow")
                return False
        if self._options.no_test:
            return True
        report = self._report(token)
        if report.problem:
            self._ask.say(report.problem, "yellow")
            unattended = self._options.token or self._ask.assume_defaults
            if not (report.refused or unattended) and self._ask.yes("Keep the token unchecked?"):
                return True
            if typed:
                self._draft.set(discord_token=before.get_secret_value() if before else None)
            return False
        self._show(report, token)
        return True

    def _show(self, report: TokenReport, token: str) -> None:
        self._ask.say(f"This is {report.name}, application {report.application_id}.")
        while not report.reads_content:
            self._ask.say(
                "Its Message Content Intent is off: it would read only direct messages and what "
                "mentions it. Switch it on under Bot, Privileged Gateway Intents, and save:"
            )
            self._ask.say(f"  {report.portal_url}")
            self._ask.say("Server Members and Presence are not needed; leave them off.")
            if self._ask.assume_defaults or self._ask.line("Enter looks again, s goes on") == "s":
                break
            again = self._report(token)
            if again.problem:
                self._ask.say(again.problem, "yellow")
                break
            report = again
        if report.reads_content:
            self._ask.say("Its Message Content Intent is on.")
        self._ask.say(
            "Invite it to a server with this link (scopes bot and applications.commands, "
            f"permissions {report.permissions}):"
        )
        self._ask.say(f"  {report.invite_url}")

    def _report(self, token: str) -> TokenReport:
        return self._ask.wait("Asking Discord ...", self._outside.check_token(token))
