"""Tokens of chat templates that leak into text, and the markers around thinking.

Invariant: none of them is ever shown outside code; what follows a turn that is not the
model's own was invented by it.
"""

THINKING = {
    **{
        f"<{name}>": (f"</{name}>", *others)
        for name, others in {
            "think": ("</thinking>", "</thought>"),
            "thinking": ("</think>", "</thought>"),
            "thought": ("</think>", "</thinking>"),
            "reasoning": ("</think>",),
            "reflection": ("</think>",),
            "analysis": ("</think>",),
        }.items()
    },
    "[THINK]": ("[/THINK]",),
    "◁think▷": ("◁/think▷",),
    "<|START_THINKING|>": ("<|END_THINKING|>",),
    "<|begin_of_thought|>": ("<|end_of_thought|>",),
    "<|thinking|>": ("<|/thinking|>", "<|end_thinking|>"),
    "<|think|>": ("<|/think|>", "<|end_think|>"),
    "<|channel>thought": ("<channel|>",),
}
"""Openers of a thinking block with what closes it."""

ORPHANS = ("</think>", "</thinking>", "[/THINK]", "◁/think▷", "<|END_THINKING|>")
"""Closers that mean thinking even where no opener was seen."""

STOPS = (
    "<|im_end|>",
    "<|endoftext|>",
    "<|end_of_text|>",
    "<|begin_of_text|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<|eot|>",
    "<|eom|>",
    "<|end|>",
    "<|return|>",
    "<|end_of_turn|>",
    "<|endofprompt|>",
    "<|END_OF_TURN_TOKEN|>",
    "<|START_RESPONSE|>",
    "<|END_RESPONSE|>",
    "<|START_TEXT|>",
    "<|END_TEXT|>",
    "<｜end▁of▁sentence｜>",
    "<｜begin▁of▁sentence｜>",
    "<end_of_turn>",
    "<turn|>",
    "<eos>",
    "<bos>",
    "<pad>",
    "</s>",
    "<s>",
    "<unk>",
    "[/INST]",
    "[EOS]",
    "[BOS]",
)
"""Tokens that say nothing to a reader."""

OWN_TURN = (
    "<|assistant|>",
    "<｜Assistant｜>",
    "<|CHATBOT_TOKEN|>",
)
"""Tokens that open a turn of the model."""

FOREIGN_TURN = (
    "<|user|>",
    "<｜User｜>",
    "<|observation|>",
    "<|USER_TOKEN|>",
    "[INST]",
)
"""Tokens that open a turn that the model has no business to write."""

NAMED_TURN = {
    "<|im_start|>": (),
    "<|start_header_id|>": ("<|end_header_id|>",),
    "<|header_start|>": ("<|header_end|>",),
    "<|start_of_role|>": ("<|end_of_role|>",),
    "<start_of_turn>": (),
    "<|turn>": (),
    "<|START_OF_TURN_TOKEN|>": (),
}
"""Tokens that a role's name follows, with what ends the name if a token does."""

OWN_ROLES = frozenset({"assistant", "model", "bot", "ai", "chatbot", ""})
