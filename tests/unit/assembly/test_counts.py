"""Instructions are counted by kind, and products as their forms say."""

import pytest

from gemmviz.assembly.counts import counted, kind, products, shared_bytes
from gemmviz.assembly.listing import Instruction


def one(text):
    opcode, _, operands = text.partition(" ")
    return Instruction(0, "", opcode, operands)


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("FFMA.FTZ R12, R28, R12, R23", 32),
        ("DFMA R4, R8, R10, R4", 32),
        ("FFMA2 R4, R8.F32x2.HI_LO, R10.F32x2.HI_LO, R4.F32x2.HI_LO", 64),
        ("HFMA2 R5, R4, R3, R5", 64),
        ("HFMA2.BF16_V2 R5, R4, R3, R5", 64),
        ("HFMA2 R5, R4.H0_H0, R3.H1_H1, R5.H0_H0", 32),
        # How a constant gets into a register.
        ("HFMA2.MMA R23, -RZ, RZ, 0, 0", 0),
        ("HFMA2 R9, -RZ, RZ, 1.875, 0", 0),
        # PTX ISA: mma.sync.m16n8k16, .m16n8k8, .m16n8k4, .m8n8k4 (f64), .m16n8k32 (s8), .m8n8k16 (s8).
        ("HMMA.16816.F32 R4, R8, R12, R4", 16 * 8 * 16),
        ("HMMA.1688.F32.TF32 R4, R8, R12, R4", 16 * 8 * 8),
        ("HMMA.1684.F32.TF32 R4, R8, R12, R4", 16 * 8 * 4),
        ("DMMA.884 R4, R8, R12, R4", 8 * 8 * 4),
        ("IMMA.16832.S8.S8 R4, R8.ROW, R12.COL, R4", 16 * 8 * 32),
        ("IMMA.8816.S8.S8 R4, R8.ROW, R12.COL, R4", 8 * 8 * 16),
        # wgmma.m64n128k16 of four warps.
        ("HGMMA.64x128x16.F32 R88, gdesc[UR8].tnspB, R88, UP0", 64 * 128 * 16 // 4),
        ("QGMMA.64x256x32.F32.E4M3.E4M3 R24, gdesc[UR8], R24", 64 * 256 * 32 // 4),
        ("IMAD R2, R19, c[0x0][0x17c], R17", 0),
        ("FMUL R1, R2, R3", 0),
        ("LDS R1, [R2]", 0),
    ],
)
def test_an_instruction_makes_so_many_products_for_a_warp(text, made):
    assert products(one(text)) == made


def test_whole_numbers_are_multiplied_where_the_kernel_multiplies_them():
    assert products(one("IMAD R2, R19, R4, R2"), integer=True) == 32
    assert products(one("IMAD.MOV.U32 R1, RZ, RZ, c[0x0][0x28]"), integer=True) == 0
    assert products(one("IMAD.WIDE R2, R2, R3, c[0x0][0x168]"), integer=True) == 0
    assert products(one("IDP.4A.S8.S8 R4, R2, R3, R4"), integer=True) == 128
    assert kind(one("IMAD R2, R19, R4, R2")) == "other" and kind(one("IMAD R2, R19, R4, R2"), integer=True) == "IMAD"


def test_kinds_are_the_names_without_modifiers():
    code = [
        "LDS.128 R4, [R2]",
        "LDSM.16.M88.4 R4, [R2]",
        "LDGSTS.E.BYPASS.128 [R2], [R4.64]",
        "UTMALDG.2D [UR4], [UR8]",
    ]
    code += ["BAR.SYNC.DEFER_BLOCKING 0x0", "LDG.E.CONSTANT R29, [R8.64]", "IADD3 R1, R2, R3, RZ", "STL [R1], R4"]
    expected = dict.fromkeys(("LDS", "LDSM", "LDGSTS", "UTMALDG", "BAR", "LDG", "other", "STL"), 1)
    assert counted(map(one, code)) == expected


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("LDS R1, [R2]", 4),
        ("LDS.64 R2, [R2]", 8),
        ("LDS.128 R4, [R2+0x10]", 16),
        ("LDS.U16 R4, [R2]", 2),
        ("LDS.U8 R4, [R2]", 1),
        ("LDSM.16.M88.4 R4, [R2]", 16),
        ("LDSM.16.MT88.2 R4, [R2]", 8),
        ("LDSM.16.M88 R4, [R2]", 4),
        ("LDG.E.128 R4, [R2.64]", 0),
    ],
)
def test_a_thread_reads_so_many_bytes_of_shared_memory(text, size):
    assert shared_bytes(one(text)) == size
