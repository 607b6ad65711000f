"""Names the systems that the program in the wheel runs on; `packaging/pack` says which."""

import os
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Tag(BuildHookInterface):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{os.environ['AHP_WHEEL_TAG']}"
