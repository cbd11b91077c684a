"""Every sentence of a report, in English and Japanese: one file a chapter, `Words` to say them."""

from __future__ import annotations

from dataclasses import dataclass

from teiten.report.words import calibration, course, history, setting, statistics, verdict

_LANGUAGES = ("en", "ja")
_CHAPTERS = (verdict, course, statistics, setting, calibration, history)

WORDS: dict[str, tuple[str, str]] = {
    key: words for chapter in _CHAPTERS for key, words in chapter.WORDS.items()
}


@dataclass(frozen=True)
class Words:
    """The words of one language; call it with a key and the values of the sentence."""

    language: str

    def __call__(self, key: str, **values: object) -> str:
        """The sentence `key` with its values filled in."""
        return WORDS[key][_LANGUAGES.index(self.language)].format(**values)
