"""A function of C or CUDA, its parameters, and the file that it stands in."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Parameter:
    """One parameter of a function.

    Attributes
    ----------
    name
        May be empty.
    type
        Without qualifiers, ``"float"``.
    pointer, const
        Whether it is a pointer or array, and whether its target is const.
    declared
        The whole type as it is declared, an array as a pointer: ``"const unsigned int *"``. Empty where a parameter is
        made of something else.
    """

    name: str
    type: str
    pointer: bool
    const: bool
    declared: str = field(default="", compare=False)

    @property
    def depth(self) -> int:
        """The number of pointers before an element: 2 for ``float **A``, and 1 for ``float (*A)[8]``."""
        return max(self.declared.count("*") if "(" not in self.declared else 0, int(self.pointer))


@dataclass(frozen=True)
class Function:
    """One function with a body.

    Attributes
    ----------
    name
        With its namespaces.
    template
        (kind, name, default) of each template parameter; kind is ``"typename"`` or an integer type.
    parameters
        In order.
    body
        Tokens between the braces, macros filled in.
    bounds
        Tokens of the first argument of ``__launch_bounds__``; empty without one.
    clusters
        Tokens of each argument of ``__cluster_dims__``; empty without it.
    line
        The line of its name, from 1.
    owner, owner_template
        The structure whose member it is, and the names of that structure's template parameters; empty without one.
    """

    name: str
    template: tuple[tuple[str, str, str], ...]
    parameters: tuple[Parameter, ...]
    body: tuple[str, ...] = field(repr=False)
    bounds: tuple[str, ...] = ()
    clusters: tuple[tuple[str, ...], ...] = ()
    line: int = 0
    owner: str = ""
    owner_template: tuple[str, ...] = ()


@dataclass(frozen=True)
class HostFile:
    """A file that may have host code.

    Attributes
    ----------
    tokens
        Of the whole file, macros filled in.
    functions
        Its functions with a body.
    constants
        Its whole-number constants outside functions.
    compiled
        Whether it is compiled with the kernel: the kernel's own file, and headers.
    """

    tokens: Sequence[str] = field(repr=False)
    functions: Sequence[Function]
    constants: Mapping[str, tuple[str, ...]]
    compiled: bool = True


def words_of(function: Function, others: Sequence[Function]) -> set[str]:
    """Return the words of a function, and of those of the others that it calls, directly or indirectly."""
    found, left = {*function.body, *function.bounds}, list(others)
    while called := [one for one in left if one.name.rpartition("::")[2] in found]:
        found |= {word for one in called for word in one.body}
        left = [one for one in left if one not in called]
    return found
