"""A kernel whose sizes are known: parameters of it or of its template, or constants of the file."""

from collections.abc import Mapping
from dataclasses import dataclass

from gemmviz.catalogue.guessing import indexing
from gemmviz.catalogue.guessing.assigning import assign
from gemmviz.catalogue.guessing.cxx import ParsedSource
from gemmviz.catalogue.guessing.functions import Function
from gemmviz.catalogue.guessing.roles import Roles
from gemmviz.catalogue.guessing.size_constants import SizeConstant, as_parameters, size_constants, without
from gemmviz.catalogue.guessing.size_templates import as_arguments, passed_twice, size_templates


@dataclass(frozen=True)
class Sized:
    """A kernel in which everything that stands for a size is a parameter.

    Attributes
    ----------
    function, source
        The kernel, and its file without values for its sizes.
    index
        The indices of its accesses.
    roles
        The roles of its parameters.
    constants
        The constants of the file that stand for sizes.
    arguments
        The template's parameters that stand for sizes, and the size of each.
    """

    function: Function
    source: ParsedSource
    index: indexing.Indexing
    roles: Roles
    constants: list[SizeConstant]
    arguments: dict[str, str]


def sized(function: Function, source: ParsedSource, tiles: Mapping[str, int]) -> Sized:
    """Return a kernel with its sizes; constants and template parameters of which no use shows a size are left out.

    Parameters
    ----------
    function, source
        The kernel, and its file.
    tiles
        From `gemmviz.catalogue.guessing.run_time_tiles.run_time_tiles`.
    """
    given, of_template = size_constants(function, source), size_templates(function, source)
    same = passed_twice(function, source)
    while True:
        made, meant = as_arguments(function, source, of_template, same)
        made, meant = as_parameters(made, given), without(meant, given)
        index = indexing.read_indexing(made, meant.constants_without_tunable())
        roles = assign(made, index, tiles)
        strange = [one for one in (*given, *of_template) if not one.size_of(roles)]
        if not strange:
            break
        given, of_template = ([one for one in some if one not in strange] for some in (given, of_template))
    arguments = {one.name: one.size_of(roles) for one in of_template}
    arguments |= {name: roles.of.get(parameter, "1") for name, parameter in same.items()}
    return Sized(made, meant, index, roles, given, arguments)
