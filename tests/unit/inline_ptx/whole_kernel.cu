// ---gemmviz
// entry = "sgemm_edges"
// args = ["A", "B", "C", "M", "N", "K"]
// block = [8, 8]
// grid = ["(N + 7) // 8", "(M + 7) // 8"]
// capability = "8.0"
// ---
// The whole kernel is one asm statement: indices, loop, and an early end of the threads at the edges. Its registers are
// not called %r: in this block they would hide those of the compiler, which the operands are.
__global__ void sgemm_edges(const float *A, const float *B, float *C, int M, int N, int K)
{
    asm volatile("{\n"
                 "  .reg .pred  %%outside<3>, %%more;\n"
                 "  .reg .b32   %%i<8>;\n"
                 "  .reg .b64   %%a, %%b, %%c, %%step, %%at;\n"
                 "  .reg .f32   %%x, %%y, %%sum;\n"
                 "  mov.u32         %%i0, %%ctaid.x;\n"
                 "  mov.u32         %%i1, %%ntid.x;\n"
                 "  mov.u32         %%i2, %%tid.x;\n"
                 "  mad.lo.s32      %%i3, %%i0, %%i1, %%i2;      // column\n"
                 "  mov.u32         %%i0, %%ctaid.y;\n"
                 "  mov.u32         %%i1, %%ntid.y;\n"
                 "  mov.u32         %%i2, %%tid.y;\n"
                 "  mad.lo.s32      %%i4, %%i0, %%i1, %%i2;      // row\n"
                 "  setp.ge.s32     %%outside0, %%i3, %4;\n"
                 "  @%%outside0 exit;\n"
                 "  setp.ge.s32     %%outside1, %%i4, %3;\n"
                 "  @%%outside1 bra $L_end;\n"
                 "  mul.lo.s32      %%i5, %%i4, %5;\n"
                 "  mad.wide.s32    %%a, %%i5, 4, %0;\n"
                 "  mad.wide.s32    %%b, %%i3, 4, %1;\n"
                 "  mul.wide.s32    %%step, %4, 4;\n"
                 "  mov.f32         %%sum, 0f00000000;\n"
                 "  mov.u32         %%i6, 0;\n"
                 "$L_loop:\n"
                 "  setp.lt.s32     %%more, %%i6, %5;\n"
                 "  @!%%more bra    $L_store;\n"
                 "  ld.global.nc.f32 %%x, [%%a];\n"
                 "  ld.global.nc.f32 %%y, [%%b];\n"
                 "  fma.rn.f32      %%sum, %%x, %%y, %%sum;\n"
                 "  add.s64         %%a, %%a, 4;\n"
                 "  add.s64         %%b, %%b, %%step;\n"
                 "  add.s32         %%i6, %%i6, 1;\n"
                 "  bra.uni         $L_loop;\n"
                 "$L_store:\n"
                 "  mad.lo.s32      %%i7, %%i4, %4, %%i3;\n"
                 "  mad.wide.s32    %%c, %%i7, 4, %2;\n"
                 "  st.global.f32   [%%c], %%sum;\n"
                 "$L_end:\n"
                 "  ret;\n"
                 "}" ::"l"(A),
                 "l"(B), "l"(C), "r"(M), "r"(N), "r"(K)
                 : "memory");
}
