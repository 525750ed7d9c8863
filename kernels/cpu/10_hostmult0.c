// ---gemmviz
// version = 2
// title  = "CPU loops, C in memory"
// idea   = "Three loops; every k-step writes C in memory, because C could overlap A or B."
// source = "S0"
// alias  = "hostmult0"
// entry  = "hostmult0"
// args   = ["C", "A", "B", "M", "K", "N"]
// demo   = { size = 8, thread = [0, 0], stop = { line = "C[i * Bx + j] += A", nth = 2, array = "C", write = true } }
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

// ---gemmviz breaks
// [zero-never-set]
// title = "Without setting C to 0"
// find = "C[i * Bx + j] = 0;"
// expect = "read of memory nobody wrote"
//
// [one-step-too-many]
// title = "With one k-step too many"
// find = "k < Ax"
// replace = "k <= Ax"
// expect = "out of bounds"
//
// [i-k-j]
// title = "With the loops in the order i, k, j"
// expect = "none"
// [[i-k-j.edits]]
// find = "for (int j = 0; j < Bx; j++) {"
// replace = "for (int j = 0; j < Bx; j++) C[i * Bx + j] = 0;"
// [[i-k-j.edits]]
// find = "            C[i * Bx + j] = 0;\n"
// replace = "        for (int k = 0; k < Ax; k++) {\n"
// [[i-k-j.edits]]
// find = "for (int k = 0; k < Ax; k++)"
// replace = "for (int j = 0; j < Bx; j++)"
//
// [j-i-k]
// title = "With the loops in the order j, i, k"
// find = "for (int i = 0; i < Ay; i++) {\n        for (int j = 0; j < Bx; j++) {"
// replace = "for (int j = 0; j < Bx; j++) {\n        for (int i = 0; i < Ay; i++) {"
// expect = "none"
// ---
