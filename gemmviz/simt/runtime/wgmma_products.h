// The products of wgmma.
#pragma once
#include "wgmma_operands.h"
#include "wgmma_sums.h"

// One thread's part of a product.
typedef struct {
    sums *d;
    const gv_wgmma_product *of;
} gv_wgmma_work;

// Call it before a block.
void gv_wgmma_products_begin(void);

// Makes products in their order, each of all threads.
void gv_multiply(const gv_wgmma_work *const all[][GV_WARPGROUP], uint32_t count);
