"""Words and headers of host code. A CUDA file may use them, but a compiler of kernels does not have them."""

import re
from functools import cache

# A call or type of the CUDA runtime, of its libraries, of PyTorch, or of the C++ library's host side.
_RUNTIME = (
    r"\bcuda(?!Pos|Read|Shared|DevAttr|FuncAttribute\b)(?:Malloc|Memcpy|Memset|Free|Host|Device|Event|Stream|Error|Get|"
    r"Set|Func|Launch|Occupancy|Graph|Mem|Profiler|Deviceprop|Success|DataType|Runtime|Peek|Array|Thread|IPC|Ipc|Driver|"
    r"Choose)\w*"
)
_LIBRARIES = (
    r"\b(?:cublas|curand|cudnn|cusparse|cusolver|nvml|nvtx|checkCuda|sdk|mkl|cblas)\w*|\bcu(?:Tensor|Ctx|Module|Device|"
    r"Mem|Get|Stream|Event|Launch|Init)\w*|\bCU(?:tensor|device|module|function|result|context|stream|_)\w*"
)
_FRAMEWORKS = (
    r"\b(?:at|torch|c10|pybind11|py|thrust|boost|Eigen|std\s*::\s*chrono)\s*::(?!\s*(?:Half|BFloat16)\b)|"
    r"\b(?:TORCH|PYBIND11|AT|C10)_\w+|\bhip[A-Z](?!\w+_[xyz]\b)\w*"
)
_C_LIBRARY = (
    r"\b(?:fopen|fclose|fread|fwrite|fprintf|sprintf|snprintf|scanf|fscanf|exit|abort|getenv|atoi|atof|strtol|rand|"
    r"srand|time|clock|gettimeofday|clock_gettime|calloc|realloc|memalign|aligned_alloc|posix_memalign|system|usleep|"
    r"omp_\w+|getopt\w*|perror|strerror|fflush|puts|putchar)\s*\(|\b(?:FILE|EXIT_(?:SUCCESS|FAILURE)|stderr|stdout)\b"
)
_STREAMS = (
    r"\bstd\s*::\s*(?:c(?:out|err|in)|endl|string\w*|\w*stream|vector|map|set|unordered_\w+|list|deque|queue|stack|"
    r"function|thread|mutex|atomic|random_device|mt19937\w*|uniform_\w+|normal_\w+|unique_ptr|shared_ptr|make_unique|"
    r"make_shared|runtime_error|exception|ofstream|ifstream|filesystem|sort|accumulate|generate|iota|rand|setw|"
    r"setprecision|to_string|mem_fn|bind|initializer_list|optional|variant|any)\b"
)
# Texture references, which the host binds; CUDA 12 has removed them.
_TEXTURES = r"\btexture\s*<"
_OF_HOST = "|".join([r"<<[ \t]*<|<[ \t]+<<", _TEXTURES, _RUNTIME, _LIBRARIES, _FRAMEWORKS, _C_LIBRARY, _STREAMS])
# The driver's words for tensor maps: structures for kernels may have them as members, such as the type of elements.
_STRUCTURE = r"\s*(?:template\s*<[^{};]*>\s*)?(?:struct|class|union)\b"
_OF_MAPS = r"\bCUtensorMap(?:DataType|Swizzle)?\b|\bCU_TENSOR_MAP_(?:DATA_TYPE|SWIZZLE)_\w+"
# A function that uses one of these without a mark of the device runs on the host.
_OF_HOST_FUNCTION = rf"{_OF_HOST}|\bcuda[A-Z]\w*|\bstd\s*::|\b(?:malloc|free)\s*\("

