// ---gemmviz
// version = 2
// title  = "CPU loops, restrict"
// idea   = "The same loops; restrict promises that C overlaps neither A nor B, so that the compiler may keep C[i,j] in a register."
// source = "S0"
// alias  = "hostmult1"
// entry  = "hostmult1"
// args   = ["C", "A", "B", "M", "K", "N"]
// demo   = { size = 8, thread = [0, 0], stop = { share = 0.012 }, lens = "thread tile" }
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

// ---gemmviz breaks
// [no-restrict]
// title = "Without restrict"
// find = "float *restrict C, const float *restrict A, const float *restrict B"
// replace = "float *C, const float *A, const float *B"
// expect = "none"
//
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
