"""Pre-trained encoders: a trial before any training."""

from __future__ import annotations

import typer
from typer import Argument

from gapstack.cli import common

app = typer.Typer(
    help="Try a pre-trained encoder before training with it.", no_args_is_help=True, cls=common.Group
)


@app.callback()
def _encoders() -> None:
    """Try a pre-trained encoder before training with it."""


@app.command("check", epilog=common.examples("gap encoders check microsoft/deberta-v3-large"))
def check_command(
    name: str = Argument(metavar="NAME", help="Folder, hub name, name@revision, or minilm."),
    as_json: common.JsonOption = False,
) -> None:
    """Print what an encoder is, its speed and memory here, and which members work with it.

    Each member is fitted on some 30 short rows of the embedded sample, for one epoch.
    """
    from gapstack.runs.encoder_check import check_encoder

    found = check_encoder(name)

    def parts() -> list[str]:
        works = [member for member, reason in found.members.items() if not reason]
        gigabytes = [memory / 1e9 for memory in (found.frozen_memory, found.tuned_memory)]
        lines = [
            f"{found.name}: {found.model_type}, {found.parameters / 1e6:,.0f} million parameters, {found.layers} "
            f"layers of {found.width}, texts of up to {found.longest} word pieces.",
            "Causal: each text is read twice, and the second copy counts." if found.is_causal else "",
            f"Frozen: {found.rows_per_second:.1f} short rows per second on this machine, {gigabytes[0]:.1f} GB of "
            "weights.",
            f"Fine-tuned: learning rate {found.learning_rate:g} by its size; {gigabytes[1]:.1f} GB with gradients and "
            "optimizer, and activations beyond that.",
            f"Works with {len(works)} of {len(found.members)} members: {', '.join(works)}.",
            *(f"{member} refuses: {reason}" for member, reason in found.members.items() if reason),
        ]
        return ["\n".join(filter(None, lines))]

    common.print_result(as_json, parts, found.record)
