// ---gemmviz
// title  = "CPU loops, C in memory"
// idea   = "Three loops; every k-step adds to C in memory, because the compiler must fear that C overlaps A or B."
// source = "S0"
// alias  = "hostmult0"
// entry  = "hostmult0"
// args   = ["C", "A", "B", "M", "K", "N"]
// ---

void hostmult0(float *C, const float *A, const float *B, int Ay, int Ax, int Bx)
{
    for (int i = 0; i < Ay; i++) {
        for (int j = 0; j < Bx; j++) {
            C[i * Bx + j] = 0;
            for (int k = 0; k < Ax; k++)
                C[i * Bx + j] += A[i * Ax + k] * B[k * Bx + j];
        }
    }
}
