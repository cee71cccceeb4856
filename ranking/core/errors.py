"""The error of input that cannot be used, in parts: code and tests read the parts, people the sentence."""

from __future__ import annotations

import numpy as np

LONGEST = 300  # characters of what came that a sentence shows


class InputError(ValueError):
    """Input that cannot be used.

    subject: what the input is: an argument, a setting, a file. expected: what it has to be, a noun phrase.
    came: what was there instead: a value or, where this says more, a phrase; None where there is nothing to show.
    remedy: what to do about it, an imperative; "" where `expected` says so already.

    >>> str(InputError("bins of Colour", "2 to 16", 17))
    'bins of Colour: expected 2 to 16, got 17'
    >>> str(InputError("SVM", "a trained method", remedy="call fit first"))
    'SVM: expected a trained method; call fit first'
    """

    def __init__(self, subject: str, expected: str, came: object = None, remedy: str = "") -> None:
        super().__init__(subject, expected, came, remedy)  # what pickle makes it again from
        self.subject, self.expected, self.came, self.remedy = subject, expected, came, remedy

    def __str__(self) -> str:
        sentence = f"{self.subject}: expected {self.expected}"
        if self.came is not None:
            sentence += f", got {_shown(self.came)}"
        return f"{sentence}; {self.remedy}" if self.remedy else sentence


def _shown(came: object) -> str:
    """What came, as a sentence shows it.

    >>> _shown(1234567), _shown(np.float64(0.5)), _shown("a larger file"), _shown(True)
    ('1,234,567', '0.5', 'a larger file', 'True')
    """
    if isinstance(came, np.generic):
        came = came.item()
    text = f"{came:,}" if isinstance(came, int) and not isinstance(came, bool) else str(came)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
