"""/config limits, /config budget and /config prices: how much may be asked, and what it costs.

Invariant: a server's admins set what holds on their server, the bot's operator alone what holds in
direct messages and for the operator's own endpoint; a form asks for the right again.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal, TypeAlias

import discord
from discord import app_commands, ui
from discord.ext import commands

from chat.quotas import HIGHEST, MOST_ROLES, NUMBERS, Budget, Limit, Limits, Quotas, Scope
from chat.usage import Price, UsageLedger
from cogs.forms import Form, clipped
from cogs.limits_words import (
    TITLES,
    amount_of,
    budget_text,
    limits_text,
    price_of,
    price_text,
    whole_number,
)
from cogs.operator import NOT_OPERATOR
from cogs.translations.figures import number, plain_number
from cogs.translations.saying import Speaks, choice, retold, tr
from cogs.tree import answer_privately, guild_of, require_manage_guild

_Field: TypeAlias = "ui.TextInput[ui.Modal]"
_Who: TypeAlias = Literal["member", "role", "channel", "server", "direct messages"]
_Whose: TypeAlias = Literal["server", "operator"]

_SHOWN_PRICES = 20
_ROLE_UNCLEAR = "Name the role with `whose: role`, and only then."


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
        guild_id = guild_of(interaction)
        if managers is not None:
            exempt = managers == "unlimited"
            await self._quotas.change_limits(guild_id, lambda now: replace(now, exempt=exempt))
        if whose is None:
            limits = await self._quotas.limits(guild_id)
            await answer_privately(interaction, limits_text(limits, interaction.locale))
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
            await answer_privately(interaction, _ROLE_UNCLEAR)
            return
        else:
            target = "member" if whose == "direct messages" else whose
        limits = await self._quotas.limits(guild_id)
        locale = interaction.locale
        title = tr(locale, "Limits: {whose}", whose=role.name if role else choice(locale, whose))
        present = _limit_of(limits, target)
        await interaction.response.send_modal(
            LimitForm(self._quotas, guild_id, target, present, locale, title=title)
        )

    @app_commands.describe(whose="Your server's, or for the bot's operator the endpoint's own")
    async def _budget(self, interaction: discord.Interaction, whose: _Whose = "server") -> None:
        owner = await self._owner(interaction, whose)
        if owner is not None:
            present = await self._quotas.budget(owner)
            await interaction.response.send_modal(
                BudgetForm(self._quotas, owner, present, interaction.locale)
            )

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
            locale = interaction.locale
            lines = [
                price_text(name, price, locale)
                for name, price in list(prices.items())[:_SHOWN_PRICES]
            ]
            text = "\n".join(lines) or tr(locale, "No price is set, so nothing counts as money.")
            await answer_privately(interaction, clipped(text, 2000))
            return
        await interaction.response.send_modal(
            PriceForm(
                self._ledger,
                owner,
                model.strip(),
                prices.get(model.strip()),
                interaction.locale,
            )
        )

    async def _owner(self, interaction: discord.Interaction, whose: _Whose) -> int | None:
        """The guild whose settings are meant, 0 for the operator's; None, and told so, where they
        are not this member's to set."""
        if whose == "server":
            return guild_of(interaction)
        if self._is_operator(interaction.user.id):
            return 0
        await answer_privately(interaction, NOT_OPERATOR)
        return None


class LimitForm(Form):
    """Four numbers. `target` is a scope or the id of a role."""

    def __init__(
        self,
        quotas: Quotas,
        guild_id: int,
        target: Scope | int,
        present: Limit,
        locale: Speaks,
        *,
        title: str,
    ) -> None:
        super().__init__(title=clipped(title, 45))
        self._quotas = quotas
        self._guild_id = guild_id
        self._target: Scope | int = target
        self._fields = {
            name: _number_field(name, getattr(present, name), locale) for name in NUMBERS
        }
        for name, field in self._fields.items():
            self.add_item(
                ui.Label(
                    text=retold(locale, TITLES[name]),
                    description=tr(locale, "Empty: any number"),
                    component=field,
                )
            )

    async def on_submit(self, interaction: discord.Interaction, /) -> None:
        """Check and keep what was entered."""
        await interaction.response.defer(ephemeral=True, thinking=True)
        try:
            numbers = {name: whole_number(field.value) for name, field in self._fields.items()}
            limit = Limit(**numbers)
            limits = await self._quotas.change_limits(
                self._guild_id, lambda now: _with_limit(now, self._target, limit)
            )
        except ValueError as error:
            content = _unchanged(error, interaction.locale)
        else:
            content = limits_text(limits, interaction.locale)
        await interaction.edit_original_response(
            content=content, allowed_mentions=discord.AllowedMentions.none()
        )


