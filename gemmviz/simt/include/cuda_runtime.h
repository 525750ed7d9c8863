// Kernel files often include this header. The recorder declares CUDA in cuda.h, which every build includes first.
