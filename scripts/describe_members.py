"""Write the settings of all members, which ``gap members NAME`` prints without importing them.

Run it after a change of a member's settings or of their descriptions: python scripts/describe_members.py
"""

import json

from gapstack.cli.catalogue import SETTINGS, member_record
from gapstack.files import write_text
from gapstack.members import MEMBERS


def main() -> None:
    """Write the file."""
    ours = [name for name in MEMBERS if not MEMBERS.entry(name).package]
    settings = {name: member_record(name)["settings"] for name in ours}
    write_text(SETTINGS, json.dumps(settings, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
