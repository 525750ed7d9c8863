// Kernel files often include this one. The recorder's part of CUDA is in cuda.h, which every build includes first.
