"""Strongly connected components, without recursion."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TypeVar

Node = TypeVar("Node", bound=Hashable)


def components(graph: Mapping[Node, Iterable[Node]]) -> list[list[Node]]:
    """The nodes of a graph, those together that reach each other (Tarjan 1972)."""
    index: dict[Node, int] = {}
    low: dict[Node, int] = {}
    stack: list[Node] = []
    on_stack: set[Node] = set()
    results: list[list[Node]] = []
    for root in graph:
        if root in index:
            continue
        work = [(root, iter(graph[root]))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        while work:
            node, further = work[-1]
            for other in further:
                if other not in graph:
                    continue
                if other not in index:
                    index[other] = low[other] = len(index)
                    stack.append(other)
                    on_stack.add(other)
                    work.append((other, iter(graph[other])))
                    break
                if other in on_stack:
                    low[node] = min(low[node], index[other])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    results.append(_popped(stack, on_stack, node))
    return results


def chain_products(weights: Sequence[int], next_to: Mapping[int, Iterable[int]]) -> list[int]:
    """For each node the greatest product of weights along a way that begins with it. Where nodes
    reach each other, a way passes each once at most as it is followed."""
    done: dict[int, int] = {}

    def product(node: int, passed: frozenset[int]) -> int:
        if node not in done:
            further = [
                product(n, passed | {node}) for n in next_to.get(node, ()) if n not in passed
            ]
            done[node] = weights[node] * max(further, default=1)
        return done[node]

    return [product(node, frozenset({node})) for node in range(len(weights))]


def _popped(stack: list[Node], on_stack: set[Node], last: Node) -> list[Node]:
    component = []
    while True:
        node = stack.pop()
        on_stack.remove(node)
        component.append(node)
        if node == last:
            return component
