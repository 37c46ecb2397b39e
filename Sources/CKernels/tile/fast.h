// Products of a tile with rows of 8-bit activations.
#pragma once
#include "few.h"
#include "turned.h"

/// Adds the products of blocks with rows `first` to `first + n` of a panel to their sums.
INLINE void fast_rows(
    const int n, const tile_block *blocks, size_t from, size_t count, const hub_panel *panel, size_t first,
    const int offset, const bool has_halves, const bool has_minima, vf *sums) {
    vf total[HUB_PANEL];
    UNROLL for (int i = 0; i < n; i++) total[i] = sums[i];
    const size_t width = panel->width;
    size_t at = from * width + first;
    for (size_t block = 0; block < count; block++, blocks++, at += width) {
        const int8_t *q = panel->q + at * HUB_BLOCK;
        UNROLL for (int half = 0; half < (has_halves ? 2 : 1); half++) {
            const int32_t *negated = has_halves ? panel->half_negated + 2 * at + half : panel->negated + at;
            const float *weighted = has_halves ? panel->half_sums + 2 * at + half : panel->sums + at;
            const int step = has_halves ? 2 : 1, columns = has_halves ? 4 : 8;
            vi sum[HUB_PANEL];
            UNROLL for (int i = 0; i < n; i++) sum[i] = start(negated[step * i], offset);
            UNROLL for (int c = half * columns; c < half * columns + columns; c++) {
                vu w = blocks->w[c];
                UNROLL for (int i = 0; i < n; i++) sum[i] = products(sum[i], w, same_four(q + i * HUB_BLOCK + 4 * c), offset);
            }
            UNROLL for (int i = 0; i < n; i++) {
                total[i] = FMA(blocks->d[half], FLOATS(sum[i]) * (vf)panel->scales[at + (size_t)i], total[i]);
                if (has_minima) total[i] = FMA(blocks->m[half], (vf)weighted[step * i], total[i]);
            }
        }
    }
    UNROLL for (int i = 0; i < n; i++) sums[i] = total[i];
}

INLINE void fast_many(const hub_tile *t, unpacking *unpack, const int parts, int offset, bool has_halves, bool has_minima) {
    vf *sums = (vf *)t->sums;
    tile_block *run = t->scratch;
    const uint8_t *next = (const uint8_t *)t->matrix->weights + t->row * t->matrix->stride + t->ahead;
    for (size_t row = 0; row < t->count; row++) sums[row] = (vf)0.0f;
    for (size_t from = 0; from < t->blocks; from += HUB_RUN / HUB_BLOCK) {
        size_t count = t->blocks - from < HUB_RUN / HUB_BLOCK ? t->blocks - from : HUB_RUN / HUB_BLOCK;
        for (size_t block = 0; block < count; block += (size_t)parts) {
            tile_raw raw;
            prefetch(next + (from + block) * t->block_bytes, t->block_bytes * (size_t)parts);
            UNROLL for (int part = 0; part < parts; part++)
                unpack(t, from + block, part, false, &raw, &run[block + (size_t)part]);
        }
        const hub_panel *panel = t->panels;
        for (size_t row = 0; row < t->count; row += HUB_PANEL, panel++) {
            size_t i = 0;
            for (; i + MANY_ROWS <= panel->width; i += MANY_ROWS)
                fast_rows(MANY_ROWS, run, from, count, panel, i, offset, has_halves, has_minima, sums + row + i);
            if (MANY_ROWS > 8 && i + 8 <= panel->width) {
                fast_rows(8, run, from, count, panel, i, offset, has_halves, has_minima, sums + row + i);
                i += 8;
            }
            if (MANY_ROWS > 4 && i + 4 <= panel->width) {
                fast_rows(4, run, from, count, panel, i, offset, has_halves, has_minima, sums + row + i);
                i += 4;
            }
            for (; i < panel->width; i++)
                fast_rows(1, run, from, count, panel, i, offset, has_halves, has_minima, sums + row + i);
        }
    }
}

