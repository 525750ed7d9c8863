// The pages of the columns, and of the further elements. New pages take as long as the rest of a recording: Linux gives
// 2 MiB at once in a sixth of the time, if it has such memory.
#pragma once
#include "running.h"
#include <stddef.h>

enum { GV_HUGE = 2 << 20, GV_MUCH = 512 << 10 /* bytes, for which a huge page takes less time than small ones */ };

// Before a run, and before each block or cluster.
void gv_pages_begin(void);
void gv_pages_block_begins(void);

// Prepares the next row with `more` further words, and ends the run if there is no room for it. Call it if the row or
// its words are behind gv_now.rows_room or gv_now.more_room; set both to 0 when the run's capacity changes.
void gv_next_pages(uint32_t more);

// Call it before the first turn is written: until then its column needs no pages.
void gv_pages_of_turns(void);

// For an array in private memory: asks for the next huge page if one is due in the elements from `first` up to `end`,
// of `bytes` bytes each. Returns how many elements lie before the next one.
uint64_t gv_prepare_pages(char *begin, uint32_t bytes, uint64_t first, uint64_t end, uint64_t capacity);

// New memory in huge pages, for a multiple of GV_HUGE bytes; NULL without memory.
char *gv_huge_memory(size_t bytes);
