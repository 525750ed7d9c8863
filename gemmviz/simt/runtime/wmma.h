// Functions of wmma.c for the other files of the tensor cores.
#pragma once
#include "kernel_calls/wmma.h"

// The value of element i of an operand in the registers of a fragment.
float gv_fragment_value(const gv_fragment *f, const void *registers, uint32_t i);