# A compiler of kernels has the content of these headers built in, and has no files for them.
_BUILT_IN = (
    r"cuda\.h|cuda_runtime(?:_api)?\.h|device_launch_parameters\.h|vector_types\.h|vector_functions\.h\w*|"
    r"builtin_types\.h|driver_types\.h|device_functions\.h|device_atomic_functions\.h|math_functions\.h|"
    r"host_defines\.h|crt/\w+\.h|sm_\d+_\w+\.h\w*|cuda_device_runtime_api\.h|device_types\.h|common_functions\.h|"
    r"math_constants\.h|texture_\w+\.h|surface_\w+\.h|__clang_cuda_\w+\.h"
)
# Headers with CUDA for the device, or with the parts of C and C++ that a kernel may use.
_OF_DEVICE = (
    r"cuda_(?:fp16|bf16|fp8|fp4|fp6|tf32)\.h(?:pp)?|mma\.h|cuda_pipeline\w*\.h|cuda_awbarrier\w*\.h|cuComplex\.h|"
    r"cooperative_groups(?:\.h|/[\w/.]+)|cuda/[\w/.]+|gemmviz/[\w/.]+|nv/target|"
    r"hip/hip_(?:runtime|fp16|bf16)\.h|"
    r"(?:assert|math|stdint|stddef|float|limits|inttypes|stdio)\.h|"
    r"c(?:assert|math|stdint|stddef|float|limits|stdio)|type_traits|limits|utility|concepts|array"
)
# Headers of the host, with any suffix: the C++ library, the C library, CUDA's libraries and samples, frameworks.
_HOST_HEADERS = (
    r"[a-z_]+|(?:sys|arpa|netinet|linux|bits|x86_64-linux-gnu)/\w+\.h|"
    r"(?:stdlib|string|strings|time|unistd|errno|signal|memory|malloc|getopt|pthread|dirent|fcntl|locale|wchar|ctype|"
    r"setjmp|stdarg|stdbool|alloca|omp|mpi|immintrin|x86intrin|xmmintrin|emmintrin|windows|Windows|conio|io|process|direct|"
    r"mkl|cblas|mkl_\w+)\.h|c(?:stdlib|string|time|ctype|errno|stdarg|signal)|"
    r"hip/\w+\.h(?:pp)?|roc\w+(?:/\w+)*\.h(?:pp)?|hip(?:blas|rand)\w*(?:/\w+)*\.h(?:pp)?|"
    r"(?:cublas|curand|cudnn|cusparse|cusolver|cufft|nvml|nvToolsExt|cuda_profiler|cudaProfiler|cupti|nccl|nvrtc|npp|"
    r"cudaTypedefs|cuda_gl|cudaGL|nvtx\d?)\w*(?:/\w+)*\.h(?:pp)?|nvtx3/.*|"
    r"(?:helper|exception|multithreading|timer|rendercheck\w*|param\w*)_?\w*\.h|nvrtc_helper\.h|cuda_occupancy\.h|"
    r"(?:torch|ATen|c10|pybind11|THC|TH|thrust|cub|boost|Eigen|opencv2?|gtest|benchmark|fmt|spdlog|nlohmann|"
    r"cxxopts|llvm)(?:/.*|\.h(?:pp)?)?"
)


# They are compiled when they are first used: it takes long, and the first window needs none of them.
_compiled = cache(re.compile)


def is_host(text: str, *, function: bool) -> bool:
    """Return whether code that is not marked for the device can only run on the host.

    Parameters
    ----------
    text
        A declaration, without comments and texts.
    function
        Whether it is a function. If it is, every name of the C++ library counts as code of the host.
    """
    if not function and _compiled(_STRUCTURE).match(text):
        text = _compiled(_OF_MAPS).sub(" ", text)
    return _compiled(_OF_HOST_FUNCTION if function else _OF_HOST).search(text) is not None


def header_kind(name: str) -> str:
    """Return the kind of an included file from its name: ``"device"``, ``"host"`` (or built in), ``""`` if unknown."""
    if _compiled(_OF_DEVICE).fullmatch(name):
        return "device"
    return "host" if _compiled(_BUILT_IN).fullmatch(name) or _compiled(_HOST_HEADERS).fullmatch(name) else ""
