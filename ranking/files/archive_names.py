"""Names of files in archives that do not state an encoding: one encoding for all names of an archive.

Single names are too short to tell. An encoding is possible if it decodes all names. Possible encodings are compared by
the text that they give: words are letters of one script, without signs and capitals in between, and of the letters of
East Asia most are common.
"""

from __future__ import annotations

import itertools
import unicodedata
from collections.abc import Iterable, Sequence

from ranking.core import Decision
from ranking.core.errors import InputError
from ranking.core.text import counted, listed, readable

AS_FOUND = "as found"
# if UTF-8 decodes all names, they are in UTF-8; the others are of Japan, China, Taiwan, Korea, the West and Russia
UTF8 = "utf-8"
# Korean before Chinese, because common letters of Korean have the bytes of common letters of Chinese
ENCODINGS = (UTF8, "cp932", "cp949", "gbk", "cp950", "cp437", "cp850", "cp866", "cp1251", "cp1252")
# different names of files and folders that are compared
SAMPLE = 500
# of its characters beyond ASCII that may be worse than those of the best encoding
TOLERANCE = 0.1
# different characters beyond ASCII from which the best of several encodings is certain
MANY = 6
# the first bytes, and the least second byte, of the letters that each encoding lists first because they are common
COMMON = {
    "cp932": ((range(0x81, 0x84), range(0x88, 0x99)), 0x40),
    "gbk": ((range(0xA1, 0xA4), range(0xB0, 0xD8)), 0xA1),
    "cp950": ((range(0xA1, 0xC7),), 0x40),
    "cp949": ((range(0xA1, 0xA4), range(0xB0, 0xC9)), 0xA1),
}
# the first words of the names of letters that words mix
EAST_ASIAN = ("CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "FULLWIDTH", "HALFWIDTH", "IDEOGRAPHIC")


def decoded(
    names: Sequence[str | bytes], encoding: str = AS_FOUND, setting: str = "name_encoding"
) -> tuple[list[str], tuple[Decision, ...]]:
    """Return the names as text, those in bytes by `encoding`; and which encoding was chosen, if there was a choice.

    setting: that changes the choice. The lines of a text are decoded like names. InputError if `encoding` does not
    decode all names.

    >>> decoded(["a", "写真".encode("cp932"), "テスト".encode("cp932")], "cp932")[0]
    ['a', '写真', 'テスト']
    """
    unknown = list(dict.fromkeys(name for name in names if isinstance(name, bytes) and not name.isascii()))
    possible = [each for each in ENCODINGS if _decodes(unknown, each)]
    if encoding not in (AS_FOUND, *possible):
        raise InputError(setting, f"one of: {', '.join(possible)}", encoding)
    if UTF8 in possible and encoding in (AS_FOUND, UTF8):
        return [_text(name, UTF8) for name in names], ()
    sample = _sample(unknown)
    texts = {each: sample.decode(each) for each in possible}
    wrong = {each: _wrong(text) + _rare(text, each) for each, text in texts.items()}
    ranked = sorted(possible, key=wrong.__getitem__)
    chosen = ranked[0] if encoding == AS_FOUND else encoding
    others = tuple(each for each in ranked if texts[each] != texts[chosen])
    likely = [each for each in ranked if wrong[each] <= wrong[ranked[0]] + TOLERANCE]
    many = sum(not letter.isascii() for letter in set(texts[chosen])) >= MANY
    decision = Decision(
        "encoding of file names",
        f"{chosen}: {listed([readable(_text(name, chosen)) for name in unknown])}",
        f"{counted(len(unknown), 'text')} without a stated encoding; readable as {', '.join(likely)}",
        setting,
        chosen,
        others,
        encoding == AS_FOUND and not many and not set(likely).isdisjoint(others),
    )
    return [_text(name, chosen) for name in names], (decision,)


def _text(name: str | bytes, encoding: str) -> str:
    return name if isinstance(name, str) else name.decode(encoding)


def _decodes(names: Iterable[bytes], encoding: str) -> bool:
    try:
        return all(name.decode(encoding) for name in names)
    except UnicodeError:
        return False


def _sample(names: Iterable[bytes]) -> bytes:
    """Return the first different parts of paths, one per line. No encoding uses the byte of `/` for anything else."""
    parts = dict.fromkeys(part for name in names for part in name.split(b"/") if not part.isascii())
    return b"\n".join(itertools.islice(parts, SAMPLE))


def _wrong(text: str) -> float:
    """Return how many signs, changes of script and capitals within words there are per character beyond ASCII.

    >>> _wrong("Собаки/Кот"), _wrong("é«r"), _wrong("Käфer"), _wrong("кОт")
    (0.0, 0.5, 1.0, 0.3333333333333333)
    """
    wrong = beyond = 0
    before = last = ""
    for letter in text:
        beyond += not letter.isascii()
        script = ""
        if letter.isalpha():
            script = unicodedata.name(letter, "").partition(" ")[0]
            script = "CJK" if script in EAST_ASIAN else script
        elif not letter.isascii():
            wrong += 1
        wrong += bool(script and before and script != before)
        wrong += not letter.isascii() and letter.isupper() and last.islower()
        before, last = script, letter
    return wrong / max(beyond, 1)


def _rare(text: str, encoding: str) -> float:
    """Return the share of characters beyond ASCII that an encoding of East Asia lists as rare; 0 for other encodings.

    >>> _rare("写真", "cp932"), _rare("麒麟", "cp932"), _rare("Кот", "cp866")
    (0.0, 0.5, 0.0)
    """
    firsts, least = COMMON.get(encoding, ((range(256),), 0))
    codes = [letter.encode(encoding, "replace") for letter in text if not letter.isascii()]
    rare = sum(not any(code[0] in first for first in firsts) or code[-1] < least for code in codes)
    return rare / max(len(codes), 1)
