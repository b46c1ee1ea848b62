"""/config limits, /config budget and /config prices: how much may be asked, and what it costs.

Invariant: a server's admins set what holds on their server, the bot's operator alone what holds in
direct messages and for the operator's own endpoint; a form asks for the right again.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Literal, TypeAlias

import discord
from discord import app_commands, ui
from discord.ext import commands

from chat.quotas import HIGHEST, MOST_ROLES, NUMBERS, SCOPES, Budget, Limit, Limits, Quotas, Scope
from chat.usage import HIGHEST_PRICE, Price, UsageLedger
from cogs.forms import Form, clipped
from cogs.operator import NOT_OPERATOR
from cogs.tree import answer_privately, require_manage_guild

_Field: TypeAlias = "ui.TextInput[ui.Modal]"
_Who: TypeAlias = Literal["member", "role", "channel", "server", "direct messages"]
_Whose: TypeAlias = Literal["server", "operator"]

_TITLES = {
    "minute": "Questions a minute",
    "hour": "Questions an hour",
    "day": "Questions a day",
    "tokens": "Tokens a day",
}
_SHOWN_PRICES = 20


class LimitCommands(commands.Cog):
    """Adds its commands to `family`, the /config group. `is_operator` tells who runs the bot."""

    def __init__(
        self,
        quotas: Quotas,
        ledger: UsageLedger,
        family: app_commands.Group,
        *,
        is_operator: Callable[[int], bool],
    ) -> None:
        self._quotas = quotas
        self._ledger = ledger
        self._is_operator = is_operator
        for command in (
            _command("limits", "How many questions and tokens anybody may use", self._limits),
            _command("budget", "What a day may cost, in money or tokens", self._budget),
            _command("prices", "What a model's tokens cost", self._prices),
        ):
            family.add_command(command)

    async def interaction_check(self, interaction: discord.Interaction, /) -> bool:
        """Integration settings may open a command to anyone; Manage Server is needed still."""
        require_manage_guild(interaction)
        return True

    @app_commands.describe(
        whose="Without it, all limits are shown",
        role="For role: those who have it get these limits in place of a member's",
        managers="Whether those with Manage Server ask without limits",
    )
    async def _limits(
        self,
        interaction: discord.Interaction,
        whose: _Who | None = None,
        role: discord.Role | None = None,
        managers: Literal["limited", "unlimited"] | None = None,
    ) -> None:
        guild_id = _guild(interaction)
        if managers is not None:
            present = await self._quotas.limits(guild_id)
            changed = replace(present, exempt=managers == "unlimited")
            await self._quotas.set_limits(guild_id, changed)
        if whose is None:
            limits = await self._quotas.limits(guild_id)
            await answer_privately(interaction, limits_text(limits))
            return
        if whose == "direct messages":
            if not self._is_operator(interaction.user.id):
                await answer_privately(interaction, NOT_OPERATOR)
                return
            guild_id = 0
        target: Scope | int
        if whose == "role" and role is not None:
            target = role.id
        elif whose == "role" or role is not None:
            await answer_privately(interaction, "Name the role with `whose: role`, and only then.")
            return
        else:
            target = "member" if whose == "direct messages" else whose
        limits = await self._quotas.limits(guild_id)
        title = f"Limits: {role.name if role else whose}"
        await interaction.response.send_modal(
            LimitForm(self._quotas, guild_id, target, _limit_of(limits, target), title=title)
        )

    @app_commands.describe(whose="Your server's, or for the bot's operator the endpoint's own")
    async def _budget(self, interaction: discord.Interaction, whose: _Whose = "server") -> None:
        owner = await self._owner(interaction, whose)
        if owner is not None:
            present = await self._quotas.budget(owner)
            await interaction.response.send_modal(BudgetForm(self._quotas, owner, present))

    @app_commands.describe(
        model="As the endpoint knows it; without it, all prices are shown",
        whose="For a server's own endpoint, or for the operator's",
    )
    async def _prices(
        self,
        interaction: discord.Interaction,
        model: app_commands.Range[str, 1, 200] | None = None,
        whose: _Whose = "server",
    ) -> None:
        owner = await self._owner(interaction, whose)
        if owner is None:
            return
        prices = await self._ledger.prices(owner)
        if model is None:
            lines = [_priced(name, price) for name, price in list(prices.items())[:_SHOWN_PRICES]]
            text = "\n".join(lines) or "No price is set, so nothing counts as money."
            await answer_privately(interaction, clipped(text, 2000))
            return
        await interaction.response.send_modal(
            PriceForm(self._ledger, owner, model.strip(), prices.get(model.strip()))
        )

    async def _owner(self, interaction: discord.Interaction, whose: _Whose) -> int | None:
        """The guild whose settings are meant, 0 for the operator's; None, and told so, where they
        are not this member's to set."""
        if whose == "server":
            return _guild(interaction)
        if self._is_operator(interaction.user.id):
            return 0
        await answer_privately(interaction, NOT_OPERATOR)
        return None


