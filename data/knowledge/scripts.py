"""Which scripts are written without blank space between words.

Invariant: one definition, for cutting text into chunks and into search terms alike.
"""

UNSPACED = (
    "\u0e00-\u0e4f\u0e80-\u0ecf\u1000-\u103f\u1780-\u17d3"  # Thai, Lao, Burmese, Khmer
    "\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"  # kana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f"  # ideographs, halfwidth kana
    "\U00020000-\U0003ffff"  # rare ideographs
)
"""The inside of a character class. Korean is not in it: its words are spaced."""
