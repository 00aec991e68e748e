"""The component sets clusters and links of a spaCy document, and is stored with its pipeline."""

import spacy

TEXT = "Kate told Mary that she should leave."


def test_a_pipeline_sets_clusters_and_links_and_is_stored_with_them(tmp_path):
    nlp = spacy.blank("en")  # finds the component by its entry point
    nlp.add_pipe("gapstack")
    docs = list(nlp.pipe([TEXT, "It rained."]))
    (she,) = [span for span in docs[0].spans["gapstack_clusters"] if span.text == "she"]
    assert she.label_ == "1"
    assert len({span.label_ for span in docs[0].spans["gapstack_clusters"]}) == 1
    assert {link[:2] for link in docs[0]._.gapstack_links} == {(20, 23)}
    assert sum(link[-1] for link in docs[0]._.gapstack_links) <= 1.001
    groups = [[str(span) for span in docs[0].spans[key]] for key in ("coref_clusters_1", "gapstack_clusters")]
    assert groups[0] == groups[1]
    assert docs[1]._.gapstack_rewritten == "It rained."
    assert len(docs[1].spans["gapstack_clusters"]) == 0
    nlp.to_disk(tmp_path / "nlp")
    again = spacy.load(tmp_path / "nlp")(TEXT)
    assert again._.gapstack_links == docs[0]._.gapstack_links
    assert docs[0].to_bytes()


def test_known_people_have_their_pronouns():
    nlp = spacy.blank("en")
    nlp.add_pipe("gapstack", config={"people": {"Gabriel Oak": "she", "Tom": "he"}})
    assert nlp("Gabriel met Tom. She smiled.")._.gapstack_rewritten == "Gabriel met Tom. Gabriel smiled."