INLINE void fast_tile(
    const hub_tile *t, unpacking *unpack, const size_t bytes, const int parts, int offset, bool has_halves, bool has_minima,
    bool alternates) {
    switch (t->count) {
    case 1: fast_few(1, t, unpack, bytes, parts, offset, has_halves, has_minima, alternates); return;
    case 2: fast_few(2, t, unpack, bytes, parts, offset, has_halves, has_minima, alternates); return;
    case 3: fast_few(3, t, unpack, bytes, parts, offset, has_halves, has_minima, alternates); return;
    default: fast_many(t, unpack, parts, offset, has_halves, has_minima); return;
    }
}

#define FAST(NAME, PARTS, OFFSET, HALVES, MINIMA)                                                                      \
    static void fast_##NAME(const hub_tile *t) {                                                                       \
        fast_tile(t, unpack_##NAME, BYTES_##NAME, PARTS, OFFSET, HALVES, MINIMA, false);                               \
    }
#define HUB_BLOCKS(NAME, ggml, block, bytes, offset, halves, minima) FAST(NAME, (block) / HUB_BLOCK, offset, halves, minima)
#include "../include/hub_formats.def"
static void fast_MXFP4_APART(const hub_tile *t) { fast_tile(t, unpack_MXFP4_APART, BYTES_MXFP4_APART, 1, 12, false, false, true); }
FAST(MLX8, 1, 128, false, true)
FAST(MLXn, 1, 0, false, true)
static void fast_MLX(const hub_tile *t) {
    // A group of 64 or more has one scale for two blocks.
    if (t->matrix->bits == 4 && t->matrix->group % 64 == 0) fast_tile(t, unpack_MLX4, BYTES_MLX4, 2, 0, false, true, true);
    else if (t->matrix->bits == 4) fast_tile(t, unpack_MLX4, BYTES_MLX4, 1, 0, false, true, true);
    else if (t->matrix->bits == 8) fast_MLX8(t);
    else fast_MLXn(t);
}

static void fast_NVFP4_APART(const hub_tile *t) {
    if (t->matrix->columns % 256 == 0) fast_tile(t, unpack_NVFP4_APART_8, BYTES_NVFP4_APART, 8, 12, true, false, true);
    else fast_tile(t, unpack_NVFP4_APART, BYTES_NVFP4_APART, 1, 12, true, false, true);
}
static void fast_INT8(const hub_tile *t) {
    // Scales of whole rows, as usual, are read once for eight blocks.
    if (t->matrix->columns % 256 == 0 && t->matrix->group % 256 == 0) fast_tile(t, unpack_INT8, BYTES_INT8, 8, 128, false, false, false);
    else fast_tile(t, unpack_INT8, BYTES_INT8, 1, 128, false, false, false);
}

static void fast_AWQ(const hub_tile *t) {
    hub_tile strip = *t;
    strip.tiles = t->count <= HUB_FEW && t->matrix->scale_format != HUB_F32 ? t->tiles / 8 * 8 : 0;
    if (strip.tiles > 0) {
        switch (t->count) {
        case 1: awq_strip(1, &strip); break;
        case 2: awq_strip(2, &strip); break;
        default: awq_strip(3, &strip); break;
        }
    }
    // The tiles that are left.
    hub_tile one = *t;
    for (size_t tile = strip.tiles; tile < t->tiles; tile++) {
        one.row = t->row + tile * LANES;
        one.sums = t->sums + tile * t->count * LANES;
        fast_many(&one, unpack_AWQ, 1, 0, false, true);
    }
}
INLINE void fast_gptq(const hub_tile *t, unpacking *unpack, const int bits) {
    switch (t->count) {
    case 1: gptq_strip(1, t, bits); return;
    case 2: gptq_strip(2, t, bits); return;
    case 3: gptq_strip(3, t, bits); return;
    default: fast_many(t, unpack, 1, bits == 8 ? 128 : 0, false, true); return;
    }
}
static void fast_GPTQ(const hub_tile *t) {
    if (t->matrix->bits == 8) fast_gptq(t, unpack_GPTQ8, 8);
    else fast_gptq(t, unpack_GPTQ4, 4);
}
