// ---gemmviz
// version = 2
// title  = "CPU loops, row by row"
// idea   = "Loops in the order i, k, j: the inner loop runs along rows of B and C, so that the compiler can use vector instructions."
// entry  = "loop_order"
// args   = ["C", "A", "B", "M", "N", "K"]
// demo   = { size = 8, stop = { share = 0.1 }, lens = "memory order" }
// ---

// From here on one thread again: each rung up to the last is to be compared with hostmult1_opt, not with the threads.
// The order i, j, k walks down a column of B, one element of each row. In this order neighbours in the loop are
// neighbours in memory, so that the compiler works on whole vectors. The price: C is read and written K times.
void loop_order(float *restrict C, const float *restrict A, const float *restrict B, int M, int N, int K)
{
    for (int i = 0; i < M; i++) {
        for (int j = 0; j < N; j++)
            C[(long)i * N + j] = 0;
        for (int k = 0; k < K; k++)
            for (int j = 0; j < N; j++)
                C[(long)i * N + j] += A[(long)i * K + k] * B[(long)k * N + j];
    }
}

// ---gemmviz breaks
// [zero-never-set]
// title = "Without setting C to 0"
// find = "C[(long)i * N + j] = 0;"
// replace = ";"
// expect = "read of memory nobody wrote"
//
// [one-step-too-many]
// title = "With one k-step too many"
// find = "k < K"
// replace = "k <= K"
// expect = "out of bounds"
//
// [i-j-k]
// title = "With the loops in the order i, j, k"
// expect = "none"
// [[i-j-k.edits]]
// find = "for (int k = 0; k < K; k++)"
// replace = "for (int j = 0; j < N; j++)"
// [[i-j-k.edits]]
// find = "for (int j = 0; j < N; j++)"
// nth = 2
// replace = "for (int k = 0; k < K; k++)"
// ---
