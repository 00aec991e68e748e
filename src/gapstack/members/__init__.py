"""The members, one file or package each, and the table that all other code finds them by.

To add one: write ``members/<name>.py`` with a :class:`~gapstack.members.member.Member`, add its line here, and
add its row to the test table in ``tests/members/test_contract.py``.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from gapstack.errors import MemberError
from gapstack.registry import Entry, Registry, lazy
from gapstack.signatures import constant

if TYPE_CHECKING:
    from gapstack.members.member import Member
else:
    __getattr__ = lazy(__name__, {"Member": "gapstack.members.member:Member"})

_CUES, _ATTENTION = "Webster et al. 2018, section 4.3", "Webster et al. 2018, section 4.4"
_NOTHING, _PARSER, _BOTH = "nothing", "a parser", "an encoder, a parser"


def _member(name: str, kind: str, about: str, paper: str, needs: str = "an encoder") -> tuple[str, Entry]:
    return name, Entry(f"gapstack.members.{name}:{kind}", about, paper, needs)


_OURS = (
    _member(
        "prior",
        "Prior",
        "class frequencies of the training rows, for every row",
        "class frequencies of the training rows",
        _NOTHING,
    ),
    _member("random", "Random", "a coin for the name, the class frequency for NEITHER", _CUES, _NOTHING),
    _member("token_distance", "TokenDistance", "the name nearest in words", _CUES, _NOTHING),
    _member("topical_entity", "TopicalEntity", "the name that is mentioned most", _CUES, _NOTHING),
    _member("syntactic_distance", "SyntacticDistance", "the name nearest in the parse", _CUES, _PARSER),
    _member("parallelism", "Parallelism", "the name in the pronoun's grammatical function", _CUES, _PARSER),
    _member("url", "Url", "the name that the page is about, else parallelism", _CUES, "a parser, page URLs"),
    _member("transformer_single", "TransformerSingle", "the one attention head that points best", _ATTENTION),
    _member("transformer_multi", "TransformerMulti", "extra trees over the best attention heads", _ATTENTION),
    _member(
        "frozen_spans",
        "FrozenSpans",
        "siamese head on frozen spans, attention and features",
        "Yang et al. 2019; span extractor as in Abzaliev 2019",
    ),
    _member(
        "tuned_spans",
        "TunedSpans",
        "the same head on tagged spans of a fine-tuned encoder, names replaced",
        "ours; after Attree 2019, Yang et al. 2019 and Liu 2019",
        _BOTH,
    ),
    _member("probert", "ProBERT", "fine-tuned encoder, the pronoun's vector classified", "Attree 2019"),
    _member(
        "grep",
        "Grep",
        "ProBERT with evidence of other resolvers pooled by attention",
        "Attree 2019",
        "an encoder, a parser or files of clusters",
    ),
    _member(
        "anonymised", "Anonymised", "end-to-end scorer on frozen vectors of anonymised names", "Liu 2019"
    ),
    _member(
        "frozen_mlp", "FrozenMLP", "dense towers on frozen vectors and features", "Ionita et al. 2019", _BOTH
    ),
    _member("siamese", "Siamese", "siamese towers on frozen vectors and features", "Yang et al. 2019"),
    _member("msnet", "MSNet", "attention of the pronoun over both names, layer by layer", "Wang 2019"),
    _member("span_head", "SpanHead", "self-attentive span extractor with positions", "Abzaliev 2019", _BOTH),
    _member(
        "pair_product",
        "PairProduct",
        "products of the pronoun's vector with each name's",
        "Ionita et al. 2019",
    ),
    _member(
        "sequence",
        "SequenceClassifier",
        "self-attentive spans of all three mentions, classified",
        "Chada 2019",
    ),
    _member("kernel_svm", "KernelSVM", "kernel machine on the pronoun's frozen vector", "Bao and Qiao 2019"),
    _member(
        "bidaf",
        "BiDAF",
        "bidirectional attention flow between name and text",
        "Bao and Qiao 2019; Seo et al. 2017",
        _BOTH,
    ),
    _member(
        "question_answering",
        "QuestionAnswering",
        "the name as the answer to a question about the pronoun",
        "Chada 2019",
    ),
    _member(
        "masked_lm",
        "MaskedLM",
        "masked-language-model odds of the names in the pronoun's place",
        "Lois et al. 2019",
    ),
    _member("multiple_choice", "MultipleChoice", "three endings for the sentence, scored", "Chada 2019"),
    _member("rgcn", "RGCN", "relational graph convolution over the parse", "Xu and Yang 2019", _BOTH),
    _member(
        "resolver",
        "Resolver",
        "an off-the-shelf resolver's clusters, calibrated",
        "Webster et al. 2018",
        "files of clusters",
    ),
    _member(
        "static_vectors",
        "StaticVectors",
        "small siamese head over static word vectors",
        "Dawkins 2021; Zhao et al. 2018",
        "word vectors or an encoder",
    ),
    _member(
        "surface",
        "Surface",
        "boosted trees over hand-made features",
        "boosted trees (Ke et al. 2017) over hand-made features",
        _NOTHING,
    ),
    (
        "stack",
        Entry(
            "gapstack.ensemble.stack:Stack",
            "other members, cross-validated, and a stacker over them",
            "Wolpert 1992",
            "what its members need",
        ),
    ),
)
MEMBERS: Registry[type[Member]] = Registry("member", dict(_OURS), group="gapstack.members")
"""By name; other packages add to it by entry points of the group ``gapstack.members``."""


def create(name: str, **settings: Any) -> Member:
    """Make the member called ``name`` with these hyper-parameters; the others have their defaults.

    Raises
    ------
    UnknownNameError
        If there is no such member.
    SettingError
        If it has no such hyper-parameter, or a value is of another type or out of range.
    """
    member: Member = MEMBERS.create(name, **settings)
    return member


def published(name: str) -> dict[str, Any]:
    """Give the paper's settings of the member called ``name``: ``PUBLISHED`` of its module, which is not imported.

    Raises
    ------
    UnknownNameError
        If there is no such member.
    MemberError
        If it has none.
    """
    entry = MEMBERS.entry(name)
    if entry.package:
        values = getattr(import_module(MEMBERS[name].__module__), "PUBLISHED", None)
    else:
        values = constant(entry.target.partition(":")[0], "PUBLISHED")
    if values is None:
        raise MemberError(f"{name} has no published settings; leave them out for its defaults")
    return dict(values)


__all__ = ["MEMBERS", "Member", "create", "published"]
