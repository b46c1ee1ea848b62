"""The list of dialects.

Invariant: a dialect becomes part of the parser by standing here, and in no other way.
"""

from providers.verbatim.dialects import (
    announced,
    deepseek,
    functionary,
    functools,
    gemma,
    glm,
    harmony,
    hermes,
    invoke,
    kimi,
    kimi3,
    mistral,
    qwen,
    react,
    token_wrappers,
)
from providers.verbatim.grammar import Grammar

GRAMMAR = Grammar(
    module.DIALECT
    for module in (
        announced,
        deepseek,
        functionary,
        functools,
        gemma,
        glm,
        harmony,
        hermes,
        invoke,
        kimi,
        kimi3,
        mistral,
        qwen,
        react,
        token_wrappers,
    )
)
