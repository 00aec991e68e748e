"""Prompted asks local decoders and servers alike, pays for each reply once, and says what went wrong."""

import json
import os
import random
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest
import torch

from gapstack.data import Corpus, Example, Label
from gapstack.data.augment import swap_names
from gapstack.data.gap_files import write_gap
from gapstack.encoding.encoders import load_encoder
from gapstack.errors import DataError, DataNotFoundError, MemberError, RemoteError
from gapstack.members import create, model_servers, saved
from gapstack.members.completions import along_path, named_option
from gapstack.members.language_models import CausalModel, ChatQuestion
from gapstack.members.prompted import Prompt
from gapstack.runs.predictors import load
from tests.fixtures_language_models import FAMILIES, ModelServerDouble

KATE = Example.from_text("Kate told Mary that she should leave.", "she", "Kate", "Mary", label=Label.B)


@pytest.fixture
def train(sample_train) -> Corpus:
    return sample_train[:30]


@pytest.fixture
def held(sample_test) -> Corpus:
    return sample_test[:10]


@pytest.fixture(autouse=True)
def _short_delays(monkeypatch):
    monkeypatch.setattr(model_servers, "FIRST_DELAY", 0.01)
    monkeypatch.delenv("GAPSTACK_API_KEY", raising=False)


# local models


def naive(model: CausalModel, question: ChatQuestion) -> list[float]:
    """Log-probabilities of the options, one pass each, nothing shared, nothing padded."""
    result = []
    for ids, start, _ in model._inputs(question, 0):
        with torch.inference_mode():
            log_p = model.model(input_ids=torch.tensor([ids])).logits[0].double().log_softmax(-1)
        result.append(sum(float(log_p[k - 1, ids[k]]) for k in range(start, len(ids))))
    return result


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("template", ["letters", "names"])
def test_options_are_scored_as_one_by_one(family, template, decoder_folder, held):
    model = CausalModel(load_encoder(str(decoder_folder(family))), "float32")
    prompt = Prompt(template)
    questions = [question for row in held[:4] for question in prompt.questions(row)]
    replies = model.answer(questions)
    for question, reply in zip(questions, replies, strict=True):
        expected = np.exp(naive(model, question))
        np.testing.assert_allclose(reply.probabilities, expected / expected.sum(), rtol=1e-4)


def test_an_option_that_goes_on_as_another_does_not_count_twice(decoder_folder):
    model = CausalModel(load_encoder(str(decoder_folder("gpt2"))), "float32")
    question = ChatQuestion((("user", "Who?"),), ("Mary", "Mary Smith", "neither"))
    (reply,) = model.answer([question])
    short, long, neither = np.exp(naive(model, question))
    expected = np.array([short - long, long, neither])
    np.testing.assert_allclose(reply.probabilities, expected / expected.sum(), rtol=1e-4)


def test_the_losses_of_texts_are_those_of_one_pass_each(decoder_folder, held):
    model = CausalModel(load_encoder(str(decoder_folder("llama"))), "float32")
    for text, loss in zip(held.texts, model.losses(held.texts), strict=True):
        ids = torch.tensor([model.files.tokenizer(text)["input_ids"]])
        with torch.inference_mode():
            mean = float(model.model(input_ids=ids, labels=ids).loss)
        assert loss == pytest.approx(mean * (ids.shape[1] - 1) / len(text), rel=1e-4)


def test_a_prompt_beyond_the_models_limit_is_refused(decoder_folder):
    long = Example.from_text(f"{KATE.text} {'So it was. ' * 600}", "she", "Kate", "Mary")
    with pytest.raises(MemberError, match="1,024"):
        create("prompted", model=str(decoder_folder("gpt2")), calibration_rows=0).fit(
            Corpus([replace(long, label=Label.A)])
        ).predict_proba(Corpus([long]))


# prompts


