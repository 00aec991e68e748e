"""People who are mentioned by their bare surname: "Mary Johnson met Peter. Johnson said she liked him".

Each sentence comes in a mirrored pair: the two first names are exchanged, so that the same surname is a woman's and a
man's. Systems that read "Johnson" as a man's first name fail for women.
"""

from __future__ import annotations

from collections.abc import Iterator

from gapstack.audits.gender_agreement import (
    OTHER_GENDER,
    AgreementRow,
    GenderAgreement,
    questions,
    read_lists,
)


def _rows() -> Iterator[AgreementRow]:
    lists = read_lists("surnames")
    for origin in lists["origins"]:
        for place, surname in enumerate(origin["surnames"]):
            pair = origin["first_names"][place % len(origin["first_names"])]
            names = dict(zip(OTHER_GENDER, pair.split(), strict=True))  # the woman's, the man's
            for number, template in enumerate(lists["templates"], 1):
                for gender, first in names.items():
                    other = names[OTHER_GENDER[gender]]
                    words = {"full": f"{first} {surname}", "surname": surname, "other": other}
                    name = f"surnames-{surname}-{number}-{gender}"
                    for form, example in questions(name, template, words, "surname", "other", gender):
                        referent = "other person" if form.startswith("other_") else "surname's bearer"
                        yield AgreementRow(example, surname, gender, (origin["name"], referent))


SURNAMES = GenderAgreement(
    *("surnames", "Surnames", _rows, "women", "men", ("origin", "referent")),
    "women, men: those who have the surname; each surname is a woman's and a man's in the same sentences, "
    "and intervals resample surnames",
)
