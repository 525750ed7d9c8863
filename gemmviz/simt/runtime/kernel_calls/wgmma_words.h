// A product of wgmma in the arguments of one call (gv_wgmma_of), as a structure would be written word by word, and each
// word is an access for the recorder: the bytes of each operand (next_bytes, group_bytes << 32), and the rest in these
// bits. Plain C.
#pragma once
enum {
    GV_WGMMA_N = 0,
    GV_WGMMA_TYPE_D = 9,
    GV_WGMMA_TYPE_A = 13,
    GV_WGMMA_TYPE_B = 17,
    GV_WGMMA_A_ACROSS = 21,
    GV_WGMMA_B_ACROSS = 22,
    GV_WGMMA_REGISTERS = 23, // the address of A is that of its registers
    GV_WGMMA_ROW_A = 24,     // in 16 bytes
    GV_WGMMA_ROW_B = 28,
    GV_WGMMA_ADD = 32,
};
