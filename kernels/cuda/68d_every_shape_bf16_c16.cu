// ---gemmviz
// version    = 6
// code_of    = "68a_every_shape.cu"
// title      = "Every shape, C in bfloat16"
// idea       = "A, B and C in bfloat16, as most language models keep them; the sums are in float."
// entry      = "every_shape<__nv_bfloat16, __nv_bfloat16, BM, BN, STAGES, GROUP, CLUSTER>"
// dtype      = "bfloat16"
// stores     = "bfloat16"
// maps.C     = { box = [64, 32], swizzle = 64 }
// ---
