// ---gemmviz
// version    = 8
// code_of    = "68a_every_shape.cu"
// title      = "Every shape, C in half precision"
// idea       = "The sums stay in float and are rounded once, when C is stored: half the bytes to write."
// entry      = "every_shape<half, half, BM, BN, STAGES, GROUP, CLUSTER, ACROSS, SPLIT, TOGETHER, BOXES, TURNS, TURNED>"
// demo       = { size = [64, 64, 256], params = { BM = 64, BN = 64, STAGES = 2, BLOCKS = 2, CLUSTER = 1, ACROSS = 1, SPLIT = 2, TOGETHER = 0, BOXES = 2 }, block = [1, 0], stop = { end = true }, lens = "number format" }
// stores     = "float16"
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
