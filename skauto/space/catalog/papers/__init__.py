"""The search spaces of the papers, one module per paper, over components of auto-sklearn."""

from skauto.space.catalog.papers._admm import admm_large, admm_small
from skauto.space.catalog.papers._divbo import divbo
from skauto.space.catalog.papers._fang_hpo import fang_gbm, fang_mlp
from skauto.space.catalog.papers._flash import flash
from skauto.space.catalog.papers._mosaic import mosaic

__all__ = ["admm_large", "admm_small", "divbo", "fang_gbm", "fang_mlp", "flash", "mosaic"]
