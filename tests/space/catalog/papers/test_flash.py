"""Counts of the space of FLASH."""

from skauto.space import get_space
from tests.space.catalog.counts import n_components


def test_flash_algorithms():
    assert sum(n for n in n_components(get_space("flash")) if n > 1) == 33
