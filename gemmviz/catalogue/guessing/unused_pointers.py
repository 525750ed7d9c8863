"""Pointers that a kernel takes and does not use: a kernel that reads tensor maps often gets the matrices, too.

A kernel that measures itself stores its clocks behind a pointer, often only if a parameter of its template says so.
"""

from dataclasses import replace

from gemmviz.catalogue.guessing.functions import Function
from gemmviz.catalogue.guessing.roles import GuessReason, Roles, is_map
from gemmviz.language import tr


def with_unused(kernel: Function, roles: Roles) -> Roles:
    """Return the roles, with a null pointer for each parameter without a role that the kernel does not name.

    Parameters
    ----------
    kernel
        As it is written, without the bodies of the functions that it calls.
    roles
        The roles so far.
    """
    if not kernel.body:
        return roles
    used = _without_switched(kernel)
    unused = [
        p.name
        for p in kernel.parameters
        if p.pointer and p.name and not is_map(p) and roles.of.get(p.name) == "" and p.name not in used
    ]
    reasons = {name: GuessReason(0.8, tr("the kernel does not use {name}", name=name)) for name in unused}
    return replace(roles, of=roles.of | dict.fromkeys(unused, "0"), why=roles.why | reasons)


def _without_switched(kernel: Function) -> set[str]:
    """Return the words of a kernel outside of the branches that a ``bool`` of its template switches on."""
    switches = {name for kind, name, _ in kernel.template if kind == "bool"}
    body, words, at = kernel.body, set[str](), 0
    while at < len(body):
        head = at + 1 + (body[at + 1 : at + 2] == ("constexpr",))
        condition = body[head : head + 3]
        if body[at] == "if" and condition[:1] == ("(",) and condition[2:] == (")",) and condition[1] in switches:
            at = _end(body, head + 3)
        else:
            words.add(body[at])
            at += 1
    return words


def _end(body: tuple[str, ...], at: int) -> int:
    """Return the place behind the statement, or the block, that begins at a place."""
    closes = "}" if body[at : at + 1] == ("{",) else ";"
    depth = 0
    for place in range(at, len(body)):
        depth += (body[place] in ("{", "(")) - (body[place] in ("}", ")"))
        if depth == 0 and body[place] == closes:
            return place + 1
    return len(body)
