// ---gemmviz
// title = "Warp tiles, device functions, a lambda, a structure"
// entry = "sgemmWarptiling<32, 32, 8, 32, 16, 4, 4, 64>"
// args = ["M", "N", "K", "alpha", "A", "B", "beta", "C"]
// block = [64]
// grid = ["N / 32", "M / 32"]
// requires = ["M % 32 == 0", "N % 32 == 0", "K % 8 == 0"]
// ---
#include <cstdint>
#include <cstddef>
namespace wt {
constexpr int WARPSIZE = 32;
template <typename T> struct Tile { T *data; std::size_t stride;
    __device__ T &operator()(std::size_t i, std::size_t j) const { return data[i * stride + j]; } };
template <const int BM, const int BK, const int rowStride>
__device__ __forceinline__ void load(const float *A, float *As, int K, int row, int col) {
  for (uint offset = 0; offset + rowStride <= BM; offset += rowStride) {
    const float4 tmp = __ldg(reinterpret_cast<const float4 *>(&A[(row + offset) * K + col * 4]));
    As[(col * 4 + 0) * BM + row + offset] = tmp.x;
    As[(col * 4 + 1) * BM + row + offset] = tmp.y;
    As[(col * 4 + 2) * BM + row + offset] = tmp.z;
    As[(col * 4 + 3) * BM + row + offset] = tmp.w;
  }
}
}  // namespace wt
using namespace wt;
template <const int BM, const int BN, const int BK, const int WM, const int WN, const int TM, const int TN,
          const int NUM_THREADS>
__global__ void __launch_bounds__(NUM_THREADS)
sgemmWarptiling(int M, int N, int K, float alpha, float *A, float *B, float beta, float *C)
{
  static_assert(BM % WM == 0 and BN % WN == 0, "warp tiles must fill the block tile");
  constexpr uint WSUBM = TM * 8, WSUBN = TN * 4;
  static_assert(WSUBM == WM && WSUBN == WN);
  __builtin_assume(K > 0);
  const uint warpIdx = threadIdx.x / WARPSIZE;
  const uint warpCol = warpIdx % (BN / WN), warpRow = warpIdx / (BN / WN);
  const uint threadIdxInWarp = threadIdx.x % WARPSIZE;
  const uint threadColInWarp = threadIdxInWarp % (WSUBN / TN), threadRowInWarp = threadIdxInWarp / (WSUBN / TN);
  __shared__ float As[BM * BK], Bs[BK * BN];
  A += blockIdx.y * BM * K;
  B += blockIdx.x * BN;
  C += (blockIdx.y * BM + warpRow * WM) * N + blockIdx.x * BN + warpCol * WN;
  float threadResults[TM * TN] = {0.0}, regM[TM], regN[TN];
  for (uint bkIdx = 0; bkIdx < K; bkIdx += BK) {
    load<BM, BK, NUM_THREADS * 4 / BK>(A, As, K, threadIdx.x / (BK / 4), threadIdx.x % (BK / 4));
    for (uint i = threadIdx.x * 4; i < BK * BN; i += NUM_THREADS * 4)
      reinterpret_cast<float4 *>(&Bs[i])[0] = reinterpret_cast<float4 *>(&B[i / BN * N + i % BN])[0];
    __syncthreads();
    auto dot = [&](uint k) {
      #pragma unroll
      for (uint i = 0; i < TM; ++i) regM[i] = As[k * BM + warpRow * WM + threadRowInWarp * TM + i];
      #pragma unroll
      for (uint i = 0; i < TN; ++i) regN[i] = Bs[k * BN + warpCol * WN + threadColInWarp * TN + i];
      for (uint m = 0; m < TM; ++m)
        for (uint n = 0; n < TN; ++n) threadResults[m * TN + n] = fmaf(regM[m], regN[n], threadResults[m * TN + n]);
    };
    for (uint k = 0; k < BK; ++k) dot(k);
    A += BK;
    B += BK * N;
    __syncthreads();
  }
  Tile<float> out{C, static_cast<std::size_t>(N)};
  for (uint m = 0; m < TM; m += 1)
    for (uint n = 0; n < TN; n += 4) {
      float4 tmp = reinterpret_cast<float4 *>(&out(threadRowInWarp * TM + m, threadColInWarp * TN + n))[0];
      tmp.x = alpha * threadResults[m * TN + n] + beta * tmp.x;
      tmp.y = alpha * threadResults[m * TN + n + 1] + beta * tmp.y;
      tmp.z = alpha * threadResults[m * TN + n + 2] + beta * tmp.z;
      tmp.w = alpha * threadResults[m * TN + n + 3] + beta * tmp.w;
      reinterpret_cast<float4 *>(&out(threadRowInWarp * TM + m, threadColInWarp * TN + n))[0] = tmp;
    }
}
