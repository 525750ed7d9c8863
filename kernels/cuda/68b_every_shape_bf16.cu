// ---gemmviz
// version    = 6
// code_of    = "68a_every_shape.cu"
// title      = "Every shape, bfloat16"
// idea       = "The same kernel for bfloat16, which has the range of float: only type and instruction differ."
// entry      = "every_shape<__nv_bfloat16, float, BM, BN, STAGES, GROUP, CLUSTER>"
// dtype      = "bfloat16"
// ---
