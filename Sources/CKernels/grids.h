// Grids of GGUF's IQ types. A byte is a weight plus 64, so that its sign and an offset are applied at once: 64 - w is
// 128 - byte.
#pragma once
#include <stdint.h>

extern const uint64_t hub_iq2_xxs_grid[256], hub_iq2_xs_grid[512], hub_iq2_s_grid[1024];
extern const uint32_t hub_iq3_xxs_grid[256], hub_iq3_s_grid[512];
/// Of IQ1_S and IQ1_M, eight times as large: 8 g + 1, from which 2 is to be taken where a group is moved down.
extern const uint64_t hub_iq1_grid[2048];
