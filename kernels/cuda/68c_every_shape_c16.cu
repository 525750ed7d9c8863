// ---gemmviz
// version    = 6
// code_of    = "68a_every_shape.cu"
// title      = "Every shape, C in half precision"
// idea       = "The sums stay in float and are rounded once, when C is stored: half the bytes to write."
// entry      = "every_shape<half, half, BM, BN, STAGES, GROUP, CLUSTER>"
// stores     = "float16"
// maps.C     = { box = [64, 32], swizzle = 64 }
// ---
