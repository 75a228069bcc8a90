"""The one call of ALMA's networkx manual that networkx leaves to scipy, which is not in the jail."""

from collections.abc import Hashable, Mapping
from typing import Any

import networkx as nx


def provide() -> None:
    """Put it where designs find it, in this process."""
    for module in (nx, nx.algorithms, nx.algorithms.link_analysis):
        vars(module)["pagerank"] = pagerank


def pagerank(
    G: Any,
    alpha: float = 0.85,
    personalization: Mapping[Hashable, float] | None = None,
    max_iter: int = 100,
    tol: float = 1e-6,
    nstart: Mapping[Hashable, float] | None = None,
    weight: str | None = "weight",
    dangling: Mapping[Hashable, float] | None = None,
) -> dict[Hashable, float]:
    """Power iteration with the meaning and the defaults of `networkx.pagerank`."""
    nodes = list(G)
    if not nodes:
        return {}
    even = dict.fromkeys(nodes, 1.0)
    home = _shares(nodes, even if personalization is None else personalization)
    lost = home if dangling is None else _shares(nodes, dangling)
    rank = _shares(nodes, even if nstart is None else nstart)
    ways = {node: _ways(G, node, weight) for node in nodes}
    for _ in range(max_iter):
        stuck = alpha * sum(rank[node] for node in nodes if not ways[node])
        new = {node: stuck * lost[node] + (1 - alpha) * home[node] for node in nodes}
        for node, shares in ways.items():
            for other, share in shares.items():
                new[other] += alpha * rank[node] * share
        if sum(abs(new[node] - rank[node]) for node in nodes) < len(nodes) * tol:
            return new
        rank = new
    raise nx.PowerIterationFailedConvergence(max_iter)


def _shares(nodes: list[Hashable], given: Mapping[Hashable, float]) -> dict[Hashable, float]:
    total = float(sum(given.get(node, 0) for node in nodes))
    if not total:
        raise ZeroDivisionError("the weights of all nodes are zero")
    return {node: given.get(node, 0) / total for node in nodes}


def _ways(graph: Any, node: Hashable, weight: str | None) -> dict[Hashable, float]:
    """Where a walk goes from a node, and how likely: nowhere where all weights are zero."""
    weights: dict[Hashable, float] = {}
    for _, other, value in graph.edges(node, data=weight, default=1):
        weights[other] = weights.get(other, 0.0) + value
    total = sum(weights.values())
    return {other: value / total for other, value in weights.items()} if total else {}
