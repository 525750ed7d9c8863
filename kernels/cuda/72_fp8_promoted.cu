// ---gemmviz
// version    = 3
// code_of    = "71_fp8.cu"
// title      = "FP8, sums of two levels"
// idea       = "After 128 products each sum leaves the tensor cores and is added to one in single precision: so its error stays small for any K. That takes twice the registers, and smaller tiles."
// entry      = "fp8<BM, BN, STAGES, BOXES, GROUP, CLUSTER, true>"
// math       = "promoted"
// params     = { BM = [128, 192], BN = [192, 128, 96, 64], STAGES = [4, 6, 8, 3, 2], BOXES = [2, 4], GROUP = [8, 4], BLOCKS = [132, 4, 2], CLUSTER = [2, 1] }
// requires   = [
//   "N % 4 == 0", "K % 16 == 0", "BM == 128 or BM == 192 and BN <= 96",
//   "BN == 64 or BN == 96 or BN == 128 or BN == 192", "STAGES >= 2", "BOXES >= 2", "GROUP >= 1",
//   "CLUSTER == 1 or CLUSTER == 2", "BLOCKS >= 1", "BLOCKS <= 264", "BLOCKS % CLUSTER == 0",
//   "STAGES * (BM + BN) * 128 + BM * 128 * BOXES <= 231424"
// ]
// demo       = { size = [128, 192, 256], params = { BN = 64, STAGES = 2, BLOCKS = 2, CLUSTER = 1 }, block = [1, 0], stop = { line = "multiply<BN>(sum", array = "Bs" }, lens = "tensor core" }
// ---

// ---gemmviz breaks
// [never-promoted]
// title = "With the last 128 products only"
// find = "total[i] = t > p.from ? total[i] + sum[i] : sum[i];"
// replace = "total[i] = sum[i];"
// expect = "wrong result"
// at = [64, 64, 256]
// set = { BN = 64, STAGES = 2, CLUSTER = 1 }
// ---
