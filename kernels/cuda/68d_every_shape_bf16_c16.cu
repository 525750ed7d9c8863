// ---gemmviz
// version    = 8
// code_of    = "68a_every_shape.cu"
// title      = "Every shape, C in bfloat16"
// idea       = "A, B and C in bfloat16, as most language models keep them. Tiles are turned here: the first operand of wgmma is B, so that a tile may have any multiple of 8 rows."
// entry      = "every_shape<__nv_bfloat16, __nv_bfloat16, BM, BN, STAGES, GROUP, CLUSTER, ACROSS, SPLIT, TOGETHER, BOXES, TURNS, TURNED>"
// dtype      = "bfloat16"
// demo       = { size = [72, 64, 256], params = { BM = 24, BN = 64, STAGES = 2, BLOCKS = 3, CLUSTER = 1, ACROSS = 1, SPLIT = 1, TOGETHER = 0, BOXES = 2, TURNED = 1 }, block = [1, 0], stop = { line = "wgmma_m64k16_f32<T, BM", array = "Bs" } }
// stores     = "bfloat16"
// schedule.names.narrow = "1"
// maps.C     = { box = ["64 + TURNED * (8 * ceil(BM / 8 / ceil(BM / 32)) - 64)", "64 - BN / (1 + TOGETHER) % 64"], swizzle = "128 - BN / (1 + TOGETHER) % 64 * 2" }
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
