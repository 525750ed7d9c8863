// ---gemmviz
// title = "Cooperative groups: a warp per element"
// entry = "gemm"
// args = ["A", "B", "C", "M", "N", "K"]
// block = [128]
// grid = ["M * N / 4"]
// requires = ["M * N % 4 == 0"]
// ---
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
// A warp per element of C: its lanes share the sum.
__global__ void gemm(const float *A, const float *B, float *C, int M, int N, int K)
{
    cg::thread_block block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    int element = blockIdx.x * warp.meta_group_size() + warp.meta_group_rank();
    __shared__ float row[4][32];
    float sum = 0;
    for (int k = warp.thread_rank(); k < K; k += warp.size()) sum += A[element / N * K + k] * B[k * N + element % N];
    for (int by = warp.size() / 2; by > 0; by /= 2) sum += warp.shfl_down(sum, by);
    if (warp.thread_rank() == 0) row[warp.meta_group_rank()][0] = sum;
    cg::sync(block);
    if (block.thread_rank() < 4) C[blockIdx.x * 4 + block.thread_rank()] = row[block.thread_rank()][0];
    block.sync();
}
