// ---gemmviz
// version    = 8
// code_of    = "68a_every_shape.cu"
// title      = "Every shape, bfloat16"
// idea       = "The same kernel for bfloat16, which has the range of float. Where storing C takes long, two warpgroups take tiles in turns: one stores while the other multiplies."
// entry      = "every_shape<__nv_bfloat16, float, BM, BN, STAGES, GROUP, CLUSTER, ACROSS, SPLIT, TOGETHER, BOXES, TURNS, TURNED>"
// dtype      = "bfloat16"
// demo       = { size = [128, 256, 320], params = { BM = 128, BN = 64, STAGES = 2, BLOCKS = 2, CLUSTER = 1, ACROSS = 1, SPLIT = 1, TOGETHER = 0, BOXES = 2, TURNS = 2 }, block = [0, 0], stop = { line = "put(&box, r, h, j", array = "Cs", write = true }, lens = "pipeline" }
// ---

// ---gemmviz breaks
// [given-back-too-early]
// title = "With a stage given back before its product is waited for"
// find = "wgmma_wait<1>();"
// replace = "wgmma_wait<2>();"
// expect = ["race"]
// at = [64, 64, 200]
// set = { BM = 64, BN = 128, STAGES = 2, CLUSTER = 1 }
// ---
