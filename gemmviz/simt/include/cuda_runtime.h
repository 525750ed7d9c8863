// Kernel files often include this one. What the recorder knows of CUDA is in cuda.h, which every build includes first.
