// ---gemmviz
// title  = "CPU loops, restrict"
// idea   = "The same loops; restrict promises that C overlaps nothing, so the compiler may keep C[i,j] in a register."
// source = "S0"
// alias  = "hostmult1"
// entry  = "hostmult1"
// args   = ["C", "A", "B", "M", "K", "N"]
// ---

void hostmult1(float *restrict C, const float *restrict A, const float *restrict B, int Ay, int Ax, int Bx)
{
    for (int i = 0; i < Ay; i++) {
        for (int j = 0; j < Bx; j++) {
            C[i * Bx + j] = 0;
            for (int k = 0; k < Ax; k++)
                C[i * Bx + j] += A[i * Ax + k] * B[k * Bx + j];
        }
    }
}
