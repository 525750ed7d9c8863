// ---gemmviz
// title  = "CPU loops, sum in a variable"
// idea   = "What restrict amounts to, written out: the sum lives in a variable and C is written once per element."
// source = "S0"
// alias  = "hostmult1_opt"
// entry  = "hostmult1_opt"
// args   = ["C", "A", "B", "M", "K", "N"]
// ---

void hostmult1_opt(float *C, const float *A, const float *B, int Ay, int Ax, int Bx)
{
    for (int i = 0; i < Ay; i++) {
        for (int j = 0; j < Bx; j++) {
            float sum = 0;
            for (int k = 0; k < Ax; k++)
                sum += A[i * Ax + k] * B[k * Bx + j];
            C[i * Bx + j] = sum;
        }
    }
}
