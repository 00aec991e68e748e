"""The probe tells a model that knows a text by heart from one that does not."""

import numpy as np
import pytest

from gapstack.audits import audit, probe, target_of
from gapstack.audits.probe import probe_table
from gapstack.errors import MemberError
from gapstack.members import create
from gapstack.members.prompted import Prompted
from gapstack.runs.predictors import load
from tests.fixtures_language_models import ModelServerDouble


class ByHeart(Prompted):
    """Continues the texts that it knows, and finds them probable."""

    known = ()

    def continuation(self, text, tokens):
        return next((each[len(text) :] for each in self.known if each.startswith(text)), "and so on")

    def losses(self, texts):
        return np.array([0.1 if text in self.known else 1.0 for text in texts])


def test_known_rows_are_continued_and_probable(sample_test, sample_train):
    member = ByHeart()
    member.known = tuple(sample_test.texts)
    table = probe_table({"parrot": member, "prior": create("prior")}, sample_test, sample_train[:20])
    ((title, rows),) = [(section.title, dict(section.rows)) for section in table.sections]
    assert title == "parrot"
    seen, replaced, fresh = rows.values()
    assert seen["continued"] > 90
    assert fresh["continued"] == 0
    assert seen["loss"] == pytest.approx(0.1)
    assert seen["loss"] < replaced["loss"] < fresh["loss"] == pytest.approx(1.0)
    with pytest.raises(MemberError, match="language model"):
        probe_table({"prior": create("prior")}, sample_test)


def test_local_models_and_servers_are_probed(sample_test, tiny_decoder_folder, monkeypatch):
    monkeypatch.setattr(probe, "ROWS", 2)
    monkeypatch.setattr(probe, "_TOKENS", 8)
    with ModelServerDouble() as server:
        systems = {"local": load(f"prompted:{tiny_decoder_folder}"), "server": load(server.address)}
        table = probe_table(systems, sample_test)
        probe_table(systems, sample_test)
        assert set(server.answered.values()) == {1}
    local, remote = (dict(section.rows) for section in table.sections)
    assert all(row["loss"] > 0 and row["continued"] == 0 for row in local.values())
    assert all(row["loss"] is None and row["continued"] == 0 for row in remote.values())


@pytest.mark.slow
def test_an_audit_marks_what_a_language_model_may_have_seen():
    with ModelServerDouble() as server:
        found = audit(target_of(f"prompted:{server.address}", []), suites=["winogender"])
    if not found.covered:
        pytest.skip(found.not_covered["winogender"])
    assert set(found.covered[0].answers) == {"prompted*"}
    assert "may have seen" in found.covered[0].remark
    assert not found.refused
