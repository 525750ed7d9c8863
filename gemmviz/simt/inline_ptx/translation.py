"""Translates an asm statement to C++: a block that calls the recorder's functions."""

import re

from gemmviz.simt.inline_ptx import instructions
from gemmviz.simt.inline_ptx.common_names import NONE, CommonNames, label_name, register_name
from gemmviz.simt.inline_ptx.grammar import Instruction, Label, Name, NotPtx, Program, Value, parse
from gemmviz.simt.inline_ptx.statements import Operand, Statement
from gemmviz.simt.inline_ptx.values import Values
from gemmviz.simt.layout import PTX_NAME

# The declaration for each constraint letter: Inline PTX Assembly in CUDA, "Constraints".
_INPUTS = {
    "h": "const unsigned short {0} = gv_ptx::in<unsigned short>({1});",
    "r": "const unsigned {0} = gv_ptx::in<unsigned>({1});",
    "l": "const unsigned long long {0} = gv_ptx::in<unsigned long long>({1});",
    "f": "const float {0} = ({1});",
    "d": "const double {0} = ({1});",
    "n": "const long long {0} = (long long)({1});",
}
_LONGEST_NAME = PTX_NAME - 1  # without the zero at its end


def translated(statement: Statement, number: int, common: CommonNames = NONE) -> str:
    """Return the C++ of a statement, on one line and without a semicolon at the end.

    Parameters
    ----------
    statement
        Any asm statement.
    number
        The number of the statement in its source; the names of its variables and labels contain it.
    common
        The registers and labels that it has in common with other statements.
    """
    try:
        program = parse(statement.template.replace("%=", str(number)))
        operands, declared = _operands(statement, number)
    except NotPtx as unknown:
        return f"do {{ {_stop(str(unknown))} }} while (0)"
    except RecursionError:  # thousands of nested braces
        return f"do {{ {_stop(statement.template)} }} while (0)"
    registers = {register: register_name(number, i, register) for i, register in enumerate(program.registers)}
    values = Values(operands, common.registers | registers)
    lines = [*declared, *(r.as_cpp.format(name) for r, name in registers.items() if r not in common.declared)]
    labels = _labels(program, number)
    for item in program.items:
        if isinstance(item, Label):
            lines.append(f"{labels[item]}:;")
        else:
            lines.append(_instruction(item, values, labels, common.labels))
    before = "".join(f"{register.as_cpp.format(name)} " for register, name in common.declared.items())
    return f"{before}do {{ {' '.join(line for line in lines if line)} }} while (0)".replace("\n", " ")


def _operands(statement: Statement, number: int) -> tuple[dict[str, str], list[str]]:
    """Return the variable of each operand, and the declarations of the variables."""
    variables: dict[str, str] = {}
    declared = []
    for i, operand in enumerate((*statement.outputs, *statement.inputs)):
        variable = f"gv{number}o{i}"
        variables[f"%{i}"] = variable
        if operand.name:
            variables[f"%[{operand.name}]"] = variable
        if i < len(statement.outputs):
            declared.append(f"auto &{variable} = ({operand.expression});")
        else:
            declared.append(_input(operand, variable, variables))
    return variables, declared


def _input(operand: Operand, variable: str, variables: dict[str, str]) -> str:
    constraint = operand.constraint.replace("i", "n")
    if constraint.isdigit() and f"%{constraint}" in variables:  # it uses the register of an output
        return f"gv_ptx::put({variables[f'%{constraint}']}, gv_ptx::bits({operand.expression}));"
    letter = next((letter for letter in constraint if letter in _INPUTS), "")
    if not letter:
        raise NotPtx(f'"{operand.constraint}"')
    return _INPUTS[letter].format(variable, operand.expression)


def _labels(program: Program, number: int) -> dict[Label, str]:
    found = [item for item in program.items if isinstance(item, Label)]
    return {label: label_name(number, i) for i, label in enumerate(found)}


def _instruction(item: Instruction, values: Values, labels: dict[Label, str], others: dict[str, str]) -> str:
    values.enter(item.block)
    try:
        condition = values.value(item.predicate, "bool") if item.predicate else ""
        jumps = item.opcode in ("bra", "bra.uni")
        body = _jump(item, labels, others) if jumps else instructions.translate(item, values)
    except NotPtx:
        condition, body = "", _stop(item.opcode)
    return f"if ({condition}) {{ {body} }}" if condition else body


def _jump(item: Instruction, labels: dict[Label, str], others: dict[str, str]) -> str:
    target: Value = item.operands[0] if item.operands else Name("")
    name = target.text if isinstance(target, Name) else ""
    visible = [label for label in labels if label.name == name and label.block == item.block[: len(label.block)]]
    if not visible and name in others:
        return f"goto {others[name]};"
    if not visible:
        raise NotPtx(name)
    return f"goto {labels[max(visible, key=lambda label: len(label.block))]};"


def _stop(instruction: str) -> str:
    """Return the statement that ends the run when it reaches an unknown instruction."""
    readable = re.sub(r"[^ -~]+", " ", instruction).strip()[:_LONGEST_NAME]
    escaped = readable.replace("\\", "\\\\").replace('"', '\\"')
    return f'gv_unknown_ptx("{escaped}");'
