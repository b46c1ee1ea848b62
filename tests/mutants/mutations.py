"""The mutations: for each rule of what counts as a call, and of which tools there are, a small
change that drops it.

Invariant: `before` stands exactly once in its file, and what comes of the change still imports.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutation:
    """One change to one file, the rule that it drops, in words, and the tests to notice it."""

    rule: str
    dropped: str
    file: str
    before: str
    after: str
    tests: str = "tests/providers/verbatim"


def _in(rule: str, *changes: tuple[str, str, str, str]) -> tuple[Mutation, ...]:
    return tuple(
        Mutation(
            rule=rule,
            dropped=dropped,
            file=f"providers/verbatim/{file}",
            before=before,
            after=after,
        )
        for dropped, file, before, after in changes
    )


def _exposed(rule: str, *changes: tuple[str, str, str, str]) -> tuple[Mutation, ...]:
    """Changes to what decides which tools there are, each noticed where whole turns or lists of
    tools are tested."""
    return tuple(
        Mutation(
            rule=rule,
            dropped=dropped,
            file=file,
            before=before,
            after=after,
            tests=(
                "tests/tools/test_exposure.py"
                if file.startswith("tools/") or file.endswith("/dispatcher.py")
                else "tests/chat/test_exposure.py"
            ),
        )
        for dropped, file, before, after in changes
    )


def _grounded(
    tests: str, *changes: tuple[str, str, str, str], rule: str = "Grounding is a guild's own"
) -> tuple[Mutation, ...]:
    """Changes to what a turn knows of a guild's documents."""
    return tuple(
        Mutation(rule=rule, dropped=dropped, file=file, before=before, after=after, tests=tests)
        for dropped, file, before, after in changes
    )


_DIALECTS = (
    *("announced", "deepseek", "functionary", "functools", "gemma", "glm", "harmony", "hermes"),
    *("invoke", "kimi", "kimi3", "mistral", "qwen", "react", "token_wrappers"),
)

