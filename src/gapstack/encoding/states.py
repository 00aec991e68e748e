"""Hidden states and attention of any transformer of transformers, and which parameters form its layers.

In a causal model a piece does not see what follows it, so a name after the pronoun would not count. Such a model reads
each text twice, and the states of the second copy are used, whose pieces see the whole text (Springer et al. 2024,
*Repetition Improves Language Model Embeddings*).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gapstack.errors import MemberError

if TYPE_CHECKING:  # encoders are looked up without torch
    import torch
    from torch import Tensor, nn

# encoder.layer.3 (BERT), transformer.layer.3 (DistilBERT), layers.3 (ModernBERT), h.3 (GPT-2), block.3 (T5),
# albert_layer_groups.0 (ALBERT)
_LAYER = re.compile(r"(?:^|[._])(?:layers?|layer_groups|h|blocks?)\.(\d+)\.")

# These mix float32 tables with their inputs.
_FLOAT32_ONLY = {"deberta", "xlnet"}


@dataclass(frozen=True, slots=True)
class States:
    """Output of a model for b texts of at most L pieces."""

    last: Tensor
    """Hidden states of the last layer, (b, L, H)."""
    hidden: tuple[Tensor, ...] = ()
    """Those of all layers, the embeddings first."""
    attention: tuple[Tensor, ...] = ()
    """Attention of all layers, each (b, heads, L, L)."""


def read_states(
    model: nn.Module,
    ids: Tensor,
    keep: Tensor | None = None,
    *,
    hidden: bool = False,
    attention: bool = False,
) -> States:
    """Run pieces ``ids`` (b, L) with mask ``keep``, True on pieces and None without padding, through a model."""
    config: Any = model.config
    length = ids.shape[1]
    inputs: dict[str, Any] = {"input_ids": ids, "attention_mask": None if keep is None else keep.long()}
    twice = _Twice.of(ids, keep) if is_causal(config) else None
    if twice:
        inputs = {"input_ids": twice.ids, "attention_mask": twice.keep.long(), "use_cache": False}
    inputs |= {"output_hidden_states": True} if hidden else {}
    inputs |= {"output_attentions": True} if attention else {}
    output = model(**inputs)
    last: Tensor = output.last_hidden_state
    states: tuple[Tensor, ...] = tuple(output.hidden_states) if hidden else ()
    maps: tuple[Tensor, ...] = tuple(output.attentions or ()) if attention else ()
    if twice:
        last, states = twice.second(last), tuple(map(twice.second, states))
        maps = tuple(map(twice.maps, maps))
    layers = config.num_hidden_layers
    if hidden and (len(states) != layers + 1 or any(layer.shape[1] != length for layer in states)):
        raise MemberError(
            f"a {config.model_type} model does not return a state of each piece from each layer"
        )
    if attention and (len(maps) != layers or any(layer.shape[2:] != (length, length) for layer in maps)):
        raise MemberError(f"a {config.model_type} model does not return its attention as maps of all pieces")
    return States(last, states, maps)


@dataclass(frozen=True, slots=True)
class _Twice:
    """Pieces (b, 2L) of texts that are read twice, without padding in between; a sliding window would count it."""

    ids: Tensor
    keep: Tensor
    places: Tensor
    """Places (b, L) of the second copies' pieces; any for padding."""

    @classmethod
    def of(cls, ids: Tensor, keep: Tensor | None) -> _Twice:
        """Repeat pieces (b, L), of which ``keep`` has those of the text first."""
        import torch

        length = ids.shape[1]
        sizes = torch.full_like(ids[:, :1], length) if keep is None else keep.long().sum(1, keepdim=True)
        at = torch.arange(2 * length, device=ids.device)[None]
        return cls(
            ids.gather(1, torch.where(at < sizes, at, (at - sizes).clamp(0, length - 1))),
            at < 2 * sizes,
            (sizes + at[:, :length]).clamp_max(2 * length - 1),
        )

    def second(self, states: Tensor) -> Tensor:
        """States (b, L, H) of the second copies."""
        return states.gather(1, self.places[..., None].expand(-1, -1, states.shape[2]))

    def maps(self, attention: Tensor) -> Tensor:
        """Attention (b, heads, L, L) from the second copies to both copies of a piece."""
        heads, length = attention.shape[1], self.places.shape[1]
        rows = self.places[:, None, :, None].expand(-1, heads, -1, 2 * length)
        seen = attention.gather(2, rows)
        columns = self.places[:, None, None].expand(-1, heads, length, -1)
        return seen[..., :length] + seen.gather(3, columns)


def dtype_for(config: Any, dtype: torch.dtype) -> torch.dtype:
    """``dtype``, or float32 for a model that computes in nothing else."""
    import torch

    return torch.float32 if getattr(config, "model_type", None) in _FLOAT32_ONLY else dtype


def is_causal(config: Any) -> bool:
    """Return True for the configuration of a model whose pieces do not see what follows them."""
    from transformers.models.auto import modeling_auto as auto

    if config.is_encoder_decoder:
        return False
    if getattr(config, "is_decoder", False):
        return True
    only_decodes = (
        config.model_type in auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES
        and config.model_type not in auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES
    )
    sees_all = (
        getattr(config, "attn_type", None) == "bi"  # XLNet
        or getattr(config, "use_bidirectional_attention", False)
        or getattr(config, "is_causal", True) is False
    )
    return only_decodes and not sees_all


def layers_of(names: Iterable[str], depth: int | None = None) -> dict[str, tuple[int, ...]]:
    """Layers that use each parameter of a model, by its name: 0 before the stack, 1 its first.

    What follows the stack is in the last layer. ``depth`` is the number of layers, which is more than those that have
    parameters of their own where layers share them (ALBERT).
    """
    names = list(names)
    matches = [_LAYER.search(name) for name in names]
    stacked = [index for index, match in enumerate(matches) if match]
    if not stacked:
        return dict.fromkeys(names, (0,))
    own = max(int(match[1]) for match in matches if match) + 1
    depth = max(depth or own, own)
    # layer k of depth uses the parameters number k * own // depth
    users = [tuple(k + 1 for k in range(depth) if k * own // depth == number) for number in range(own)]
    return {
        name: users[int(match[1])] if match else (0,) if "embed" in name or index < stacked[0] else (depth,)
        for index, (name, match) in enumerate(zip(names, matches, strict=True))
    }
