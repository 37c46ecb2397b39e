// HQQ's words as tiles; the numbers are those of rows.h.
#pragma once
#include "exact.h"
#include "fast.h"

/// A tile whose rows lie side by side, as 32 columns of bytes do: their codes have the same place in a byte.
INLINE bool hqq_is_even(const hub_tile *t) {
    const hub_matrix *m = t->matrix;
    const size_t each = m->scale_rows * m->group / m->columns, first = m->first + t->row;
    return m->bits != 3 && m->scale_rows * m->group % m->columns == 0 && first / each == (first + LANES - 1) / each;
}

/// The codes of a block where they do not lie so, row by row.
static __attribute__((noinline)) void hqq_rows(const hub_tile *t, size_t block, uint8_t *rows) {
    for (size_t lane = 0; lane < LANES; lane++)
        for (size_t i = 0; i < HUB_BLOCK; i++)
            rows[lane * HUB_BLOCK + i] = (uint8_t)hub_hqq_code(t->matrix, hub_hqq_place(t->matrix, t->row + lane, block * HUB_BLOCK + i));
}

INLINE void hqq_codes(const hub_tile *t, size_t block, const bool pieces, tile_block *b) {
    const hub_matrix *m = t->matrix;
    uint8_t rows[LANES * HUB_BLOCK] __attribute__((aligned(64)));
    const uint8_t *at = rows;
    size_t stride = HUB_BLOCK;
    unsigned shift = 0;
    if (hqq_is_even(t)) {
        const size_t each = m->scale_rows * m->group / m->columns, row = m->first + t->row;
        at = (const uint8_t *)m->weights + row % each * m->columns + block * HUB_BLOCK;
        stride = m->columns;
        shift = 8 - m->bits * (unsigned)(row / each + 1);
    } else {
        hqq_rows(t, block, rows);
    }
    const uint32_t mask = ((1u << m->bits) - 1) * 0x01010101u;
    UNROLL for (size_t half = 0; half < 2; half++) {
        load_pieces(at + 16 * half, stride, b->w + 4 * half);
        if (!pieces) turn(b->w + 4 * half);
    }
    UNROLL for (int c = 0; c < 8; c++) b->w[c] = b->w[c] >> shift & mask;
}

/// The scales and minima of whole groups, which lie row by row.
INLINE void hqq_scales(const hub_tile *t, size_t block, tile_block *b) {
    hub_tile all = *t;
    all.row = t->matrix->first + t->row;
    b->d[0] = mlx_numbers(&all, t->matrix->scales, block);
    b->m[0] = -(mlx_numbers(&all, t->matrix->zeros, block) * b->d[0]);
}

INLINE void unpack_HQQ(const hub_tile *t, size_t block, int part, const bool pieces, tile_raw *raw, tile_block *b) {
    hqq_codes(t, block, pieces, b);
    hqq_scales(t, block, b);
}
/// As those of 8 bits of MLX.
INLINE void unpack_HQQ8(const hub_tile *t, size_t block, int part, const bool pieces, tile_raw *raw, tile_block *b) {
    unpack_HQQ(t, block, part, pieces, raw, b);
    b->m[0] = FMA((vf)128.0f, b->d[0], b->m[0]);
}

static void fast_HQQ(const hub_tile *t) {
    if (t->matrix->bits == 8) fast_tile(t, unpack_HQQ8, 0, 1, 128, false, true, false);
    else fast_tile(t, unpack_HQQ, 0, 1, 0, false, true, false);
}
WIDEN(HQQ, 1, 0, false, true)
WIDEN(HQQ8, 1, 128, false, true)
static void exact_HQQ(const hub_tile *t) {
    if (hub_goes_by_column(t->matrix)) exact_singly(t);
    else if (t->matrix->bits == 8) exact_tile(t, widen_HQQ8, HUB_BLOCK);
    else exact_tile(t, widen_HQQ, HUB_BLOCK);
}
