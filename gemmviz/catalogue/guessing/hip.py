"""Reads kernels for AMD's GPUs as kernels of CUDA: HIP is the same language with other names."""

import re

_INDEX = re.compile(r"\bhip(Thread|Block|Grid)(Idx|Dim)_([xyz])\b")
_OF_HOST = re.compile(r"\bhip(?=[A-Z])")
_LAUNCH = re.compile(r"\bhipLaunchKernelGGL\s*\(")
_NAME = re.compile(r"\bHIP_KERNEL_NAME\s*\(((?:[^()]|\([^()]*\))*)\)")
_SHARED = re.compile(r"\bHIP_DYNAMIC_SHARED\s*\(([^(),]+),([^()]+)\)")
_OF_LAUNCH = 4  # between the kernel's name and its arguments: grid, block, shared memory, stream


def as_cuda(text: str) -> str:
    """Return a text with CUDA's names in place of HIP's, and with the same lines.

    Parameters
    ----------
    text
        A source without comments.
    """
    if "hip" not in text and "HIP_" not in text:
        return text
    text = _NAME.sub(r"\1", text)
    out, end = [], 0
    for found in _LAUNCH.finditer(text):
        parts, last = _parts(text, found.end())
        if found.start() < end or len(parts) <= _OF_LAUNCH:
            continue
        kernel, shape, given = parts[0].strip(), parts[1 : _OF_LAUNCH + 1], parts[_OF_LAUNCH + 1 :]
        if kernel.startswith("(") and kernel.endswith(")"):
            kernel = kernel[1:-1]
        made = f"{kernel}<<<{','.join(shape)}>>>({','.join(given)})"
        lines = text.count("\n", found.start(), last) - made.count("\n")
        out += [text[end : found.start()], made, "\n" * lines]
        end = last
    text = "".join([*out, text[end:]])
    text = _SHARED.sub(r"extern __shared__ \1 \2[];", text)
    text = _INDEX.sub(lambda found: f"{found[1].lower()}{found[2]}.{found[3]}", text)
    return _OF_HOST.sub("cuda", text)


def _parts(text: str, at: int) -> tuple[list[str], int]:
    """Return the arguments of a call whose bracket opens before a place, and the place behind it; none without end."""
    parts, begin, depth, angles = list[str](), at, 0, 0
    for place in range(at, len(text)):
        letter = text[place]
        angles += ((letter == "<") - (letter == ">" and text[place - 1] != "-")) if not parts else 0
        if letter == ")" and not depth:
            return [*parts, text[begin:place]], place + 1
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and not depth and not angles:
            parts.append(text[begin:place])
            begin = place + 1
    return [], at
