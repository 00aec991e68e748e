"""Write a trained state as the files that gapstack reads without torch.

    python models/running_text/export.py models/running_text/work/state.pt models/gapstack-text

The matrices of the encoder's layers and the word embeddings are rounded to 8 bits (7 for the matrices, so that
processors without VNNI do not overflow), the heads to half precision. A few channels with very large activations, which
would leave few steps of rounding to all others, are multiplied without rounding (Dettmers et al. 2022, section 3.2).
"""

from __future__ import annotations

import argparse
import math
import tempfile
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import onnx
import torch
from network import Network, trained_weights
from onnxruntime.quantization import QuantType, quantize_dynamic
from safetensors.numpy import save_file
from torch import Tensor, nn
from train import ENCODER, FROZEN, LAYERS, SHIPPED

from gapstack.data.extra.conll import read_corpus
from gapstack.running_text.word_pieces import WordPieceTokenizer

_OUTLIERS = 4
"""Channels of the second matrix of each layer's feed-forward part that are multiplied without rounding."""


class _SplitLinear(nn.Module):
    """A linear layer whose largest input channels have a matrix of their own."""

    def __init__(self, linear: nn.Linear, channels: Tensor):
        super().__init__()
        self.linear = linear
        kept = torch.ones(linear.in_features)
        kept[channels] = 0
        self.register_buffer("kept", kept)
        self.register_buffer("channels", channels)
        self.register_buffer("exact", linear.weight.detach()[:, channels].T.contiguous())

    def forward(self, inputs: Tensor) -> Tensor:
        """Outputs (n, out) of inputs (n, in)."""
        return self.linear(inputs * self.kept) + inputs[:, self.channels] @ self.exact


def split_outliers(network: Network, passages: Iterable[Tensor]) -> None:
    """Split the channels with the largest activations on passages (n,) of ids."""
    layers = network.encoder.encoder.layer
    largest = [torch.zeros(layer.output.dense.in_features) for layer in layers]

    def note(number: int, _: nn.Module, inputs: tuple[Tensor]) -> None:
        largest[number] = torch.maximum(largest[number], inputs[0].abs().flatten(0, -2).amax(0))

    hooks = [
        layer.output.dense.register_forward_pre_hook(partial(note, number))
        for number, layer in enumerate(layers)
    ]
    for ids in passages:
        network.encoder(input_ids=ids[None])
    for hook, layer, values in zip(hooks, layers, largest, strict=True):
        hook.remove()
        layer.output.dense = _SplitLinear(layer.output.dense, values.topk(_OUTLIERS).indices)


class ExportedEncoder(nn.Module):
    """The encoder of one passage, from word embeddings."""

    def __init__(self, network: Network):
        super().__init__()
        self.encoder = network.encoder

    def forward(self, inputs: Tensor) -> Tensor:
        """States (n, size) from word embeddings (n, size)."""
        embeddings, encoder = self.encoder.embeddings, self.encoder.encoder
        length = inputs.shape[0]
        # positions start after padding's
        places = torch.arange(length) + 2
        hidden = embeddings.LayerNorm(inputs + embeddings.position_embeddings(places))
        relative = torch.arange(length)[None, :] - torch.arange(length)[:, None]
        bias = encoder.relative_attention_bias(_buckets(relative)).permute(2, 0, 1)
        for layer in encoder.layer:
            attention = layer.attention.attn
            heads, size = attention.num_attention_heads, attention.attention_head_size
            query, key, value = (
                projection(hidden).reshape(length, heads, size).permute(1, 0, 2)
                for projection in (attention.q, attention.k, attention.v)
            )
            weights = torch.softmax(query @ key.transpose(1, 2) / math.sqrt(size) + bias, dim=-1)
            mixed = (weights @ value).permute(1, 0, 2).reshape(length, heads * size)
            hidden = layer.attention.LayerNorm(attention.o(mixed) + hidden)
            hidden = layer.output.LayerNorm(
                layer.output.dense(nn.functional.gelu(layer.intermediate.dense(hidden))) + hidden
            )
        return hidden