class LimitForm(Form):
    """Four numbers. `target` is a scope or the id of a role."""

    def __init__(
        self, quotas: Quotas, guild_id: int, target: Scope | int, present: Limit, *, title: str
    ) -> None:
        super().__init__(title=clipped(title, 45))
        self._quotas = quotas
        self._guild_id = guild_id
        self._target: Scope | int = target
        self._fields = {name: _number_field(name, getattr(present, name)) for name in NUMBERS}
        for name, field in self._fields.items():
            self.add_item(
                ui.Label(text=_TITLES[name], description="Empty: any number", component=field)
            )

    async def on_submit(self, interaction: discord.Interaction, /) -> None:
        """Check and keep what was entered."""
        await interaction.response.defer(ephemeral=True, thinking=True)
        try:
            numbers = {name: _number(field.value) for name, field in self._fields.items()}
            limit = Limit(**numbers)
            present = await self._quotas.limits(self._guild_id)
            limits = _with_limit(present, self._target, limit)
        except ValueError as error:
            content = f"Nothing was changed. {error}"
        else:
            await self._quotas.set_limits(self._guild_id, limits)
            content = limits_text(limits)
        await interaction.edit_original_response(
            content=content, allowed_mentions=discord.AllowedMentions.none()
        )


class BudgetForm(Form):
    """Money and tokens a day."""

    def __init__(self, quotas: Quotas, owner: int, present: Budget) -> None:
        super().__init__(title="Budget of a day" if owner else "Budget of the operator's endpoint")
        self._quotas = quotas
        self._owner = owner
        money = None if present.money is None else f"{present.money:g}"
        self._money = _field("money", money, "5.00")
        self._tokens = _number_field("tokens", present.tokens)
        self.add_item(
            ui.Label(
                text="Money a day",
                description="In the currency of /config prices; empty: any amount",
                component=self._money,
            )
        )
        self.add_item(
            ui.Label(text="Tokens a day", description="Empty: any number", component=self._tokens)
        )

    async def on_submit(self, interaction: discord.Interaction, /) -> None:
        """Check and keep what was entered."""
        await interaction.response.defer(ephemeral=True, thinking=True)
        try:
            money = _money(self._money.value, highest=HIGHEST) or None
            budget = Budget(money=money, tokens=_number(self._tokens.value))
        except ValueError as error:
            content = f"Nothing was changed. {error}"
        else:
            await self._quotas.set_budget(self._owner, budget)
            content = budget_text(budget)
        await interaction.edit_original_response(content=content)


class PriceForm(Form):
    """The three prices of a model."""

    def __init__(self, ledger: UsageLedger, owner: int, model: str, present: Price | None) -> None:
        super().__init__(title=clipped(f"Prices of {model}", 45))
        self._ledger = ledger
        self._owner = owner
        self._model = model
        self._fields: dict[str, _Field] = {}
        for name, told in (
            ("prompt", "Prompt"),
            ("cached", "Prompt that was cached"),
            ("completion", "Completion"),
        ):
            now = None if present is None else f"{getattr(present, name):g}"
            self._fields[name] = _field(name, now, "0.50")
            self.add_item(
                ui.Label(
                    text=told,
                    description="For a million tokens; all three empty: no price",
                    component=self._fields[name],
                )
            )

    async def on_submit(self, interaction: discord.Interaction, /) -> None:
        """Check and keep what was entered."""
        await interaction.response.defer(ephemeral=True, thinking=True)
        try:
            price = _price({name: field.value for name, field in self._fields.items()})
            await self._ledger.set_price(self._owner, self._model, price)
        except ValueError as error:
            content = f"Nothing was changed. {error}"
        else:
            content = _priced(self._model, price) if price else "That model has no price now."
        await interaction.edit_original_response(content=clipped(content, 2000))


