"""The members, one file or package each, and the table that all other code finds them by.

To add one: write ``members/<name>.py`` with a :class:`~gapstack.members.member.Member`, add its line here, and
add its row to the test table in ``tests/members/test_contract.py``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gapstack.errors import MemberError
from gapstack.registry import Entry, Registry, lazy

if TYPE_CHECKING:
    from gapstack.members.member import Member

_NOTHING, _PARSER, _BOTH = "nothing", "a parser", "an encoder, a parser"


def _member(where: str, about: str, paper: str, needs: str = "an encoder") -> Entry:
    return Entry(f"gapstack.members.{where}", about, paper, needs)


def _cue(kind: str, about: str, needs: str = _PARSER) -> Entry:
    return _member(f"baselines:{kind}", about, "Webster et al. 2018, section 4.3", needs)


def _attention(kind: str, about: str) -> Entry:
    return _member(f"transformer:Transformer{kind}", about, "Webster et al. 2018, section 4.4")


_OURS = {
    "prior": _member(
        "baselines:Prior",
        "class frequencies of the training rows, for every row",
        "class frequencies of the training rows",
        _NOTHING,
    ),
    "random": _cue("Random", "a coin for the name, the class frequency for NEITHER", _NOTHING),
    "token_distance": _cue("TokenDistance", "the name nearest in words", _NOTHING),
    "topical_entity": _cue("TopicalEntity", "the name that is mentioned most", _NOTHING),
    "syntactic_distance": _cue("SyntacticDistance", "the name nearest in the parse"),
    "parallelism": _cue("Parallelism", "the name in the pronoun's grammatical function"),
    "url": _cue("Url", "the name that the page is about, else parallelism", "a parser, page URLs"),
    "transformer_single": _attention("Single", "the one attention head that points best"),
    "transformer_multi": _attention("Multi", "extra trees over the best attention heads"),
    "frozen_spans": _member(
        "frozen_spans:FrozenSpans",
        "siamese head on frozen spans, attention and features",
        "Yang et al. 2019; span extractor as in Abzaliev 2019",
    ),
    "tuned_spans": _member(
        "tuned_spans:TunedSpans",
        "the same head on tagged spans of a fine-tuned encoder, names replaced",
        "ours; after Attree 2019, Yang et al. 2019 and Liu 2019",
        _BOTH,
    ),
    "probert": _member(
        "probert:ProBERT", "fine-tuned encoder, the pronoun's vector classified", "Attree 2019"
    ),
    "grep": _member(
        "grep:Grep",
        "ProBERT with evidence of other resolvers pooled by attention",
        "Attree 2019",
        "an encoder, a parser or files of clusters",
    ),
    "anonymised": _member(
        "anonymised:Anonymised", "end-to-end scorer on frozen vectors of anonymised names", "Liu 2019"
    ),
    "frozen_mlp": _member(
        "five_zeros:FrozenMLP", "dense towers on frozen vectors and features", "Ionita et al. 2019", _BOTH
    ),
    "siamese": _member(
        "siamese:Siamese", "siamese towers on frozen vectors and features", "Yang et al. 2019"
    ),
    "msnet": _member("msnet:MSNet", "attention of the pronoun over both names, layer by layer", "Wang 2019"),
    "span_head": _member(
        "span_head:SpanHead", "self-attentive span extractor with positions", "Abzaliev 2019", _BOTH
    ),
    "pair_product": _member(
        "five_zeros:PairProduct", "products of the pronoun's vector with each name's", "Ionita et al. 2019"
    ),
    "sequence": _member(
        "chada:SequenceClassifier", "self-attentive spans of all three mentions, classified", "Chada 2019"
    ),
    "kernel_svm": _member(
        "baoqiao:KernelSVM", "kernel machine on the pronoun's frozen vector", "Bao and Qiao 2019"
    ),
    "mention_network": _member(
        "baoqiao:MentionNetwork",
        "a hidden layer over frozen mention vectors and products",
        "Bao and Qiao 2019",
    ),
    "token_scores": _member(
        "bidaf:TokenScores", "one score for each piece of a fine-tuned encoder", "Bao and Qiao 2019"
    ),
    "bidaf": _member(
        "bidaf:BiDAF",
        "bidirectional attention flow between name and text",
        "Bao and Qiao 2019; Seo et al. 2017",
        _BOTH,
    ),
    "question_answering": _member(
        "chada:QuestionAnswering", "the name as the answer to a question about the pronoun", "Chada 2019"
    ),
    "masked_lm": _member(
        "masked_lm:MaskedLM",
        "masked-language-model odds of the names in the pronoun's place",
        "Lois et al. 2019",
    ),
    "prompted": _member(
        "prompted:Prompted",
        "a language model, local or behind a server, asked who the pronoun refers to",
        "prompting as in Brown et al. 2020; options as in Hendrycks et al. 2021",
        "a language model",
    ),
    "multiple_choice": _member(
        "chada:MultipleChoice", "three endings for the sentence, scored", "Chada 2019"
    ),
    "rgcn": _member("rgcn:RGCN", "relational graph convolution over the parse", "Xu and Yang 2019", _BOTH),
    "resolver": _member(
        "resolver:Resolver",
        "an off-the-shelf resolver's clusters, calibrated",
        "Webster et al. 2018",
        "files of clusters",
    ),
    "running_text": _member(
        "resolved_texts:RunningText",
        "the resolver of running text, its probabilities calibrated",
        "ours; off-the-shelf resolvers as in Webster et al. 2018",
        "the model of running text",
    ),
    "static_vectors": _member(
        "static_vectors:StaticVectors",
        "small siamese head over static word vectors",
        "Dawkins 2021; Zhao et al. 2018",
        "word vectors or an encoder",
    ),
    "surface": _member(
        "surface:Surface",
        "boosted trees over hand-made features",
        "boosted trees (Ke et al. 2017) over hand-made features",
        _NOTHING,
    ),
    "stack": Entry(
        "gapstack.ensemble.stack:Stack",
        "other members, cross-validated, and a stacker over them",
        "Wolpert 1992",
        "what its members need",
    ),
}
MEMBERS: Registry[type[Member]] = Registry("member", _OURS, group="gapstack.members")
"""By name; other packages add to it by entry points of the group ``gapstack.members``."""

_CLASSES = {"Member": "gapstack.members.member:Member"} | {
    entry.target.rpartition(":")[2]: entry.target for entry in _OURS.values()
}
__getattr__ = lazy(__name__, _CLASSES)


def __dir__() -> list[str]:
    return sorted({*globals(), *_CLASSES})


def create(name: str, **settings: Any) -> Member:
    """Create an unfitted member.

    Parameters
    ----------
    name : str
        Name of a member, as listed by ``gap members``.
    **settings
        Settings that differ from the defaults, the parameters of the member's class, such as
        ``gapstack.members.Surface``; ``gap members NAME`` lists them.

    Raises
    ------
    UnknownNameError
        If the name is unknown.
    SettingError
        If a setting is unknown, or a value has the wrong type or range.

    Examples
    --------
    >>> create("surface", rounds=60)
    Surface(rounds=60)
    """
    return MEMBERS.create(name, **settings)


def published(name: str) -> dict[str, Any]:
    """Return ``PUBLISHED`` of the member called ``name``, the paper's settings; MemberError if it has none."""
    values = getattr(MEMBERS[name], "PUBLISHED", None)
    if not values:
        raise MemberError(f"{name} has no published settings; leave them out for its defaults")
    return dict(values)
