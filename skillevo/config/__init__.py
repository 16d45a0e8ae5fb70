"""``skillevo.toml``: read, checked, with defaults."""

from skillevo.config.load import find_root, load_config
from skillevo.config.places import line_of
from skillevo.config.values import (
    CONFIG_NAME,
    BudgetConfig,
    Config,
    EvolveConfig,
    GateConfig,
    ModelConfig,
    TaskConfig,
)

__all__ = [
    "CONFIG_NAME",
    "BudgetConfig",
    "Config",
    "EvolveConfig",
    "GateConfig",
    "ModelConfig",
    "TaskConfig",
    "find_root",
    "line_of",
    "load_config",
]
