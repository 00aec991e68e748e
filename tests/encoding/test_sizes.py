import pytest

from gapstack.encoding.encoders import is_at_hand, load_encoder
from gapstack.encoding.sizes import KNOWN, Size, encoder_size


@pytest.mark.parametrize("name", [None, "minilm", "tiny"])
def test_parameters_are_those_of_the_model(name, tiny_encoder_folder):
    name = str(tiny_encoder_folder) if name == "tiny" else name
    model = load_encoder(name).model
    assert encoder_size(name).parameters == sum(parameter.numel() for parameter in model.parameters())


def test_known_encoders_have_the_sizes_of_their_paper():
    # Devlin et al. 2019, section 3: 110 and 340 million, with a pooler
    assert KNOWN["bert-base-uncased"].parameters == pytest.approx(110e6, rel=0.02)
    assert KNOWN["bert-large-uncased"].parameters == pytest.approx(340e6, rel=0.02)


def test_what_is_neither_at_hand_nor_known_has_no_size_and_is_not_sought_on_the_network():
    assert not is_at_hand("nobody/no-encoder")
    assert encoder_size("nobody/no-encoder") is None
    assert encoder_size("google-bert/bert-large-cased") == KNOWN["bert-large-cased"]
    assert not is_at_hand("no name of a repository/at/all")


def test_other_families_name_their_widths_otherwise():
    size = Size.of_config({"dim": 8, "n_layers": 2, "hidden_dim": 16, "vocab_size": 10})
    assert (size.width, size.layers, size.inner) == (8, 2, 16)