def test_the_pronoun_is_marked_where_it_stands_and_the_names_take_turns():
    row = replace(KATE, text="She said: Kate told Mary that she should leave.")
    row = Example.from_text(
        row.text, ("she", 1), "Kate", "Mary", url="http://en.wikipedia.org/wiki/Kate_(film)"
    )
    first, second = Prompt("letters", title=True).questions(row)
    content = first.messages[-1][1]
    assert "that [[she]] should" in content
    assert "She said" in content
    assert "Page: Kate (film)" in content
    assert content.index("A. Kate") < content.index("B. Mary")
    assert second.messages[-1][1].index("A. Mary") < second.messages[-1][1].index("B. Kate")
    assert "Page" not in Prompt("letters").question(row).messages[-1][1]
    assert Prompt("names").question(row).options == ("Kate", "Mary", "neither")


def test_equal_names_are_told_apart():
    row = Example.from_text("Kate met Kate, and she left.", "she", ("Kate", 1), ("Kate", 2))
    assert Prompt("names").question(row).options == ("Kate (mention 1)", "Kate (mention 2)", "neither")
    assert Prompt("names").question(swap_names(row)).options[0] == "Kate (mention 2)"


def test_examples_come_from_the_training_rows_in_turns_of_their_answers(train, held):
    with ModelServerDouble() as server:
        member = create("prompted", model=server.address, examples=3, calibration_rows=10).fit(train)
        member.predict_proba(held[:1])
        assert {row["label"] for row in member.examples_} == set(Label)
        messages = server.bodies[-1]["messages"]
    assert [one["role"] for one in messages] == ["user", "assistant"] * 3 + ["user"]
    assert [one["content"] for one in messages[1::2]] == ["A", "B", "C"]
    assert all(row["text"] in train.texts for row in member.examples_)
    assert held[0].text.split()[0] in messages[-1]["content"]
    asked = [body["messages"][-1]["content"] for body in server.bodies[:-2]]
    assert not any(row["text"][:20] in content for row in member.examples_ for content in asked)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{% block question %}{{ text }}{% endblock %}", "instruction"),
        ("{% block question %}\n{{ text }\n{% endblock %}", "line 2"),
        ("{% block instruction %}{% endblock %}{% block question %}{{ words }}{% endblock %}{% block options %}"
         "{% endblock %}", "words"),
        ("{% block instruction %}{% endblock %}{% block question %}{% endblock %}{% block options %}A\nB"
         "{% endblock %}", "three options"),
    ],
)  # fmt: skip
def test_a_bad_template_is_refused_with_its_place(text, problem, tmp_path):
    path = tmp_path / "mine.j2"
    path.write_text(text)
    with pytest.raises(DataError, match=f"mine.j2.*{problem}"):
        Prompt(str(path)).question(KATE)
    with pytest.raises(DataNotFoundError, match="letters"):
        Prompt("leters")


# servers


def test_each_row_costs_two_requests_and_is_never_asked_again(train, held):
    with ModelServerDouble(delay=0.02) as server:
        member = create("prompted", model=server.address).fit(train)
        answers = member.predict_proba(held)
        assert len(server.bodies) == 2 * (len(train) + len(held))
        assert 2 <= server.most_active <= 8
        again = create("prompted", model=server.address).fit(train)
        np.testing.assert_array_equal(again.predict_proba(held), answers)
        swapped = held.map(swap_names)
        np.testing.assert_allclose(member.predict_proba(swapped), answers[:, [1, 0, 2]], atol=1e-12)
        assert set(server.answered.values()) == {1}
        assert len(server.bodies) == 2 * (len(train) + len(held))


@pytest.mark.parametrize(
    ("kind", "dialect", "requests"),
    [("vllm", 0, 60), ("hosted", 3, 63), ("ollama", 4, 301)],
)
def test_what_a_server_does_not_take_is_left_out(kind, dialect, requests, train):
    with ModelServerDouble(kind=kind) as server:
        member = create("prompted", model=server.address).fit(train)
        assert json.loads((member._model().folder / "dialect.json").read_text()) == {"dialect": dialect}
        assert len(server.bodies) == requests
        assert set(server.answered.values()) == {1}
        assert ("logprobs" in server.bodies[-1]) == (kind != "ollama")
        assert ("structured_outputs" in server.bodies[-1]) == (kind != "hosted")


