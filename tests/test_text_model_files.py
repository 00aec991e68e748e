import numpy as np
import torch

from gapstack.encoding.encoder_files import is_available
from gapstack.encoding.encoders import load_encoder
from gapstack.members import create
from gapstack.running_text.text_model import TextModel
from gapstack.text_model_files import NAME, shipped


def test_members_read_the_states_that_running_text_reads():
    assert is_available(NAME)
    encoder, model = load_encoder(NAME), TextModel.load(shipped())
    text = "Dr. Marsh met Mary-Ann at a café, where she worked."
    pieces = encoder.tokenizer(text, return_tensors="pt")
    with torch.no_grad():
        states = encoder.model(**pieces).last_hidden_state[0, 1:-1].numpy()
    rounded = model.states(model.tokenizer.split(text), swap=False)
    products = (states * rounded).sum(1)
    cosines = products / np.linalg.norm(states, axis=1) / np.linalg.norm(rounded, axis=1)
    assert states.shape == rounded.shape
    assert cosines.min() > 0.9


def test_the_folder_of_a_model_of_running_text_is_an_encoder():
    assert load_encoder(str(shipped())).fingerprint == load_encoder(NAME).fingerprint


def test_members_on_it_are_contaminated_by_what_it_was_trained_on():
    assert "litbank" in create("frozen_spans", encoder=NAME).contaminated_by
    assert not create("frozen_spans").contaminated_by
