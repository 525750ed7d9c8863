// The rows of the pieces that the threads of a warpgroup read for products of wgmma. They are kept for all threads
// together, when the last one has arrived: thread after thread, as if each had kept its own.
#pragma once
#include "wgmma_sums.h"
#include "wgmma_operands.h"

enum { GV_MOST_PRODUCTS = 8 /* that a thread postpones */ };

// Works out the pieces of the operands of product number `product`; an operand in registers has none. `pc`: of the
// reads of A; those of B have the address before.
void gv_rows_of_product(uint32_t product, const gv_wgmma_product *p, uintptr_t pc);

// Whether one of the rows from `first` on writes to an operand of the products from `from` to `end`.
int gv_operands_written(uint32_t from, uint32_t end, uint64_t first);

// Keeps the rows of the running thread for these products.
void gv_keep_rows_of_products(uint32_t from, uint32_t end);

// Keeps the rows of the running thread for one product, at once.
void gv_read_pieces(const gv_wgmma_product *p, uintptr_t pc);
