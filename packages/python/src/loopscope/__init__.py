"""Kubernetes' control loops, simulated.

``Cluster.start()`` starts an API server whose clock the test moves; ``Manifest`` shows a simulation in a notebook; ``python -m loopscope`` is
the command.
"""

from typing import TYPE_CHECKING, Any

from ._command import command, page
from .cluster import Cluster, ClusterError, CommandError, CommandResult, Time
from ._picture import PictureError, picture

if TYPE_CHECKING:
    from .jupyter import Follow as Follow
    from .jupyter import Manifest as Manifest

__all__ = [
    "Cluster",
    "ClusterError",
    "CommandError",
    "CommandResult",
    "PictureError",
    "Time",
    "command",
    "page",
    "picture",
]


def __getattr__(name: str) -> Any:
    # The widgets need packages that nothing else does.
    if name in ("Follow", "Manifest"):
        from . import jupyter

        return getattr(jupyter, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
