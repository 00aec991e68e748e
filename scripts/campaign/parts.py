"""The parts of the campaign by name, in the order in which all are carried out."""

from __future__ import annotations

from scripts.campaign.concurrency import Concurrency
from scripts.campaign.damage import Damage
from scripts.campaign.disk import Disk
from scripts.campaign.fuzz import Fuzz
from scripts.campaign.history import History
from scripts.campaign.identity import Identity
from scripts.campaign.kills import Kills
from scripts.campaign.scale import Scale
from scripts.campaign.tries import Part

_ORDER: tuple[type[Part], ...] = (Kills, Damage, Identity, Fuzz, Disk, Concurrency, History, Scale)
PARTS: dict[str, type[Part]] = {part.name: part for part in _ORDER}
