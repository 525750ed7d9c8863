"""Reads from a kernel's machine code how many named barriers a block of it has.

Neither CUDA's attributes of a function nor CuPy have this number. The file (an ELF file, "cubin") has it in one of two
places, as nvdisasm names them:

* CUDA 13: the attribute ``EIATTR_NUM_BARRIERS`` of the section ``.nv.info.KERNEL``; it is left out if there are none
* CUDA 12: ``SHF_BARRIERS``, some bits of the flags of the section ``.text.KERNEL``
"""

from io import BytesIO
from pathlib import Path

MOST_BARRIERS = 16
"""bar.sync has the numbers 0 to 15 (PTX ISA, "bar, barrier")."""
_NUM_BARRIERS = 0x4C
# The formats of an attribute: no value, a byte, two bytes, or as many bytes as the next two bytes say.
_SHORT_FORMATS, _BYTE, _SIZED = (1, 2, 3), 2, 4
# An attribute has a byte for its format, one for its number, and two for its value or its size.
_HEAD = 4
_FLAGS_FROM, _FLAGS_MASK = 20, 0x7F
_MOST_FILE = 64 << 20
_MOST_SECTIONS = 1 << 16


def named_barriers(file: Path, entry: str) -> int | None:
    """Return the number of named barriers of a block; None if the file does not say it.

    Parameters
    ----------
    file
        The machine code.
    entry
        The kernel's name in there.
    """
    try:
        with file.open("rb") as opened:
            found = _found(opened.read(_MOST_FILE), entry)
    except Exception:
        # A damaged file makes pyelftools raise exceptions of many types. Only this number is lost then.
        return None
    return found if found is not None and found <= MOST_BARRIERS else None


def _found(content: bytes, entry: str) -> int | None:
    # It takes 40 ms to import, and only a process that compiles kernels needs it.
    from elftools.elf.elffile import ELFFile

    elf = ELFFile(BytesIO(content))
    if elf.num_sections() > _MOST_SECTIONS:
        return None
    code, facts = (elf.get_section_by_name(prefix + entry) for prefix in (".text.", ".nv.info."))
    if code is None or facts is None:
        return None
    attributes = facts.data()
    known = _attribute(attributes) if len(attributes) == facts["sh_size"] else None
    in_flags: int = code["sh_flags"] >> _FLAGS_FROM & _FLAGS_MASK
    return None if known is None else known or in_flags


def _attribute(facts: bytes) -> int | None:
    """Return the attribute's value, 0 without it; None if the attributes have an unknown form."""
    at = 0
    while at + _HEAD <= len(facts):
        form, number = facts[at : at + 2]
        if form == _BYTE and number == _NUM_BARRIERS:
            return facts[at + 2]
        if form == _SIZED:
            at += int.from_bytes(facts[at + 2 : at + _HEAD], "little")
        elif form not in _SHORT_FORMATS:
            return None
        at += _HEAD
    return 0 if at == len(facts) else None
