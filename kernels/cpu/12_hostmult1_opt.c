// ---gemmviz
// version = 2
// title  = "CPU loops, sum in a variable"
// idea   = "What restrict allows the compiler to do, written out: the sum lives in a variable, and C is written once per element."
// source = "S0"
// alias  = "hostmult1_opt"
// entry  = "hostmult1_opt"
// args   = ["C", "A", "B", "M", "K", "N"]
// demo   = { size = 8, thread = [0, 0], stop = { share = 0.012 } }
// ---

void hostmult1_opt(float *restrict C, const float *restrict A, const float *restrict B, int Ay, int Ax, int Bx)
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

// ---gemmviz breaks
// [sum-in-memory]
// title = "With the sum in C itself"
// expect = "none"
// [[sum-in-memory.edits]]
// find = "float sum = 0;"
// replace = "C[i * Bx + j] = 0;"
// [[sum-in-memory.edits]]
// find = "sum +="
// replace = "C[i * Bx + j] +="
// [[sum-in-memory.edits]]
// find = "C[i * Bx + j] = sum;"
//
// [one-step-too-many]
// title = "With one k-step too many"
// find = "k < Ax"
// replace = "k <= Ax"
// expect = "out of bounds"
//
// [j-i-k]
// title = "With the loops in the order j, i, k"
// find = "for (int i = 0; i < Ay; i++) {\n        for (int j = 0; j < Bx; j++) {"
// replace = "for (int j = 0; j < Bx; j++) {\n        for (int i = 0; i < Ay; i++) {"
// expect = "none"
// ---
