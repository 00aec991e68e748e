"""Hand-made parses: ``tree("Ann/PROPN/nsubj/1 slept/VERB/ROOT/1")`` is a spaCy document without any pipeline."""

from gapstack.data import Corpus, Example, Span
from gapstack.files import cache_root
from gapstack.language.parses import find_parser, store

PARSER = "hand-made"
_POS = {
    "p": "PROPN",
    "n": "NOUN",
    "v": "VERB",
    "x": "AUX",
    "r": "PRON",
    "a": "ADP",
    "c": "CCONJ",
    "u": "PUNCT",
}


def tree(spec, persons=(), vocab=None):
    """Build a document from ``word/pos/label/head`` items; sentences are parted by ``|``.

    ``pos`` is a letter (p proper noun, n noun, v verb, x auxiliary, r pronoun, a adposition, c conjunction,
    u punctuation, anything else other); ``head`` counts from 0 within its sentence. ``persons`` lists the
    texts that are PERSON names, in order.
    """
    from spacy.tokens import Doc
    from spacy.tokens import Span as TokenSpan
    from spacy.vocab import Vocab

    words, pos, labels, heads, starts = [], [], [], [], []
    for sentence in spec.split("|"):
        first = len(words)
        for i, item in enumerate(sentence.split()):
            word, letter, label, head = item.rsplit("/", 3)
            words.append(word)
            pos.append(_POS.get(letter, "X"))
            labels.append(label)
            heads.append(first + int(head))
            starts.append(i == 0)
    doc = Doc(vocab or Vocab(), words=words, pos=pos, deps=labels, heads=heads, sent_starts=starts)
    entities, at = [], 0
    for name in persons:
        first = next(i for i in range(at, len(words)) if doc[i : i + len(name.split())].text == name)
        at = first + len(name.split())
        entities.append(TokenSpan(doc, first, at, label="PERSON"))
    doc.set_ents(entities)
    return doc


def example(doc, pronoun, a, b, url=None, label=None, id="x-1"):
    """Make an example over a document's text; names and pronoun are words, ``word@2`` being its second occurrence."""
    text = doc.text

    def span(word):
        word, _, nth = word.partition("@")
        at = -1
        for _ in range(int(nth or 1)):
            at = text.index(word, at + 1)
            while (at and text[at - 1].isalpha()) or text[at + len(word) : at + len(word) + 1].isalpha():
                at = text.index(word, at + 1)
        return Span(at, at + len(word))

    return Example(id, text, span(pronoun), span(a), span(b), url, label)


def keep(*documents):
    """Put documents where the parse cache finds them for the parser ``PARSER``; such a pipeline does not exist."""
    store(documents, cache_root() / "parses" / find_parser(PARSER).fingerprint)


def corpus(*examples):
    """Make a corpus of the examples, numbering their ids."""
    from dataclasses import replace

    return Corpus([replace(e, id=f"x-{i}") for i, e in enumerate(examples)], name="trees")