def test_faults_of_a_server_are_overcome(train, held, monkeypatch):
    with ModelServerDouble() as server:
        expected = create("prompted", model=server.address).fit(train).predict_proba(held)
    faults = ["disconnect", "nonsense", "broken", "half", "stall", "busy"]
    with ModelServerDouble(faults=faults) as server:
        member = create("prompted", model=server.address, timeout=1.0).fit(train)
        np.testing.assert_allclose(member.predict_proba(held), expected, atol=1e-12)
        assert not server.faults
        assert set(server.answered.values()) == {1}


def test_a_server_that_never_replies_is_given_up_and_nothing_is_lost(train, monkeypatch):
    monkeypatch.setattr(model_servers, "ATTEMPTS", 3)
    member = None
    with ModelServerDouble(faults=[None] * 5 + ["broken"] * 99) as server:
        member = create("prompted", model=server.address, concurrency=1)
        with pytest.raises(RemoteError, match=r"503.*repeat"):
            member.fit(train)
        server.faults.clear()
        member.fit(train)
        assert set(server.answered.values()) == {1}
        assert server.answered.total() == 60
    with pytest.raises(RemoteError, match="ConnectError"):
        create("prompted", model="http://127.0.0.1:9/v1#tiny").fit(train)


@pytest.mark.parametrize(("kind", "problem"), [("refusing", "refused"), ("babbling", "unparsable")])
def test_refusals_and_nonsense_are_counted_and_shown(kind, problem, train, held, capsys):
    with ModelServerDouble(kind=kind) as server:
        member = create("prompted", model=server.address).fit(train)
        answers = member.predict_proba(held)
    assert f"had 20 of 20 replies {problem}" in capsys.readouterr().err
    assert member.remark(held) == f"had 20 of 20 replies {problem}"
    assert (answers == answers[0]).all()


def test_the_key_is_sent_and_never_stored_or_shown(train, tmp_path, monkeypatch):
    monkeypatch.setenv("GAPSTACK_API_KEY", "sk-secret")
    with ModelServerDouble() as server:
        member = create("prompted", model=server.address).fit(train)
        assert server.headers[0]["Authorization"] == "Bearer sk-secret"
    saved.save(member, "prompted", tmp_path / "member")
    places = [*(tmp_path / "member").rglob("*"), *member._model().folder.rglob("*")]
    assert not any(b"sk-secret" in path.read_bytes() for path in places if path.is_file())
    with (
        ModelServerDouble(faults=["key"]) as server,
        pytest.raises(RemoteError, match=r"401.*Bearer \*\*\*"),
    ):
        create("prompted", model=server.address).fit(train)
    for bad in ("http://user:sk-secret@localhost/v1#x", "http://localhost/v1"):
        with pytest.raises(DataError, match="GAPSTACK_API_KEY") as problem:
            create("prompted", model=bad).fit(train)
        assert "sk-secret" not in str(problem.value)


def test_calibration_makes_the_probabilities_those_of_the_training_rows(sample_train):
    with ModelServerDouble() as server:
        plain = create("prompted", model=server.address, calibration_rows=0).fit(sample_train)
        fitted = create("prompted", model=server.address).fit(sample_train)
        means = [member.predict_proba(sample_train)[:, 2].mean() for member in (plain, fitted)]
    share = (sample_train.labels == Label.NEITHER).mean()
    assert abs(means[1] - share) < 0.02 < abs(means[0] - share)


