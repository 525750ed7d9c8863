"""A small kernel with inline PTX, for the recorder and for a real GPU: one block, whole numbers, an exact C."""

from dataclasses import dataclass
from pathlib import Path

from gemmviz.catalogue.kernel import parse
from gemmviz.catalogue.launch import Launch, launch
from gemmviz.catalogue.problem import Problem

HEAD = "__global__ void k(const float *A, const float *B, float *C, int M, int N, int K)\n{\n"
HELPERS = """#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <stdint.h>
"""


@dataclass(frozen=True)
class PtxKernel:
    """A kernel by its text, and the problem that it is for."""

    name: str
    body: str
    problem: Problem
    before: str = ""
    capability: str = "8.0"
    block: int = 32

    @property
    def launch(self) -> Launch:
        """The launch of one block."""
        matter = {
            "entry": '"k"',
            "args": '["A", "B", "C", "M", "N", "K"]',
            "block": f"[{self.block}]",
            "grid": "[1]",
            "capability": f'"{self.capability}"',
        }
        front = "".join(f"// {key} = {value}\n" for key, value in matter.items())
        text = f"// ---gemmviz\n{front}// ---\n{HELPERS}{self.before}\n{HEAD}{self.body}\n}}\n"
        return launch(parse(text, Path(f"{self.name}.cu")), self.problem)
