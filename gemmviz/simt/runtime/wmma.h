// What wmma.c tells other files of tensor cores.
#pragma once
#include "kernel_calls/wmma.h"

// Element i of a fragment's registers: an operand.
float gv_fragment_value(const gv_fragment *f, const void *registers, uint32_t i);