def test_a_language_model_is_loaded_by_its_name_without_training(held, tiny_decoder_folder):
    with ModelServerDouble() as server:
        answers = load(server.address).predict_proba(held)
        answer = load(f"prompted:{server.address}").ask(
            "Kate told Mary that she should leave.", names=["Kate", "Mary"]
        )
    assert answers.shape == (10, 3)
    assert {one.name for one in answer[0].candidates} == {"Kate", "Mary"}
    local = load(f"prompted:{tiny_decoder_folder}")
    assert local.predict_proba(held).shape == (10, 3)
    assert "gap (presumed)" in local.contaminated_by


# protocol


def step(token, *others, p=0.6):
    """A token of probability ``p``, and alternatives as pairs of token and probability."""
    listed = [
        {"token": token, "logprob": np.log(p)},
        *({"token": t, "logprob": np.log(q)} for t, q in others),
    ]
    return {"token": token, "logprob": np.log(p), "top_logprobs": listed}


LETTERS, NAMES = ("A", "B", "C"), ("Mary", "Mary Smith", "neither")


@pytest.mark.parametrize(
    ("steps", "options", "expected"),
    [
        ([step("A", ("B", 0.3), ("C", 0.1))], LETTERS, [0.6, 0.3, 0.1]),
        ([step(" A", ("A", 0.1), ("B", 0.2), ("An", 0.1))], LETTERS, [0.7, 0.2, 0.1]),
        ([step("\n", p=1.0), step("B", ("A", 0.4))], LETTERS, [0.4, 0.6, 0.4]),
        ([step("**", p=1.0), step("B", ("A", 0.2), ("C", 0.2))], LETTERS, [0.2, 0.6, 0.2]),
        ([step("The", ("A", 0.3), ("B", 0.1))], LETTERS, [0.3, 0.1, 0.1]),
        ([step("Mary", ("neither", 0.4)), step(" Smith", (".", 0.5), p=0.5)], NAMES, [0.3, 0.3, 0.4]),
        ([step("Mary", ("neither", 0.4))], NAMES, [0.6, 0.4, 0.4]),
        ([step("Hm", ("Oh", 0.4))], LETTERS, None),
    ],
)
def test_probabilities_along_a_reply(steps, options, expected):
    found = along_path(steps, options)
    if expected is None:
        assert found is None
    else:
        np.testing.assert_allclose(found, np.array(expected) / sum(expected))


@pytest.mark.parametrize(
    ("text", "option"),
    [
        *(("B", 1), ("B. Mary", 1), ("**B**", 1), ('{"answer": "C"}', 2), ("The answer is (B).", 1)),
        *(("A or B", 0), ("I choose between A and B", None), ("Because", None), ("", None)),
    ],
)
def test_the_option_that_a_reply_names(text, option):
    assert named_option(text, LETTERS) == option


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_killed_at_random_and_repeated_only_replies_on_their_way_are_lost(tmp_path, sample):
    write_gap(tmp_path / "rows.tsv", sample[:100].unlabelled())
    environment = os.environ | {"GAPSTACK_CACHE": str(tmp_path / "cache")}

    def start(address, output):
        arguments = ["--input", str(tmp_path / "rows.tsv"), "--output", str(tmp_path / output)]
        command = [sys.executable, "-m", "gapstack", "predict", address, *arguments]
        return subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)

    with ModelServerDouble() as server:
        assert start(server.address, "whole.csv").wait() == 0
        assert server.answered.total() == 200
    draws, kills = random.Random(3), 0
    with ModelServerDouble(delay=0.1) as server:
        while True:
            process = start(server.address, "killed.csv")
            before, most = server.answered.total(), draws.randrange(20, 60)
            while process.poll() is None and server.answered.total() - before < most:
                time.sleep(0.005)
            if process.poll() is not None:
                break
            process.kill()
            process.wait()
            kills += 1
    assert process.returncode == 0
    assert kills >= 2
    assert len(server.answered) == 200
    assert server.answered.total() <= 200 + 8 * kills
    assert (tmp_path / "killed.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()