MUTATIONS = (
    *_in(
        "A wrapper with explicit markers, outside code, is a call",
        (
            "wrappers are read",
            "engine.py",
            "return word in self._grammar.wrappers or word in self._grammar.calls",
            "return word in self._grammar.calls",
        ),
        (
            "markers that begin a call are read",
            "engine.py",
            "return word in self._grammar.wrappers or word in self._grammar.calls",
            "return word in self._grammar.wrappers",
        ),
        (
            "inline code shows its text",
            "engine.py",
            "            yield from inline_code(self.scan, self.out, run)\n",
            "            return\n",
        ),
        (
            "a fence shows its text",
            "engine.py",
            "elif (yield from fenced_text(self.scan, self.out, char, run)):",
            "elif not run:",
        ),
        (
            "a marker in quotation marks is named, not used",
            "engine.py",
            "or mentions.quoted(self.out.tail):\n            return False\n        return word",
            ":\n            return False\n        return word",
        ),
        *(
            (
                f"the dialect {name} is known",
                "dialects/registry.py",
                f"        {name},\n",
                "",
            )
            for name in _DIALECTS
        ),
    ),
    *_in(
        "`name(args)` alone on its line, bare or in backticks, is a call",
        (
            "it is read bare",
            "engine.py",
            "                (forms.TAUGHT, self._read_taught),\n",
            "",
        ),
        (
            "it is read in backticks",
            "engine.py",
            'reads = self._unmarked_calls and (fence or char == "`")',
            "reads = self._unmarked_calls and fence",
        ),
        (
            "nothing else stands on the line",
            "taught.py",
            'ends = not char or char == "\\n"',
            "ends = bool(end)",
        ),
        (
            "a signature is none",
            "taught.py",
            '    return all(_PARAMETER.fullmatch(part.strip()) for part in inner.split(","))\n',
            "    return False\n",
        ),
    ),
    *_in(
        "A fence that holds nothing but such calls is read",
        (
            "fences are read",
            "engine.py",
            'reads = self._unmarked_calls and (fence or char == "`")',
            'reads = self._unmarked_calls and (not fence and char == "`")',
        ),
        (
            "nothing else stands in the fence",
            "fenced.py",
            "    if end - closer < run:\n        return None\n",
            "    if end - closer < run:\n        return pos\n",
        ),
        (
            "a fence in a programming language is a sample if words follow",
            "fenced.py",
            "    if info in _CODE_FENCES:\n        c.last = True\n    elif",
            "    if",
        ),
    ),
    *_in(
        "Inline code `name({...})` that closes the message after a lead-in is a call",
        (
            "it is read",
            "engine.py",
            "and not self._shows_calls\n",
            "and not self._shows_calls and (at_start or fence)\n",
        ),
        (
            "it closes the message",
            "taught.py",
            "            if not alone:\n                c.last = True\n            end +=",
            "            end +=",
        ),
        (
            "its arguments are an object",
            "taught.py",
            "objects_only=not alone, stops=stops)",
            "objects_only=False, stops=stops)",
        ),
    ),
    *_in(
        "The whole reply is one JSON call object or an array of them",
        (
            "it is read",
            "engine.py",
            "(forms.OBJECT, self._read_objects), ",
            "",
        ),
        (
            "an array is read",
            "bare.py",
            'if char == "[" and end is None and not in_array:',
            'if char == "[" and end is None and in_array:',
        ),
    ),
    *_in(
        "A JSON call object after prose is a call if it ends the message",
        (
            "it ends the message",
            "bare.py",
            "    if end is not None:\n        c.last = True\n    return end\n",
            "    return end\n",
        ),
        (
            "prose may stand before it",
            "bare.py",
            "            if c.names.resolve(value):\n                return True\n"
            "            if not c.setting.whole:",
            "            if not c.setting.whole:",
        ),
    ),
    *_in(
        "Code samples, indented blocks, quotations, tables, links and lists show calls",
        (
            "an indented block",
            "engine.py",
            'code_block = not self.out.thinking and (pos - start >= 4 or char == "\\t")',
            "code_block = False",
        ),
        (
            "a quotation",
            "engine.py",
            'quoted = code_block or (char in (">", "|") and not self.out.thinking)',
            'quoted = code_block or (char == "|" and not self.out.thinking)',
        ),
        (
            "a table",
            "engine.py",
            'quoted = code_block or (char in (">", "|") and not self.out.thinking)',
            'quoted = code_block or (char == ">" and not self.out.thinking)',
        ),
        (
            "a list",
            "engine.py",
            "self._shows_calls = quoted or (yield from self._is_item(pos, char))",
            "self._shows_calls = quoted",
        ),
        (
            "a link",
            "taught.py",
            'return end if (yield from c.scan.peek(after)) in ("", "\\n", "<") else None',
            "return end if after is not None else None",
        ),
        (
            "inline code in the middle of a sentence",
            "engine.py",
            "read = partial(read_line, pos=end, ticks=run, alone=at_start)",
            "read = partial(read_line, pos=end, ticks=run, alone=True)",
        ),
    ),
    *_in(
        "JSON that merely has a name, arguments that are no object, a schema: text",
        (
            "a schema",
            "bare.py",
            "if call.schema or call.odd or call.bare:",
            "if call.odd or call.bare:",
        ),
        (
            "arguments that are no object",
            "bare.py",
            "if call.schema or call.odd or call.bare:",
            "if call.schema or call.bare:",
        ),
        (
            "a name alone",
            "bare.py",
            "if call.schema or call.odd or call.bare:",
            "if call.schema or call.odd:",
        ),
        (
            "members beside the name that are no arguments",
            "bare.py",
            "return not call.flat or not isinstance(bind_call(spec, call.arguments), BindFailure)",
            "return True",
        ),
    ),
    *_in(
        "A call in reasoning runs only if the turn says nothing else, and then the last one",
        (
            "it is not run where it stands",
            "writer.py",
            "self._ledger.thought(piece, raw, None if self._field else piece.span)",
            "self._ledger.call(piece, raw)",
        ),
        (
            "it runs in a silent turn",
            "ledger.py",
            "        self._events.append(self._numbered(call))\n",
            "",
        ),
        (
            "words said before it",
            "ledger.py",
            "or not keeps or self.spoke or self.called:",
            "or not keeps or self.called:",
        ),
        (
            "calls made before it",
            "ledger.py",
            "or not keeps or self.spoke or self.called:",
            "or not keeps or self.spoke:",
        ),
        (
            "words said after it",
            "ledger.py",
            "            self.spoke = True\n            self._release()\n",
            "            self.spoke = True\n",
        ),
        (
            "native calls beside it",
            "ledger.py",
            "if native_calls or self.finish in _CUT:",
            "if self.finish in _CUT:",
        ),
        (
            "a response that was cut off",
            "ledger.py",
            "if native_calls or self.finish in _CUT:",
            "if native_calls:",
        ),
        (
            "the last call counts",
            "ledger.py",
            "        self._release()\n        self._kept_call = replace(outcome, span=span)",
            "        if self._kept_call:\n            return self.reasoning(raw, span)\n"
            "        self._kept_call = replace(outcome, span=span)",
        ),
        (
            "call_in_reasoning=never",
            "ledger.py",
            "or not keeps or self.spoke or self.called:",
            "or self.spoke or self.called:",
        ),
    ),
    *_in(
        "A call of a name that is not offered is an error with the closest names",
        (
            "it is an error, not text",
            "ledger.py",
            'return self._error(site, raw, "unknown_tool", self._names.unknown(site.name))',
            "return None",
        ),
        (
            "the closest names",
            "names.py",
            "        near = self.closest(written[:_SHOWN])\n",
            "        near = list[str]()\n",
        ),
        (
            "a bare object is one only if it is the whole reply",
            "engine.py",
            "whole=not self._ledger.spoke,",
            "whole=True,",
        ),
        (
            "and only if it is exactly a name and an arguments object",
            "bare.py",
            "return lone and c.setting.whole and call.exact and not call.schema",
            "return lone and c.setting.whole and not call.schema",
        ),
        (
            "a damaged name is not run on a guess",
            "names.py",
            "                return found[0] if len(found) == 1 else None\n        return None\n",
            "                return found[0] if len(found) == 1 else None\n"
            "        return self._specs[self.closest(name)[0]] if self.closest(name) else None\n",
        ),
        (
            "a name by its case and joints",
            "names.py",
            'return _JOINTS.sub("", name).casefold()',
            "return name",
        ),
        (
            "a name by its namespace",
            "names.py",
            "for n in range(1, len(pieces))",
            "for n in range(0)",
        ),
        (
            "a suffix that two tools share means neither",
            "names.py",
            "self._suffixes.get(_fold(tail), [])\n            if found:\n"
            "                return found[0] if len(found) == 1 else None",
            "self._suffixes.get(_fold(tail), [])\n            if found:\n"
            "                return found[0]",
        ),
    ),
    *_in(
        "An empty wrapper at a line's start, or one with prose, is malformed; a mention is text",
        (
            "an empty wrapper",
            "payloads.py",
            '        c.malformed("it is empty", pos)\n        return pos\n',
            "        return None\n",
        ),
        (
            "a wrapper with prose",
            "payloads.py",
            "    if marker in grammar.closers or (ended and own_line):\n",
            "    if not wrapper.opener:\n",
        ),
        (
            "a mention in a sentence",
            "payloads.py",
            "meant = c.setting.line_start and wrapper.strict",
            "meant = wrapper.strict",
        ),
        (
            "JSON without a name in a wrapper",
            "payloads.py",
            "    if not calls and not early:\n        c.settle(start",
            "    if not calls and not early:\n        return None\n        c.settle(start",
        ),
    ),
    *_in(
        "Arguments that do not fit the schema are an error with the schema",
        (
            "the schema is asked",
            "arguments.py",
            "    if found:\n        return BindFailure(",
            "    if found and not bent:\n        return BindFailure(",
        ),
        (
            "the schema is told",
            "arguments.py",
            'f"Write one JSON object that satisfies this schema: {schema}"',
            'f"Write one JSON object. {schema[:0]}"',
        ),
        (
            "arguments beyond the limit are refused",
            "ledger.py",
            "if site.size or _size(site) > self._settings.max_argument_chars:",
            "if site.size > 1 << 40:",
        ),
    ),
    *_in(
        "A call that the length limit cut off does not run unless it is complete",
        (
            "its closer was seen",
            "ledger.py",
            'unsure = site.ending != "closed" and self.finish in _CUT',
            "unsure = False",
        ),
        (
            "brackets are closed only where the model stopped by itself",
            "ledger.py",
            'unfinished = site.ending == "open" and self.finish not in _BY_ITSELF',
            "unfinished = False",
        ),
        (
            "an open string is never closed",
            "ledger.py",
            'if site.ending == "cut" or unfinished or unsure:',
            "if unfinished or unsure:",
        ),
    ),
    Mutation(
        rule="A call that the length limit cut off does not run unless it is complete",
        dropped="a native call of a turn that was cut",
        file="providers/openai/fold.py",
        before='        if reason == "length":\n            # Servers',
        after="        if call is None:\n            # Servers",
        tests="tests/providers/openai/test_fold.py",
    ),
    *_in(
        "A writing call that stands in foreign text does not run",
        (
            "it does not run",
            "copies.py",
            'return "copied" if key in settings.copied else None',
            "return None",
        ),
        (
            "read-only calls do",
            "copies.py",
            "    if acting.read_only:\n        return None\n",
            "",
        ),
        (
            "in the member's own message it is text",
            "copies.py",
            '    if key in settings.quoted:\n        return "quoted"\n',
            "",
        ),
        (
            "the key is that of the bound arguments",
            "copies.py",
            "key = call_key(spec.name, arguments)",
            "key = call_key(spec.name, {})",
        ),
        (
            "escaped JSON is foreign text too",
            "foreign.py",
            "dict.fromkeys((text, _unescaped(text), _unescaped(_unescaped(text))))",
            "(text,)",
        ),
        (
            "foreign text is read at every place",
            "foreign.py",
            "    if marker in GRAMMAR.calls:\n"
            "        return (yield from GRAMMAR.calls[marker](c, GRAMMAR, 0, end))\n",
            "",
        ),
        (
            "foreign text is read as a response",
            "foreign.py",
            "        found.update(_as_a_response(form, surface))\n",
            "",
        ),
    ),
    Mutation(
        rule="One answer runs, repeats and sends no more than it may",
        dropped="so many calls of a response run",
        file="chat/bounds.py",
        before="    for call in calls[:MOST_CALLS]:\n",
        after="    for call in calls:\n",
        tests="tests/chat/test_bounds.py",
    ),
    Mutation(
        rule="One answer runs, repeats and sends no more than it may",
        dropped="calls run as far as there is room",
        file="chat/bounds.py",
        before="        if room < 0:\n            break\n        got.calls.append(call)\n",
        after="        got.calls.append(call)\n",
        tests="tests/chat/test_bounds.py",
    ),
    Mutation(
        rule="One answer runs, repeats and sends no more than it may",
        dropped="what does not fit is not sent",
        file="chat/turn.py",
        before="            if self._exchanges and prompt.room < 0:\n",
        after="            if number > MAX_ROUNDS:\n",
        tests="tests/chat/test_bounds.py",
    ),
    Mutation(
        rule="One answer runs, repeats and sends no more than it may",
        dropped="a failed call is not repeated whole",
        file="chat/rounds.py",
        before="    raw = _clipped(error.raw, _RAW_SHOWN)\n",
        after="    raw = error.raw\n",
        tests="tests/chat/test_turn.py",
    ),
    Mutation(
        rule="An answer that breaks off is told as such",
        dropped="a stream without any end",
        file="prompt/events.py",
        before='return self.reason == "error" or not self.marked',
        after='return self.reason == "error"',
        tests="tests/chat/test_turn.py",
    ),
    Mutation(
        rule="An answer that breaks off is told as such",
        dropped="a server that gave up",
        file="prompt/events.py",
        before='return self.reason == "error" or not self.marked',
        after="return not self.marked",
        tests="tests/chat/test_turn.py",
    ),
    Mutation(
        rule="A writing call that stands in foreign text does not run",
        dropped="a native call does not run either",
        file="providers/openai/fold.py",
        before="if repeated := repeats(spec, bound.arguments, self._names, self._settings):",
        after='if repeated := "":',
        tests="tests/providers/openai/test_fold.py",
    ),
    Mutation(
        rule="A writing call that stands in foreign text does not run",
        dropped="the tool behind a dispatcher counts",
        file="providers/verbatim/copies.py",
        before="acting = names.exactly(key[0]) or spec",
        after="acting = spec",
        tests="tests/providers/openai/test_fold.py",
    ),
    *_in(
        "`args`: an object, one bare value, keywords, positions in schema order, nothing",
        (
            "an object",
            "arguments.py",
            "    if len(positional) == 1 and isinstance(positional[0], Mapping):\n"
            '        yield {**cast("JsonObject", positional[0]), **keywords}\n',
            "",
        ),
        (
            "one bare value",
            "arguments.py",
            "        yield {needed[0]: positional[0], **keywords}\n",
            "        return\n",
        ),
        (
            "keywords",
            "literals.py",
            "                keywords.append((word.group(), value))\n",
            "                positional.append(value)\n",
        ),
        (
            "positions in schema order",
            "arguments.py",
            "        yield {**dict(zip(free, positional, strict=False)), **keywords}\n",
            "        yield {**dict(zip(sorted(free), positional, strict=False)), **keywords}\n",
        ),
        (
            "nothing",
            "arguments.py",
            '    if raw is None:\n        return _judge(spec, {}, "{}")\n',
            "    if raw is None:\n        return BindFailure(problems=())\n",
        ),
    ),
    *_in(
        "Repair, after strict JSON failed, where the result satisfies the schema",
        (
            "it is flagged",
            "arguments.py",
            "bound = _judge(spec, values, None, repaired=True)",
            "bound = _judge(spec, values, None)",
        ),
        (
            "quotation marks of other kinds",
            "literals.py",
            "        if char and char in _CLOSING_QUOTE:\n",
            "        if char == '\"':\n",
        ),
        (
            "keys without quotes",
            "literals.py",
            '        if word is None:\n            raise Unreadable("no key")\n',
            '        raise Unreadable("no key")\n',
        ),
        (
            "quotes inside strings",
            "arguments.py",
            "    for guess_quotes in (False, True):\n        try:\n"
            "            value = read_value(text,",
            "    for guess_quotes in (False,):\n        try:\n            value = read_value(text,",
        ),
        (
            "Python's literals",
            "literals.py",
            '    "True": True,\n',
            "",
        ),
        (
            "commas too many",
            "literals.py",
            '            if char == ",":\n                pos += 1\n                continue\n'
            "            key, pos",
            '            if char == ",":\n                raise Unreadable("a comma")\n'
            "            key, pos",
        ),
        (
            "brackets that are missing",
            "literals.py",
            "        if not self.leniency.close_missing:\n",
            "        if pos >= 0:\n",
        ),
        (
            "objects encoded twice",
            "arguments.py",
            "    for _ in range(2):\n        if not isinstance(value, str):",
            "    for _ in range(0):\n        if not isinstance(value, str):",
        ),
        (
            "a stop token at a string's end",
            "arguments.py",
            'text = _STOP_TOKEN.sub("", value) if value[-1:] == ">" else value',
            "text = value",
        ),
    ),
    *_in(
        "Coercion follows the schema",
        (
            "numbers in strings",
            "coercion.py",
            '            return read_int(text)\n        if name == "integer" and _NUMBER',
            '            return text\n        if name == "integer" and _NUMBER',
        ),
        (
            "a string stays a string",
            "coercion.py",
            "    types = _types(schema)\n    if types and not any(",
            "    types = _types(schema)\n    if isinstance(value, str) and value[:1].isdigit():\n"
            "        value = int(value) if value.isdecimal() else value\n"
            "    if types and not any(",
        ),
        (
            "a number keeps its spelling where a string is wanted",
            "coercion.py",
            "            return value.spelling\n",
            "            return str(float(value))\n",
        ),
        (
            "truth in words",
            "coercion.py",
            'return {"true": True, "false": False}.get(text.lower(), value)',
            "return value",
        ),
        (
            "enums by case",
            "coercion.py",
            "return same[0] if len(same) == 1 else value",
            "return value",
        ),
        (
            "JSON in strings",
            "coercion.py",
            "        return _inner_json(text, value)\n",
            "        return value\n",
        ),
        (
            "a lone value in an array",
            "coercion.py",
            "        return [value]\n",
            "        return value\n",
        ),
        (
            "null is dropped where it says nothing",
            "coercion.py",
            "            inner is None\n            and key in known",
            "            inner is not inner\n            and key in known",
        ),
        (
            "but not where it is required",
            "coercion.py",
            "            and key not in needed\n",
            "",
        ),
        (
            "and not where the schema admits it",
            "coercion.py",
            "            and not _admits(None, inner_schema, root)\n",
            "",
        ),
        (
            "references",
            "coercion.py",
            "        if not isinstance(reference, str) or",
            "        if reference or not isinstance(reference, str) or",
        ),
    ),
    *_in(
        "After the last call, the first words end the response",
        (
            "words are dropped",
            "ledger.py",
            "            self.cut = True\n            text, start = words, start + blank\n",
            "            text, start = words, start + blank\n",
        ),
        (
            "calls behind words do not run",
            "ledger.py",
            "        if self.cut:\n            self.drop(site.span, AFTER_CALLS)\n"
            "            return\n",
            "",
        ),
        (
            "an invented turn is not the model's",
            "engine.py",
            "        self.out.think(None)\n        self._ledger.cut = True\n",
            "        self.out.think(None)\n",
        ),
    ),
    *_in(
        "Several calls run, each with an id of its own",
        (
            "ids count up",
            "ledger.py",
            "        self._ordinal += 1\n",
            "        self._ordinal = 1\n",
        ),
        (
            "a call is announced as soon as its name is certain",
            "candidate.py",
            "            self._sink.started(spec.name)\n",
            "",
        ),
    ),
    *_in(
        "Any partition of a text gives the same events, and prose flows",
        (
            "a marker that has half come is waited for",
            "scanner.py",
            "            if not undecided or self.ended:\n                return found, end",
            "            if undecided in (True, False):\n                return found, end",
        ),
        (
            "a name that has half come is waited for",
            "payloads.py",
            "decided = pos < c.scan.end or c.scan.ended",
            "decided = pos <= c.scan.end or c.scan.ended",
        ),
        (
            "a word that is no name is let go",
            "payloads.py",
            "            if written[0].isupper() and not c.names.begins(written):\n"
            "                return None\n",
            "",
        ),
        (
            "markers inside strings end nothing",
            "scanner.py",
            "                if suspect and not (yield from self._ends_value(end)):",
            "                if suspect:",
        ),
        (
            "tokens that no table knows are hidden",
            "unlisted.py",
            "return end + 2 if closes and name and name == name.strip() else None",
            "return None",
        ),
        (
            "a call that unknown markup wraps is an error",
            "unlisted.py",
            "    if called is None:\n",
            "    if called is None or name == name:\n",
        ),
    ),
    *_exposed(
        "What a guild may not use is in no request and cannot be run",
        (
            "a dispatcher asks the allowlist again",
            "tools/dispatcher.py",
            "    if asks_list and not _permitted(surface, call.name, direct):\n",
            "    if asks_list and not asks_list:\n",
        ),
        (
            "the allowlist is asked before tools are split",
            "tools/exposure.py",
            "if self.allowlist is not None and spec.name not in self.allowlist and not past",
            "if self.allowlist is not None and spec.name in self.allowlist and not past",
        ),
        (
            "a read-only server has no tool that changes something",
            "tools/exposure.py",
            "if self.read_only and not spec.read_only:",
            "if self.read_only and spec.destructive:",
        ),
        (
            "a tool of one guild does not exist for another",
            "chat/toolbox.py",
            "                if entry.guild_id not in (None, guild_id):\n",
            "                if guild_id != guild_id:\n",
        ),
    ),
    *_exposed(
        "A search tells of what it may, and the array of the rest",
        (
            "what stands in the array by a toggle is not searched",
            "tools/exposure.py",
            "return {name: spec for name, spec in tools.items() if name not in up}",
            "return dict(tools)",
        ),
        (
            "tools that are deferred leave the array",
            "tools/exposure.py",
            "return Exposed(tools={**core, **promoted, **meta}, advertised=tuple(deferred))",
            "return Exposed(tools={**tools, **meta}, advertised=())",
        ),
    ),
    *_exposed(
        "A dispatcher runs what is well-formed, and history shows it as it was",
        (
            "a payload with further keys is malformed",
            "prompt/dispatcher.py",
            '    if not arguments.keys() <= {"name", "arguments"}:\n        return None\n',
            "",
        ),
        (
            "arguments that are no object are malformed",
            "prompt/dispatcher.py",
            'return (name, cast("JsonObject", given)) if isinstance(given, Mapping) else None',
            'return (name, cast("JsonObject", given if isinstance(given, Mapping) else {}))',
        ),
        (
            "an answer is unwrapped",
            "providers/openai/fold.py",
            "            _real(event) if isinstance(event, ToolCall) else event\n",
            "            event\n",
        ),
        (
            "arguments keep the spelling that they had",
            "prompt/projection.py",
            "    return call.raw_arguments if isinstance(written, Mapping) else "
            "canonical_json(call.arguments)",
            "    return canonical_json(written or call.arguments)",
        ),
        (
            "a definition is written once",
            "prompt/projection.py",
            "            if name not in loaded:\n",
            "            if name:\n",
        ),
        (
            "two calls with one id leave the dispatcher off",
            "chat/toolbox.py",
            "return self if len(set(ids)) == len(ids) else replace(self, stable=False)",
            "return self if len(ids) >= 0 else replace(self, stable=False)",
        ),
    ),
    *_grounded(
        "tests/grounding",
        (
            "contexts are looked for in the guild alone",
            "data/knowledge/rows.py",
            "FROM knowledge_contexts WHERE guild_id = ?1",
            "FROM knowledge_contexts WHERE ?1 = ?1",
        ),
        (
            "only an authorised context is searched",
            "chat/knowledge.py",
            "        if not self._authorised.contexts or not question:\n",
            "        if not question:\n",
        ),
        (
            "the tool waits for a context",
            "chat/knowledge.py",
            'off = "" if self._authorised.contexts else _NO_CONTEXT',
            'off = ""',
        ),
    ),
    *_grounded(
        "tests/data/knowledge/test_retrieval.py",
        (
            "a chunk of another guild is not read",
            "data/knowledge/retrieval.py",
            "AND ready AND knowledge_contexts.guild_id = ?",
            "AND ready AND (knowledge_contexts.guild_id = ? OR TRUE)",
        ),
    ),
    *_grounded(
        "tests/grounding",
        (
            "turns with tools are grounded",
            "chat/gather.py",
            "await grounding.snippets(dialogue)",
            "() if toolbox.offered else await grounding.snippets(dialogue)",
        ),
        (
            "a plan without the tools field is grounded",
            "chat/planning.py",
            "snapshot = replace(before, verdict=verdict)",
            "snapshot = replace(before, verdict=verdict, snippets=())",
        ),
        (
            "contexts are searched once a turn",
            "chat/service.py",
            "            grounding = grounding or await self._grounder.of(request.place)\n",
            "            grounding = await self._grounder.of(request.place)\n",
        ),
        (
            "a fetch needs no search provider",
            "tools/builtin/outside.py",
            '            "web_search": await self._services.search(guild_id),\n',
            '            "web_search": await self._services.search(guild_id),\n'
            '            "web_fetch": await self._services.search(guild_id),\n',
        ),
        rule="Grounding reaches every path, and tools decide nothing of it",
    ),
    *_grounded(
        "tests/prompt/test_knowledge.py",
        (
            "knowledge can be left out",
            "prompt/assemble.py",
            " - sum(grounding.values())\n",
            "\n    grounding.clear()\n",
        ),
        (
            "what survived is reported",
            "prompt/assemble.py",
            "context_snippets=survived",
            "context_snippets=snapshot.snippets",
        ),
        (
            "knowledge goes before history",
            "prompt/assemble.py",
            "    kept, dropped = within(ceiling)\n",
            "    rest = wanted - fixed - sum(grounding.values())\n"
            "    kept, dropped = within(min(ceiling, rest))\n",
        ),
        rule="Grounding goes first over budget, and what is left is what is told",
    ),
    *_grounded(
        "tests/grounding/test_paths.py",
        (
            "what was cut off a result is not named",
            "chat/knowledge.py",
            "        if room >= len(snippet.told):\n",
            "        if room >= -len(whole):\n",
        ),
        (
            "what no model read is not named",
            "chat/turn.py",
            "            async with lease.request() as slot:\n",
            "            self.read.append(prompt)\n"
            "            async with lease.request() as slot:\n",
        ),
        rule="Sources are what the model read and the answer rests on",
    ),
    *_grounded(
        "tests/chat/test_sources.py",
        (
            "the question decides in any language",
            "chat/sources.py",
            "        if denied or one.fit < max(",
            "        if denied or one.fit >= 0 or one.fit < max(",
        ),
        (
            "an answer that found nothing names nothing",
            "chat/sources.py",
            "    denied = denies(answer)\n",
            "    denied = False\n",
        ),
        (
            "what the answer left aside is not named",
            "chat/sources.py",
            "        if best_shown >= SHOWS and one.ranked < _UNTOUCHED * best_shown:\n"
            "            return False\n",
            "",
        ),
        rule="Sources are what the model read and the answer rests on",
    ),
)
"""In the order of the rules. A change may make an import or a variable idle; nobody lints it."""

