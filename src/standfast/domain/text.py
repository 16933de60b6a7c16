"""How text from outside is compared, and how it is shown without being able to do harm.

Two jobs, kept apart on purpose:

- *Comparing.* `collapse_space` and `normalise_title` reduce a title to what makes it that title. They lose
  markup, never letters: case stays, nothing is matched by likeness.
- *Showing.* Text of a plan reaches terminals, pages and, with a client's help, a model's system role. There it
  must be one quoted thing: `print_title` writes a title as the inside of a JSON string, with `<` escaped too.
  That is the language in which a model writes its tool arguments, so a title that is read off the screen and
  sent back is right whether its escapes were undone on the way or not; and it is injective, so that what was
  printed whole names exactly one text. `visible` is for running text: it shows what would be invisible and
  leaves the rest readable.

An invisible character is one that a reader cannot see and a model can read: controls, format characters,
fillers, selectors. Joiners and selectors that a script or an emoji needs (after and before a character beyond
Latin-1) are not counted, or every family emoji would be a warning.

Not here: where a title comes from (`checklist`), what a plan hides (`hidden`), HTML.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

import msgspec

TITLE_LIMIT: Final = 120
"""Characters of a title in a marker or an answer, "…" included."""

DISPLAY_LIMIT: Final = 500
"""Characters of a title up to which it is shown whole where there is room."""

CUT: Final = "…"

BIDI: Final = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Marks, embeddings, overrides and isolates that change the order in which text is shown (UAX 9)."""

_FILLERS: Final = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
"""Letters, marks and symbols that are drawn as nothing."""

_JOINERS: Final = frozenset("\u200c\u200d")
_HIDDEN_CATEGORIES: Final = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_SHORT: Final = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f"}

_MARKUP: Final = re.compile(r"[\\`*_\[\]!<&]")
"""Without one of these an inline text is its own rendering: CommonMark gives no other character a meaning."""


class Printed(msgspec.Struct, frozen=True):
    """A title as the host prints it. `cut` says that its end is missing, so that its id must go with it."""

    text: str
    cut: bool


def collapse_space(text: str) -> str:
    """`text` trimmed, each run of white space one space."""
    return " ".join(text.split())


def plain_title(text: str) -> str:
    """`text`, already without markup, in the form that keys and comparisons use: NFC, white space collapsed."""
    return collapse_space(unicodedata.normalize("NFC", text))


def normalise_title(markdown_inline: str) -> str:
    """Inline Markdown reduced to its text, in NFC, white space collapsed; case is kept.

    HTML stays as it is written, because no title may hide a part of itself. References to link definitions
    are not resolved: a title alone has none. Raises `TooLarge` for text that is all brackets beyond
    `markdown.INLINE_STEPS`; a title within the operations' limits cannot reach it.
    """
    if _MARKUP.search(markdown_inline) is None:
        return plain_title(markdown_inline)
    # Imported when needed: `markdown` builds on this module.
    from standfast.domain.markdown import Reader

    return Reader("").title(markdown_inline)


def print_title(text: str, limit: int | None = TITLE_LIMIT) -> Printed:
    """`text` as one line that is safe between double quotes, at most `limit` characters (None: whole).

    The inside of a JSON string: `"`, `\\`, `<` and what cannot be seen are escaped, so it can neither close its
    quotes nor open a tag nor turn the line around. Cut between characters, never inside an escape.
    """
    line = collapse_space(text)
    pieces = [_escape(line, at) for at in range(len(line))]
    if limit is None or sum(map(len, pieces)) <= limit:
        return Printed("".join(pieces), cut=False)
    kept, room = [], limit - len(CUT)
    for piece in pieces:
        room -= len(piece)
        if room < 0:
            break
        kept.append(piece)
    return Printed("".join(kept).rstrip() + CUT, cut=True)


def escape_title(text: str, limit: int | None = TITLE_LIMIT) -> str:
    """The text of `print_title`, for a place that shows the id anyway."""
    return print_title(text, limit).text


def display(text: str) -> Printed:
    """A title for a page or a list: up to `DISPLAY_LIMIT` characters whole, on one line, nothing invisible."""
    shown = visible(collapse_space(text), lines=False)
    if len(shown) <= DISPLAY_LIMIT:
        return Printed(shown, cut=False)
    return Printed(shown[: DISPLAY_LIMIT - len(CUT)].rstrip() + CUT, cut=True)


def visible(text: str, lines: bool = True) -> str:
    """`text` with every control, bidi and invisible character as an escape such as `\\x1b` or `\\u202e`.

    With `lines`, line feeds and tabs stay and CRLF becomes a line feed. For reading, not for reading back: a
    backslash is not escaped. Angle brackets stay: a page escapes them itself, a tag for a model is built of
    `print_title`.
    """
    if text.isascii() and text.isprintable():
        return text
    if lines:
        text = text.replace("\r\n", "\n")
    kept = "\n\t" if lines else ""
    return "".join(_code(char) if char not in kept and is_hidden(text, at) else char for at, char in enumerate(text))


def is_hidden(text: str, at: int) -> bool:
    """Whether the character at `at` is one that a reader of `text` does not see (bidi marks included)."""
    char = text[at]
    if char.isascii():
        return not char.isprintable()
    if char in _JOINERS:
        return not (_joins(text, at - 1) and _joins(text, at + 1))
    if _is_selector(char):
        return not _selects(text, at)
    return char in _FILLERS or unicodedata.category(char) in _HIDDEN_CATEGORIES


def _joins(text: str, at: int) -> bool:
    """Whether a joiner beside this character can be meant: a letter, mark or symbol beyond Latin-1."""
    if not 0 <= at < len(text) or text[at] < "\u0100" or text[at] in _FILLERS:
        return False
    return _is_selector(text[at]) or unicodedata.category(text[at])[0] in "LMS"


def _is_selector(char: str) -> bool:
    return "\ufe00" <= char <= "\ufe0f" or "\U000e0100" <= char <= "\U000e01ef" or "\u180b" <= char <= "\u180f"


def _selects(text: str, at: int) -> bool:
    """Whether a variation selector follows what it can vary: one character, not another selector."""
    if at == 0 or _is_selector(text[at - 1]):
        return False
    before = text[at - 1]
    if before in "#*0123456789\u00a9\u00ae":
        return text[at] in "\ufe0e\ufe0f"
    return before >= "\u0100" and before not in _FILLERS and unicodedata.category(before)[0] in "LS"


def _escape(text: str, at: int) -> str:
    """One character of a printed title."""
    char = text[at]
    if char in '"\\':
        return "\\" + char
    if char in _SHORT:
        return _SHORT[char]
    if char != "<" and not is_hidden(text, at):
        return char
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2))


def _code(char: str) -> str:
    """One character of running text as a visible escape."""
    point = ord(char)
    if char in _SHORT:
        return _SHORT[char]
    if point <= 0xFF:
        return f"\\x{point:02x}"
    return f"\\u{point:04x}" if point <= 0xFFFF else f"\\U{point:08x}"
