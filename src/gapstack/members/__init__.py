"""The members: one file each, and this table, which is how everything else finds them.

To add one: write ``members/<name>.py`` with a :class:`~gapstack.members.member.Member`, add its line here, and
add its row to the test table in ``tests/members/test_contract.py``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gapstack.registry import Entry, Registry, lazy

if TYPE_CHECKING:
    from gapstack.members.member import Member
else:
    __getattr__ = lazy(__name__, {"Member": "gapstack.members.member:Member"})

MEMBERS: Registry[type[Member]] = Registry(
    "member",
    {
        "prior": Entry(
            "gapstack.members.prior:Prior",
            "class frequencies of the training rows, for every row",
            "class frequencies of the training rows",
        ),
        "random": Entry(
            "gapstack.members.random:Random",
            "a coin for the name, the class frequency for neither",
            "Webster et al. 2018, section 4.3",
        ),
        "token_distance": Entry(
            "gapstack.members.token_distance:TokenDistance",
            "the name nearest in words",
            "Webster et al. 2018, section 4.3",
        ),
        "topical_entity": Entry(
            "gapstack.members.topical_entity:TopicalEntity",
            "the name that is mentioned most",
            "Webster et al. 2018, section 4.3",
        ),
        "syntactic_distance": Entry(
            "gapstack.members.syntactic_distance:SyntacticDistance",
            "the name nearest in the parse",
            "Webster et al. 2018, section 4.3",
            "a parser",
        ),
        "parallelism": Entry(
            "gapstack.members.parallelism:Parallelism",
            "the name in the pronoun's grammatical function",
            "Webster et al. 2018, section 4.3",
            "a parser",
        ),
        "url": Entry(
            "gapstack.members.url:Url",
            "the name that the page is about, else parallelism",
            "Webster et al. 2018, section 4.3",
            "a parser, page URLs",
        ),
        "transformer_single": Entry(
            "gapstack.members.transformer_single:TransformerSingle",
            "the one attention head that points best",
            "Webster et al. 2018, section 4.4",
            "an encoder",
        ),
        "transformer_multi": Entry(
            "gapstack.members.transformer_multi:TransformerMulti",
            "extra trees over what the best attention heads say",
            "Webster et al. 2018, section 4.4",
            "an encoder",
        ),
        "frozen_spans": Entry(
            "gapstack.members.frozen_spans:FrozenSpans",
            "siamese head on frozen spans, attention and features",
            "Yang et al. 2019; span extractor as in Abzaliev 2019",
            "an encoder",
        ),
        "probert": Entry(
            "gapstack.members.probert:ProBERT",
            "fine-tuned encoder, the pronoun's vector classified",
            "Attree 2019",
            "an encoder",
        ),
        "grep": Entry(
            "gapstack.members.grep:Grep",
            "ProBERT with evidence of other resolvers pooled by attention",
            "Attree 2019",
            "an encoder, a parser or files of clusters",
        ),
        "anonymised": Entry(
            "gapstack.members.anonymised:Anonymised",
            "end-to-end scorer on frozen vectors of anonymised names",
            "Liu 2019",
            "an encoder",
        ),
        "frozen_mlp": Entry(
            "gapstack.members.frozen_mlp:FrozenMLP",
            "dense towers on frozen vectors and features",
            "Ionita et al. 2019",
            "an encoder, a parser",
        ),
        "siamese": Entry(
            "gapstack.members.siamese:Siamese",
            "siamese towers on frozen vectors and a gap's filling",
            "Yang et al. 2019",
            "an encoder",
        ),
        "msnet": Entry(
            "gapstack.members.msnet:MSNet",
            "attention of the pronoun over both names, layer by layer",
            "Wang 2019",
            "an encoder",
        ),
        "span_head": Entry(
            "gapstack.members.span_head:SpanHead",
            "self-attentive span extractor with positions",
            "Abzaliev 2019",
            "an encoder, a parser",
        ),
        "pair_product": Entry(
            "gapstack.members.pair_product:PairProduct",
            "products of the pronoun's vector with each name's",
            "Ionita et al. 2019",
            "an encoder",
        ),
        "sequence": Entry(
            "gapstack.members.sequence:SequenceClassifier",
            "self-attentive spans of all three mentions, classified",
            "Chada 2019",
            "an encoder",
        ),
        "kernel_svm": Entry(
            "gapstack.members.kernel_svm:KernelSVM",
            "kernel machine on the pronoun's frozen vector",
            "Bao and Qiao 2019",
            "an encoder",
        ),
        "bidaf": Entry(
            "gapstack.members.bidaf:BiDAF",
            "bidirectional attention flow between name and text",
            "Bao and Qiao 2019; Seo et al. 2017",
            "an encoder, a parser",
        ),
        "question_answering": Entry(
            "gapstack.members.question_answering:QuestionAnswering",
            "the name as the answer to a question about the pronoun",
            "Chada 2019",
            "an encoder",
        ),
        "masked_lm": Entry(
            "gapstack.members.masked_lm:MaskedLM",
            "masked-language-model odds of the names in the pronoun's place",
            "Lois et al. 2019",
            "an encoder",
        ),
        "multiple_choice": Entry(
            "gapstack.members.multiple_choice:MultipleChoice",
            "three endings for the sentence, the best one chosen",
            "Chada 2019",
            "an encoder",
        ),
        "rgcn": Entry(
            "gapstack.members.rgcn:RGCN",
            "relational graph convolution over the parse",
            "Xu and Yang 2019",
            "an encoder, a parser",
        ),
        "resolver": Entry(
            "gapstack.members.resolver:Resolver",
            "an off-the-shelf resolver's clusters, calibrated",
            "Webster et al. 2018",
            "files of clusters",
        ),
        "static_vectors": Entry(
            "gapstack.members.static_vectors:StaticVectors",
            "small siamese head over static word vectors",
            "Dawkins 2021; Zhao et al. 2018",
            "word vectors or an encoder",
        ),
        "surface": Entry(
            "gapstack.members.surface:Surface",
            "boosted trees over hand-made features",
            "boosted trees (Ke et al. 2017) over hand-made features",
        ),
        "stack": Entry(
            "gapstack.ensemble.stack:Stack",
            "other members, cross-validated, and a stacker over them",
            "Wolpert 1992",
            "what its members need",
        ),
    },
    group="gapstack.members",
)
"""By name; other packages add to it by entry points of the group ``gapstack.members``."""


def create(name: str, **settings: Any) -> Member:
    """Make the member called ``name`` with the given hyper-parameters; the rest are its published defaults.

    Raises
    ------
    UnknownNameError
        If there is no such member.
    SettingError
        If it has no such hyper-parameter, or a value is of another type or out of range.
    """
    member: Member = MEMBERS.create(name, **settings)
    return member


__all__ = ["MEMBERS", "Member", "create"]