REQUIRED = {
    "contexts are looked for in the guild alone": (
        "tests/grounding/test_isolation.py::test_a_context_is_there_for_its_guild_alone"
    ),
    "a plan without the tools field is grounded": (
        "tests/grounding/test_paths.py::test_a_request_that_is_planned_anew_keeps_it"
    ),
    "knowledge can be left out": (
        "tests/prompt/test_knowledge.py::test_c06_the_worst_passages_go_before_any_history"
    ),
    "what survived is reported": (
        "tests/prompt/test_knowledge.py::test_c06_the_worst_passages_go_before_any_history"
    ),
    "a fetch needs no search provider": (
        "tests/grounding/test_acceptance.py"
        "::test_c03_a_context_offers_the_search_and_web_alone_the_fetch"
    ),
    "a dispatcher asks the allowlist again": (
        "tests/tools/test_exposure.py::test_a08_the_allowlist_is_asked_twice"
    ),
    "what stands in the array by a toggle is not searched": (
        "tests/tools/test_exposure.py::test_a05_search_selects_by_name_and_refuses_nothing_asked"
    ),
    "a payload with further keys is malformed": (
        "tests/tools/test_exposure.py::test_a_malformed_dispatch_is_told_as_such"
    ),
    "a definition is written once": (
        "tests/chat/test_exposure.py::test_b03_a_load_changes_nothing_before_it"
    ),
}
"""What is dropped by the mutations that no run of the tests may overlook, and the test that each
has to fail. The whole check takes too long to be part of every run."""