class BudgetForm(Form):
    """Money and tokens a day."""

    def __init__(self, quotas: Quotas, owner: int, present: Budget, locale: Speaks) -> None:
        super().__init__(
            title=tr(locale, "Budget of a day")
            if owner
            else tr(locale, "Budget of the operator's endpoint")
        )
        self._quotas = quotas
        self._owner = owner
        money = None if present.money is None else plain_number(locale, present.money)
        self._money = _field("money", money, number(locale, 5, 2))
        self._tokens = _number_field("tokens", present.tokens, locale)
        self.add_item(
            ui.Label(
                text=tr(locale, "Money a day"),
                description=tr(locale, "In the currency of /config prices; empty: any amount"),
                component=self._money,
            )
        )
        self.add_item(
            ui.Label(
                text=tr(locale, "Tokens a day"),
                description=tr(locale, "Empty: any number"),
                component=self._tokens,
            )
        )

    async def on_submit(self, interaction: discord.Interaction, /) -> None:
        """Check and keep what was entered."""
        await interaction.response.defer(ephemeral=True, thinking=True)
        try:
            money = amount_of(self._money.value, highest=HIGHEST) or None
            budget = Budget(money=money, tokens=whole_number(self._tokens.value))
        except ValueError as error:
            content = _unchanged(error, interaction.locale)
        else:
            await self._quotas.set_budget(self._owner, budget)
            content = budget_text(budget, interaction.locale)
        await interaction.edit_original_response(content=content)


class PriceForm(Form):
    """The three prices of a model."""

    def __init__(
        self,
        ledger: UsageLedger,
        owner: int,
        model: str,
        present: Price | None,
        locale: Speaks,
    ) -> None:
        super().__init__(title=clipped(tr(locale, "Prices of {model}", model=model), 45))
        self._ledger = ledger
        self._owner = owner
        self._model = model
        self._fields: dict[str, _Field] = {}
        for name, told in (
            ("prompt", tr(locale, "Prompt")),
            ("cached", tr(locale, "Prompt that was cached")),
            ("completion", tr(locale, "Completion")),
        ):
            now = None if present is None else plain_number(locale, getattr(present, name))
            self._fields[name] = _field(name, now, number(locale, 0.5, 2))
            self.add_item(
                ui.Label(
                    text=told,
                    description=tr(locale, "For a million tokens; all three empty: no price"),
                    component=self._fields[name],
                )
            )

    async def on_submit(self, interaction: discord.Interaction, /) -> None:
        """Check and keep what was entered."""
        await interaction.response.defer(ephemeral=True, thinking=True)
        try:
            price = price_of({name: field.value for name, field in self._fields.items()})
            await self._ledger.set_price(self._owner, self._model, price)
        except ValueError as error:
            content = _unchanged(error, interaction.locale)
        else:
            locale = interaction.locale
            content = (
                price_text(self._model, price, locale)
                if price
                else tr(locale, "That model has no price now.")
            )
        await interaction.edit_original_response(content=clipped(content, 2000))


def _unchanged(error: ValueError, locale: Speaks) -> str:
    return tr(locale, "Nothing was changed. {why}", why=retold(locale, str(error)))


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


def _number_field(name: str, value: int | None, locale: Speaks) -> _Field:
    return _field(name, None if value is None else str(value), tr(locale, "Any number"))


def _field(name: str, value: str | None, placeholder: str) -> _Field:
    return ui.TextInput(
        custom_id=name, placeholder=placeholder, default=value, required=False, max_length=15
    )


def _command(
    name: str, description: str, callback: Any
) -> "app_commands.Command[LimitCommands, ..., None]":
    return app_commands.Command(name=name, description=description, callback=callback)
