"""Fixtures for pytest."""

from __future__ import annotations

from typing import Iterator

import pytest

from .cluster import Cluster


@pytest.fixture
def loopscope_cluster() -> Iterator[Cluster]:
    """A fresh cluster of three nodes, whose clock stands still until the test moves it."""
    with Cluster.start() as cluster:
        yield cluster
