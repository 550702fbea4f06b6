"""Kubernetes' control loops, simulated.

``Cluster.start()`` starts an API server whose clock the test moves; ``python -m loopscope`` is the command.
"""

from ._command import command, page
from .cluster import Cluster, ClusterError, CommandError, CommandResult, Time

__all__ = ["Cluster", "ClusterError", "CommandError", "CommandResult", "Time", "command", "page"]