def _buckets(relative: Tensor, buckets: int = 32, longest: int = 128) -> Tensor:
    """Buckets of relative positions, as MPNet has them."""
    half = buckets // 2
    exact = half // 2
    distance = relative.abs()
    far = (
        exact
        + (
            torch.log(distance.clamp(min=1).float() / exact) / math.log(longest / exact) * (half - exact)
        ).long()
    )
    return (relative > 0).long() * half + torch.where(distance < exact, distance, far.clamp(max=half - 1))


def _passages(tokenizer: WordPieceTokenizer) -> Iterator[Tensor]:
    """Ids of the beginnings of some novels, of GUM's documents too."""
    for corpus in ("litbank", "gum"):
        for document in list(read_corpus(corpus))[20:28]:
            text, _ = document.text_of(range(min(300, len(document.tokens))))
            ids = tokenizer.split(text).ids[:400]
            yield torch.from_numpy(np.concatenate([[tokenizer.first], ids, [tokenizer.last]]))


def export(network: Network, passages: Iterable[Tensor], output: Path) -> None:
    """Write ``encoder.onnx`` and ``model.safetensors``; SystemExit if the encoder's states would not be the same."""
    network.eval()
    output.mkdir(parents=True, exist_ok=True)
    words = network.encoder.embeddings.word_embeddings.weight.detach()
    with tempfile.TemporaryDirectory() as scratch, torch.no_grad():
        ids = torch.randint(5, len(words) - 5, (57,))
        expected = network.encoder(input_ids=ids[None]).last_hidden_state[0]
        split_outliers(network, passages)
        encoder, exact = ExportedEncoder(network).eval(), Path(scratch) / "encoder.onnx"
        difference = (encoder(words[ids]) - expected).abs().max()
        print(f"largest difference of the exported encoder: {difference:.2e}")
        if difference > 1e-3:
            raise SystemExit("the exported encoder is not the trained one")
        torch.onnx.export(
            encoder,
            (torch.randn(20, words.shape[1]),),
            exact,
            input_names=["inputs"],
            output_names=["states"],
            dynamic_axes={"inputs": {0: "pieces"}, "states": {0: "pieces"}},
            opset_version=17,
            dynamo=False,
        )
        quantize_dynamic(
            exact,
            output / "encoder.onnx",
            op_types_to_quantize=["MatMul"],
            per_channel=True,
            reduce_range=True,
            weight_type=QuantType.QInt8,
            extra_options={"MatMulConstBOnly": True},
            # linear layers are Gemm nodes; what is left are products of attention and of the outliers
            nodes_to_exclude=[node.name for node in onnx.load(exact).graph.node if node.op_type == "MatMul"],
        )
    table = words.numpy()
    scales = (np.abs(table).max(axis=1) / 127).astype(np.float32)
    arrays = {
        "embeddings": np.rint(table / np.maximum(scales, 1e-12)[:, None]).astype(np.int8),
        "scales": scales,
    }
    for name, value in network.heads.state_dict().items():
        arrays[f"heads.{name}"] = value.numpy().astype(np.float16)
    save_file(arrays, output / "model.safetensors")


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "states", type=Path, nargs="+", help="of train.py, or folders of models; several are averaged"
    )
    parser.add_argument("output", type=Path)
    parser.add_argument("--tokenizer", type=Path, default=SHIPPED / "tokenizer.json", help="of the encoder")
    args = parser.parse_args()
    network = Network(ENCODER, LAYERS, FROZEN)
    states = [trained_weights(path) for path in args.states]
    network.load_state_dict(
        {
            name: torch.stack([state[name] for state in states]).mean(0)
            if value.dtype.is_floating_point
            else value
            for name, value in states[0].items()
        }
    )
    export(network, _passages(WordPieceTokenizer.load(args.tokenizer)), args.output)


if __name__ == "__main__":
    main()