def limits_text(limits: Limits) -> str:
    """Limits in words."""
    lines = [f"**{scope.capitalize()}** {_limit_text(getattr(limits, scope))}" for scope in SCOPES]
    lines += [f"**<@&{role}>** {_limit_text(limit)}" for role, limit in limits.roles.items()]
    lines.append(f"**Managers** {'ask without limits' if limits.exempt else 'have them too'}")
    return clipped("\n".join(lines), 2000)


def budget_text(budget: Budget) -> str:
    """A budget in words."""
    parts = [
        *([f"{budget.money:,.2f} in money"] if budget.money is not None else []),
        *([f"{budget.tokens:,} tokens"] if budget.tokens is not None else []),
    ]
    return f"A day may take {' and '.join(parts) or 'any amount'}. Days begin at midnight UTC."


def _limit_text(limit: Limit) -> str:
    set_ones = limit.stored()
    named = [f"{set_ones[name]:,} {_TITLES[name].lower()}" for name in NUMBERS if name in set_ones]
    return ", ".join(named) or "no limit"


def _limit_of(limits: Limits, target: Scope | int) -> Limit:
    if isinstance(target, int):
        return limits.roles.get(target, Limit())
    return {"member": limits.member, "channel": limits.channel, "server": limits.server}[target]


def _with_limit(limits: Limits, target: Scope | int, limit: Limit) -> Limits:
    if not isinstance(target, int):
        return replace(limits, **{target: limit})
    roles = {role: each for role, each in limits.roles.items() if role != target}
    if limit != Limit():
        roles[target] = limit
    if len(roles) > MOST_ROLES:
        raise ValueError(f"At most {MOST_ROLES} roles can have limits of their own.")
    return replace(limits, roles=roles)


def _priced(model: str, price: Price) -> str:
    return (
        f"**{model}** {price.prompt:g} for a million tokens of the prompt, {price.cached:g} of a "
        f"cached one, {price.completion:g} of what it writes"
    )


def _price(written: Mapping[str, str]) -> Price | None:
    """Three prices as they were entered; what is cached costs the same unless that says less."""
    prompt, cached, completion = (
        _money(written[name], highest=HIGHEST_PRICE) for name in ("prompt", "cached", "completion")
    )
    if prompt is None and cached is None and completion is None:
        return None
    if prompt is None or completion is None:
        raise ValueError("Enter at least the prices of prompt and completion.")
    return Price(prompt=prompt, cached=prompt if cached is None else cached, completion=completion)


def _number(written: str) -> int | None:
    text = written.strip().replace(",", "").replace("_", "")
    if not text:
        return None
    if not text.isdecimal() or not 0 < int(text[:15]) <= HIGHEST:
        raise ValueError(f"{written[:30]!r} is no whole number from 1 to {HIGHEST:,}.")
    return int(text)


def _money(written: str, *, highest: float) -> float | None:
    text = written.strip().replace(",", ".")
    if not text:
        return None
    plain = text.replace(".", "", 1)
    if not (plain.isdecimal() and plain.isascii()) or float(text) > highest:
        raise ValueError(f"{written[:30]!r} is no amount such as 0.50.")
    return float(text)


def _number_field(name: str, number: int | None) -> _Field:
    return _field(name, None if number is None else str(number), "Any number")


def _field(name: str, value: str | None, placeholder: str) -> _Field:
    return ui.TextInput(
        custom_id=name, placeholder=placeholder, default=value, required=False, max_length=15
    )


def _command(
    name: str, description: str, callback: Any
) -> "app_commands.Command[LimitCommands, ..., None]":
    return app_commands.Command(name=name, description=description, callback=callback)


def _guild(interaction: discord.Interaction) -> int:
    if interaction.guild_id is None:
        raise AssertionError("the /config family is for servers only")
    return interaction.guild_id
