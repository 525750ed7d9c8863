// ---gemmviz
// version    = 7
// code_of    = "68a_every_shape.cu"
// title      = "Several GPUs, tiles from the peer"
// idea       = "Nothing is copied: each block reads its tiles of A in the memory of the GPU that owns them. Every block that needs a tile brings it over the link again."
// entry      = "every_shape<__nv_bfloat16, __nv_bfloat16, BM, BN, STAGES, GROUP, CLUSTER, ACROSS, SPLIT, TOGETHER, BOXES, TURNS, TURNED>"
// params     = { BM = [128, 64, 192], BN = [256, 320, 192, 128, 96, 64, 32], STAGES = [4, 3, 5, 6, 8, 9, 10, 12, 13, 2], GROUP = [8, 4, 2, 1, 16], BLOCKS = [132, 120, 4, 2], CLUSTER = [2, 1, 4, 8], ACROSS = [1, 2, 4, 8], SPLIT = [1, 2, 3, 4, 8, 16], TOGETHER = [0, 1], BOXES = [2, 1], TURNS = [1, 2], TURNED = [0, 1], GPUS = [2, 4, 8] }
// demo       = { size = [128, 128, 128], params = { BM = 64, BN = 64, STAGES = 2, BLOCKS = 2, CLUSTER = 1, ACROSS = 1, SPLIT = 1, TOGETHER = 0, BOXES = 2, GPUS = 2 }, block = [0, 1], stop = { share = 0.4 }, lens = "owners" }
// dtype      = "bfloat16"
// stores     = "bfloat16"
// schedule.names.narrow = "1"
// schedule.names.never  = "1"
// schedule.names.upright = "1"
// schedule.names.joined = "42 - 52 * (BN == 256)"
// maps.C     = { box = ["64 + TURNED * (8 * ceil(BM / 8 / ceil(BM / 32)) - 64)", "64 - BN / (1 + TOGETHER) % 64"], swizzle = "128 - BN / (1 + TOGETHER) % 64 * 2" }
// unaligned  = []
// devices    = "GPUS"
// divided    = { A = "rows", B = "columns", C = "columns" }
// crossing   = "reads"
// ---

// ---gemmviz breaks
// [given-back-too-early]
// title = "With a stage given back before its product is waited for"
// find = "wgmma_wait<1>();"
// replace = "wgmma_wait<2>();"
// expect = ["race"]
// at = [128, 128, 200]
// set = { BM = 64, BN = 64, STAGES = 2, CLUSTER = 1 }
// ---
