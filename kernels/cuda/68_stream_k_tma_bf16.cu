// ---gemmviz
// version    = 3
// code_of    = "67_stream_k_tma.cu"
// title      = "Stream-K, bfloat16"
// idea       = "The same kernel for bfloat16, which has the range of float: only type and instruction differ."
// entry      = "stream_k_tma<__nv_bfloat16, BM, BN, STAGES, GROUP, CLUSTER>"
// demo       = { size = [128, 256, 512], params = { BN = 96, STAGES = 2, BLOCKS = 2, CLUSTER = 1 }, block = [1, 0], stop = { end = true }, lens = "number format" }
// dtype      = "bfloat16"
// ---

// ---gemmviz breaks
// [stored-twice]
// title = "With the second part stored, not added"
// find = "if (add)"
// replace = "if (false)"
// expect = ["element of C written by two threads"]
// at = [384, 64, 128]
// set = { BN = 64, STAGES = 2, CLUSTER = 1, BLOCKS = 2 }
// ---
