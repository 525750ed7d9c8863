"""Pointers that a kernel takes and does not use: a kernel that reads tensor maps often gets the matrices, too."""

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
    unused = [
        p.name
        for p in kernel.parameters
        if p.pointer and p.name and not is_map(p) and roles.of.get(p.name) == "" and p.name not in kernel.body
    ]
    reasons = {name: GuessReason(0.8, tr("the kernel does not use {name}", name=name)) for name in unused}
    return replace(roles, of=roles.of | dict.fromkeys(unused, "0"), why=roles.why | reasons)
