"""Quotients of C in the arithmetic of front matter, where a division is exact."""

import ast
import re

from gemmviz.catalogue.guessing.folding import bracket
from gemmviz.catalogue.guessing.polynomial import Polynomial, parse
from gemmviz.catalogue.guessing.tokens import tokens_of

_ROUNDING = ("ceil", "floor")


def rounded_text(text: str) -> str:
    """Return an expression in which each quotient is rounded as C does it: ``ceil(a / b)`` for one that rounds up.

    Parameters
    ----------
    text
        With names, whole numbers and arithmetic; a text that is no such expression stays as it is.
    """
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return text
    return ast.unparse(_Rounding().visit(tree))


def exact(grid: tuple[str, ...], requires: list[str]) -> list[str]:
    """Return the conditions for the quotients of a grid that are rounded down: no block computes their remainder.

    Parameters
    ----------
    grid
        Its extents.
    requires
        The conditions that are known already.
    """
    found = [quotient for text in grid for quotient in re.findall(r"floor\(([MNK]) / (\w+|\([^()]*\))\)", text)]
    made = [f"{size} % {bracket(divisor)} == 0" for size, divisor in dict.fromkeys(found)]
    return [text for text in made if text not in requires]


class _Rounding(ast.NodeTransformer):
    def visit_Call(self, node: ast.Call) -> ast.expr:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name not in _ROUNDING or len(node.args) != 1:
            self.generic_visit(node)
            return node
        inside = node.args[0]
        if isinstance(inside, ast.BinOp) and isinstance(inside.op, ast.Div):
            inside.left, inside.right = self.visit(inside.left), self.visit(inside.right)
            return node
        node.args = [self.visit(inside)]
        # ceil(M) of a whole number is M.
        return node if _has_exact_quotient(node.args[0]) else node.args[0]

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        if not isinstance(node.op, ast.Div):
            self.generic_visit(node)
            return node
        above, below = _value(node.left), _value(node.right)
        rest = above + -below + Polynomial.number(1)
        up = len(rest.terms) < len(above.terms) and rest.terms
        left = ast.parse(str(rest), mode="eval").body if up else node.left
        quotient = ast.BinOp(self.visit(left), ast.Div(), self.visit(node.right))
        return ast.Call(ast.Name("ceil" if up else "floor"), [quotient], [])


def _value(node: ast.expr) -> Polynomial:
    return parse(tokens_of(ast.unparse(node)))


def _has_exact_quotient(node: ast.expr) -> bool:
    return bool(re.search(r"/", re.sub(r"(?:ceil|floor)\([^()]*\)", "", ast.unparse(node))))
