"""The members: one file each, and this table, which is how everything else finds them.

To add one: write ``members/<name>.py`` with a :class:`~gapstack.members.member.Member`, add its line here, and
add its row to the test table in ``tests/members/test_contract.py``.
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from typing import Any

from gapstack.errors import MemberError
from gapstack.members.member import Member


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of the members table: class, published source, and what the member must have at hand."""

    class_name: str
    paper: str
    needs: str = "nothing"


MEMBERS: dict[str, Entry] = {
    "prior": Entry("Prior", "class frequencies of the training rows"),
    "random": Entry("Random", "Webster et al. 2018, section 4.3"),
    "token_distance": Entry("TokenDistance", "Webster et al. 2018, section 4.3"),
    "topical_entity": Entry("TopicalEntity", "Webster et al. 2018, section 4.3"),
    "syntactic_distance": Entry("SyntacticDistance", "Webster et al. 2018, section 4.3", "a parser"),
    "parallelism": Entry("Parallelism", "Webster et al. 2018, section 4.3", "a parser"),
    "url": Entry("Url", "Webster et al. 2018, section 4.3", "a parser, page URLs"),
    "transformer_single": Entry("TransformerSingle", "Webster et al. 2018, section 4.4", "an encoder"),
    "transformer_multi": Entry("TransformerMulti", "Webster et al. 2018, section 4.4", "an encoder"),
    "frozen_spans": Entry(
        "FrozenSpans", "Yang et al. 2019; span extractor as in Abzaliev 2019", "an encoder"
    ),
    "probert": Entry("ProBERT", "Attree 2019", "an encoder"),
    "grep": Entry("Grep", "Attree 2019", "an encoder, a parser or files of clusters"),
    "anonymised": Entry("Anonymised", "Liu 2019", "an encoder"),
    "frozen_mlp": Entry("FrozenMLP", "Ionita et al. 2019", "an encoder, a parser"),
    "siamese": Entry("Siamese", "Yang et al. 2019", "an encoder"),
    "msnet": Entry("MSNet", "Wang 2019", "an encoder"),
    "span_head": Entry("SpanHead", "Abzaliev 2019", "an encoder, a parser"),
    "pair_product": Entry("PairProduct", "Ionita et al. 2019", "an encoder"),
    "sequence": Entry("SequenceClassifier", "Chada 2019", "an encoder"),
    "kernel_svm": Entry("KernelSVM", "Bao and Qiao 2019", "an encoder"),
    "bidaf": Entry("BiDAF", "Bao and Qiao 2019; Seo et al. 2017", "an encoder, a parser"),
    "question_answering": Entry("QuestionAnswering", "Chada 2019", "an encoder"),
    "masked_lm": Entry("MaskedLM", "Lois et al. 2019", "an encoder"),
    "multiple_choice": Entry("MultipleChoice", "Chada 2019", "an encoder"),
    "rgcn": Entry("RGCN", "Xu and Yang 2019", "an encoder, a parser"),
    "resolver": Entry("Resolver", "Webster et al. 2018", "files of clusters"),
    "static_vectors": Entry("StaticVectors", "Dawkins 2021; Zhao et al. 2018", "word vectors or an encoder"),
    "surface": Entry("Surface", "boosted trees (Ke et al. 2017) over hand-made features"),
}


def create(name: str, **parameters: Any) -> Member:
    """Make the member called ``name`` with the given hyper-parameters; the rest are its published defaults.

    Raises
    ------
    MemberError
        If there is no such member or it has no such hyper-parameter.
    """
    if name not in MEMBERS:
        close = get_close_matches(name, MEMBERS, n=3)
        hint = f"did you mean {' or '.join(close)}?" if close else f"there are: {', '.join(MEMBERS)}"
        raise MemberError(f"no member is called {name!r}; {hint}")
    member_class = getattr(import_module(f"gapstack.members.{name}"), MEMBERS[name].class_name)
    known = member_class._get_param_names()
    unknown = sorted(set(parameters) - set(known))
    if unknown:
        raise MemberError(
            f"member {name!r} has no setting {', '.join(unknown)}; it has: {', '.join(known) or 'none'}"
        )
    member: Member = member_class(**parameters)
    return member


__all__ = ["MEMBERS", "Entry", "Member", "create"]
