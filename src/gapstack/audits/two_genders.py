"""A woman and a man, one of whom the pronoun means by its gender: "Emily is married to Paul. He works in a bank".

First names of many countries, titles, relation words or earlier pronouns show who is a woman. Every sentence comes with
the two names in both orders, and with pronouns of both genders.
"""

from __future__ import annotations

from collections.abc import Iterator

from gapstack.audits.gender_agreement import (
    FUNCTIONS,
    OTHER_GENDER,
    AgreementRow,
    GenderAgreement,
    pronouns,
    questions,
    read_lists,
)


def _rows() -> Iterator[AgreementRow]:
    for evidence in read_lists("two_genders")["evidence"]:
        templates, relations = evidence["templates"], evidence.get("relations", [", "])
        for place, pair in enumerate(evidence["pairs"]):
            template, relation = templates[place % len(templates)], relations[place % len(relations)]
            described = zip(OTHER_GENDER, pair.split(", "), relation.split(", "), strict=True)
            woman_first = list(described)
            for order in (woman_first, woman_first[::-1]):
                words: dict[str, str] = {}
                for key, (gender, name, relation_word) in zip("pq", order, strict=True):
                    words |= {key: name, f"{key}_relation": relation_word} | pronouns(gender, f"{key}_")
                (first, *_), (second, *_) = order
                for gender, one, other in ((first, "p", "q"), (second, "q", "p")):
                    name = f"two_genders-{pair.replace(', ', '-').replace(' ', '_')}-{first}_first-{gender}"
                    for form, example in questions(name, template, words, one, other, gender):
                        of = OTHER_GENDER[gender] if form.startswith("other_") else gender
                        function = f"{FUNCTIONS[form.removeprefix('other_')]} pronoun"
                        label = "first" if of == first else "second"
                        yield AgreementRow(example, pair, of, (evidence["name"], function, f"named {label}"))


TWO_GENDERS = GenderAgreement(
    *("two_genders", "A woman and a man", _rows, "fem.", "masc.", ("evidence", "function", "order")),
    "columns are by the pronoun's gender; intervals resample pairs of names",
)
