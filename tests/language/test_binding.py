"""The structural filter: which names grammar rules out, as a table of small trees in both label schemes."""

import numpy as np
import pytest

from gapstack.language.grammar import parse_of
from gapstack.language.scenes import Barrier, barriers
from tests.trees import tree

SAW_HIM = "Bo/p/nsubj/1 saw/v/ROOT/1 him/r/obj/1"
CASES = [
    ("a subject is no antecedent of its object", SAW_HIM, "him", {"Bo": Barrier.DOMAIN}),
    ("the same in ClearNLP's labels", "Bo/p/nsubj/1 saw/v/ROOT/1 him/r/dobj/1", "him",
     {"Bo": Barrier.DOMAIN}),
    ("reflexives are bound there", "Bo/p/nsubj/1 saw/v/ROOT/1 himself/r/obj/1", "himself", {"Bo": 0}),
    ("possessives are free there", "Bo/p/nsubj/1 saw/v/ROOT/1 his/r/nmod:poss/3 dog/n/obj/1", "his",
     {"Bo": 0}),
    ("a coordinated subject is still a subject",
     "Bo/p/nsubj/3 and/c/cc/2 Al/p/conj/0 saw/v/ROOT/3 him/r/obj/3", "him",
     {"Bo": Barrier.DOMAIN, "Al": Barrier.DOMAIN}),
    ("a shared subject: Bo came and saw him",
     "Bo/p/nsubj/1 came/v/ROOT/1 and/c/cc/3 saw/v/conj/1 him/r/obj/3", "him", {"Bo": Barrier.DOMAIN}),
    ("a controlled subject: Bo wanted to see him",
     "Bo/p/nsubj/1 wanted/v/ROOT/1 to/x/mark/3 see/v/xcomp/1 him/r/obj/3", "him", {"Bo": Barrier.DOMAIN}),
    ("object control: Bo asked Al to see him",
     "Bo/p/nsubj/1 asked/v/ROOT/1 Al/p/obj/1 to/x/mark/4 see/v/xcomp/1 him/r/obj/4", "him",
     {"Bo": 0, "Al": Barrier.DOMAIN}),
    ("the next clause up is free: Bo said Al saw him",
     "Bo/p/nsubj/1 said/v/ROOT/1 Al/p/nsubj/3 saw/v/ccomp/1 him/r/obj/3", "him",
     {"Bo": 0, "Al": Barrier.DOMAIN}),
    ("a possessor inside the subject is free: Bo 's dog bit him",
     "Bo/p/nmod:poss/2 's/a/case/0 dog/n/nsubj/3 bit/v/ROOT/3 him/r/obj/3", "him", {"Bo": 0}),
    ("a subject pronoun commands its clause: he said that Bo left",
     "he/r/nsubj/1 said/v/ROOT/1 that/x/mark/4 Bo/p/nsubj/4 left/v/ccomp/1", "he", {"Bo": Barrier.COMMAND}),
    ("what comes first is not commanded: when Bo left he slept",
     "when/x/mark/2 Bo/p/nsubj/2 left/v/advcl/4 he/r/nsubj/4 slept/v/ROOT/4", "he", {"Bo": 0}),
    ("a pronoun in a fronted clause commands nothing outside: when he left Bo slept",
     "when/x/mark/2 he/r/nsubj/2 left/v/advcl/4 Bo/p/nsubj/4 slept/v/ROOT/4", "he", {"Bo": 0}),
    ("a coordinated clause with its own subject is not commanded",
     "he/r/nsubj/1 came/v/ROOT/1 and/c/cc/4 Bo/p/nsubj/4 left/v/conj/1", "he", {"Bo": 0}),
    ("one that shares the subject is", "he/r/nsubj/1 came/v/ROOT/1 and/c/cc/3 saw/v/conj/1 Bo/p/obj/3",
     "he", {"Bo": Barrier.COMMAND}),
    ("coordination: he and Bo left", "he/r/nsubj/3 and/c/cc/2 Bo/p/conj/0 left/v/ROOT/3", "he",
     {"Bo": Barrier.COORDINATION}),
    ("coordination with what it owns is not a barrier: Bo and his dog left",
     "Bo/p/nsubj/4 and/c/cc/3 his/r/nmod:poss/3 dog/n/conj/0 left/v/ROOT/4", "his", {"Bo": 0}),
    ("apposition: his brother Bo left", "his/r/nmod:poss/1 brother/n/nsubj/3 Bo/p/appos/1 left/v/ROOT/3",
     "his", {"Bo": Barrier.APPOSITION}),
    ("apposition, the name first: Bo , his brother , left",
     "Bo/p/nsubj/5 ,/u/punct/3 his/r/nmod:poss/3 brother/n/appos/0 ,/u/punct/3 left/v/ROOT/5", "his",
     {"Bo": Barrier.APPOSITION}),
    ("predication: Bo is his brother", "Bo/p/nsubj/3 is/x/cop/3 his/r/nmod:poss/3 brother/n/ROOT/3", "his",
     {"Bo": Barrier.APPOSITION}),
    ("predication in ClearNLP's labels", "Bo/p/nsubj/1 is/x/ROOT/1 his/r/poss/3 brother/n/attr/1", "his",
     {"Bo": Barrier.APPOSITION}),
    ("other sentences are free", "Bo/p/nsubj/1 left/v/ROOT/1|She/r/nsubj/1 saw/v/ROOT/1 him/r/obj/1",
     "him", {"Bo": 0}),
]  # fmt: skip


@pytest.mark.parametrize(("spec", "pronoun", "expected"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_barriers(spec, pronoun, expected):
    parse = parse_of(tree(spec))
    words = [parse.words(i) for i in range(len(parse))]
    heads = np.array([words.index(name) for name in expected], dtype=np.int32)
    found = barriers(parse, words.index(pronoun), heads)
    assert dict(zip(expected, map(Barrier, found.tolist()), strict=True)) == {
        name: Barrier(flag) for name, flag in expected.items()
    }


def test_names_and_pronouns_without_a_token_meet_no_barrier():
    parse = parse_of(tree(SAW_HIM))
    assert barriers(parse, 2, np.array([-1], dtype=np.int32)).tolist() == [0]
    assert barriers(parse, -1, np.array([0], dtype=np.int32)).tolist() == [0]
