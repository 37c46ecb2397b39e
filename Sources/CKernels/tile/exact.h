// Products of a tile with rows of float32 activations.
#pragma once
#include "fp8.h"
#include "rows.h"
#include "turned.h"

/// Dequantised columns of a tile.
typedef void widening(const hub_tile *t, size_t block, vf *out);

/// Adds the products of `count` columns of one tile, or of two side by side, with rows `first` to `first + n` of a panel to
/// their totals. Of two, an activation is read once for both.
///
/// - columns: a tile's, HUB_CHUNK before those of the next.
/// - totals: the rows', `apart` before those of the next tile.
INLINE void exact_rows(
    const int n, const int tiles, const vf *columns, size_t from, size_t count, const hub_panel *panel, size_t first,
    vf *totals, size_t apart) {
    const float *x = panel->values + from * panel->width + first;
    const size_t width = panel->width;
    if (n == 1) {
        // The chains side by side: alone, each would wait for its own last product.
        UNROLL for (int tile = 0; tile < tiles; tile++, columns += HUB_CHUNK, totals += apart) {
            vf sum[HUB_CHAINS];
            size_t k = 0;
            UNROLL for (int chain = 0; chain < HUB_CHAINS; chain++) sum[chain] = (vf)0.0f;
            for (; k + HUB_CHAINS <= count; k += HUB_CHAINS)
                UNROLL for (size_t c = 0; c < HUB_CHAINS; c++) sum[c] = FMA(columns[k + c], (vf)x[(k + c) * width], sum[c]);
            UNROLL for (size_t c = 0; c < HUB_CHAINS; c++) {
                if (k + c < count) sum[c] = FMA(columns[k + c], (vf)x[(k + c) * width], sum[c]);
                totals[0] += sum[c];
            }
        }
        return;
    }
    for (size_t chain = 0; chain < HUB_CHAINS; chain++) {
        vf sum[HUB_PANEL][2];
        UNROLL for (int i = 0; i < n; i++) UNROLL for (int tile = 0; tile < tiles; tile++) sum[i][tile] = (vf)0.0f;
        for (size_t k = chain; k < count; k += HUB_CHAINS) {
            vf w[2];
            UNROLL for (int tile = 0; tile < tiles; tile++) w[tile] = columns[(size_t)tile * HUB_CHUNK + k];
            UNROLL for (int i = 0; i < n; i++) {
                vf same = (vf)x[k * width + (size_t)i];
                UNROLL for (int tile = 0; tile < tiles; tile++) sum[i][tile] = FMA(w[tile], same, sum[i][tile]);
            }
        }
        UNROLL for (int i = 0; i < n; i++)
            UNROLL for (int tile = 0; tile < tiles; tile++) totals[(size_t)tile * apart + (size_t)i] += sum[i][tile];
    }
}

/// Adds a chunk's products of one tile, or of two side by side, from `t->row` on, to their totals.
INLINE void exact_chunk(
    const hub_tile *t, widening *widen, const size_t step, const int tiles, size_t from, size_t count, vf *sums) {
    const int many = tiles == 2 ? PAIR_ROWS : MANY_ROWS;
    vf *columns = t->scratch;
    const uint8_t *next = (const uint8_t *)t->matrix->weights + t->row * t->matrix->stride + t->ahead;
    hub_tile one = *t;
    for (int tile = 0; tile < tiles; tile++, one.row += LANES) {
        const size_t place = (size_t)tile * t->blocks + from / HUB_BLOCK;
        prefetch(next + place * t->block_bytes, count / HUB_BLOCK * t->block_bytes);
        for (size_t k = 0; k < count; k += step)
            widen(&one, (from + k) / HUB_BLOCK, columns + (size_t)tile * HUB_CHUNK + k);
    }
    const hub_panel *panel = t->panels;
    for (size_t row = 0; row < t->count; row += HUB_PANEL, panel++) {
        size_t i = 0;
        for (; i + (size_t)many <= panel->width; i += (size_t)many)
            exact_rows(many, tiles, columns, from, count, panel, i, sums + row + i, t->count);
        if (many > 4 && i + 4 <= panel->width) {
            exact_rows(4, tiles, columns, from, count, panel, i, sums + row + i, t->count);
            i += 4;
        }
        for (; i < panel->width; i++) exact_rows(1, tiles, columns, from, count, panel, i, sums + row + i, t->count);
    }
}

/// - step: columns that are widened at once.
INLINE void exact_tile(const hub_tile *t, widening *widen, const size_t step) {
    for (size_t row = 0; row < t->count; row++) ((vf *)t->sums)[row] = (vf)0.0f;
    for (size_t from = 0; from < t->matrix->columns; from += HUB_CHUNK) {
        const size_t left = t->matrix->columns - from;
        exact_chunk(t, widen, step, 1, from, left < HUB_CHUNK ? left : HUB_CHUNK, (vf *)t->sums);
    }
}

/// Pairs of tiles, chunk by chunk, so that a chunk of the rows stays near while all of them read it.
INLINE void exact_pairs(const hub_tile *t, widening *widen) {
    for (size_t row = 0; row < t->count * t->tiles; row++) ((vf *)t->sums)[row] = (vf)0.0f;
    for (size_t from = 0; from < t->matrix->columns; from += HUB_CHUNK) {
        const size_t left = t->matrix->columns - from;
        hub_tile two = *t;
        for (size_t tile = 0; tile < t->tiles; tile += 2, two.row += 2 * LANES)
            exact_chunk(&two, widen, HUB_BLOCK, 2, from, left < HUB_CHUNK ? left : HUB_CHUNK, (vf *)t->sums + tile * t->count);
    }
}

INLINE void widen_unit(
    const hub_tile *t, size_t block, vf *out, unpacking *unpack, const int parts, int offset, bool halves, bool minima) {
    tile_raw raw;
    UNROLL for (int part = 0; part < parts; part++, out += HUB_BLOCK) {
        tile_block b;
        unpack(t, block, part, false, &raw, &b);
        UNROLL for (int c = 0; c < 8; c++) {
            vf d = b.d[halves ? c / 4 : 0], m = minima ? b.m[halves ? c / 4 : 0] : (vf)0.0f;
            UNROLL for (int i = 0; i < 4; i++)
                out[4 * c + i] = FMA(d, FLOATS((vi)(b.w[c] >> (unsigned)(8 * i) & 255u) - offset), m);
        }
    }
}

#define WIDEN(NAME, PARTS, OFFSET, HALVES, MINIMA)                                                                     \
    INLINE void widen_##NAME(const hub_tile *t, size_t block, vf *out) {                                               \
        widen_unit(t, block, out, unpack_##NAME, PARTS, OFFSET, HALVES, MINIMA);                                       \
    }
#define EXACT(NAME, PARTS) static void exact_##NAME(const hub_tile *t) { exact_tile(t, widen_##NAME, (PARTS) * HUB_BLOCK); }
#define HUB_BLOCKS(NAME, ggml, block, bytes, offset, halves, minima)                                                   \
    WIDEN(NAME, (block) / HUB_BLOCK, offset, halves, minima)                                                           \
    EXACT(NAME, (block) / HUB_BLOCK)
#include "../include/hub_formats.def"
WIDEN(MXFP4_APART, 1, 12, false, false)
EXACT(MXFP4_APART, 1)
WIDEN(MLX8, 1, 128, false, true)
WIDEN(MLX4, 1, 0, false, true)
WIDEN(MLXn, 1, 0, false, true)
WIDEN(NVFP4_APART, 1, 12, true, false)
WIDEN(INT8, 1, 128, false, false)
WIDEN(AWQ, 1, 0, false, true)
WIDEN(GPTQ4, 1, 0, false, true)
WIDEN(GPTQ8, 1, 128, false, true)
static void exact_AWQ(const hub_tile *t) {
    if (hub_goes_by_column(t->matrix)) exact_tile(t, widen_column_AWQ, HUB_BLOCK);
    else exact_tile(t, widen_AWQ, HUB_BLOCK);
}
static void exact_GPTQ(const hub_tile *t) {
    const int bits = t->matrix->bits;
    if (!hub_goes_by_column(t->matrix)) {
        if (bits == 8) exact_tile(t, widen_GPTQ8, HUB_BLOCK);
        else exact_tile(t, widen_GPTQ4, HUB_BLOCK);
    } else if (bits == 2) exact_tile(t, widen_column_2, HUB_BLOCK);
    else if (bits == 3) exact_tile(t, widen_column_3, HUB_BLOCK);
    else if (bits == 4) exact_tile(t, widen_column_4, HUB_BLOCK);
    else exact_tile(t, widen_column_8, HUB_BLOCK);
}
/// - blocks: that share a scale.
INLINE void widen_table4(const hub_tile *t, size_t block, vf *out, const size_t blocks) {
    float table[16];
    memcpy(table, t->matrix->table, sizeof table);
    vf d;
    UNROLL for (size_t lane = 0; lane < LANES; lane++) d[lane] = hub_table_scale(t->matrix, t->row + lane, block * HUB_BLOCK);
    UNROLL for (size_t i = 0; i < blocks; i++, out += HUB_BLOCK) {
        vu v[4];
        load_words(t, place(t, block + i, 16), v);
        UNROLL for (int c = 0; c < HUB_BLOCK; c++)
            out[c] = look_up(table, v[c / 8] >> (unsigned)(c % 8 / 2 * 8 + (c % 2 ? 0 : 4)) & 15u) * d;
    }
}
INLINE void widen_TABLE4(const hub_tile *t, size_t block, vf *out) { widen_table4(t, block, out, 1); }
INLINE void widen_TABLE4_2(const hub_tile *t, size_t block, vf *out) { widen_table4(t, block, out, 2); }
/// Integers by row: what the columns of a group share.
INLINE tile_group row_group(const hub_tile *t, size_t group) {
    const hub_matrix *m = t->matrix;
    const size_t groups = m->columns / m->group;
    tile_group shared;
    for (size_t lane = 0; lane < LANES; lane++) {
        shared.d[lane] = hub_scale_at(m->scale_format, m->scales, (t->row + lane) * groups + group);
        shared.zero[lane] = (float)hub_row_zero(m, t->row + lane, group);
    }
    return shared;
}

/// Columns of such integers whose groups have an order of their own.
INLINE void widen_ordered(const hub_tile *t, size_t block, vf *out) {
    const hub_matrix *m = t->matrix;
    const size_t groups = m->columns / m->group;
    tile_group *known = (tile_group *)((vf *)t->scratch + HUB_CHUNK);
    for (size_t group = 0; block == 0 && groups <= KEPT_GROUPS && group < groups; group++) known[group] = row_group(t, group);
    tile_block b;
    if (m->bits == 4) paired_nibbles(t, mlx_bits(t, block), false, &b);
    else mlx_block(t, block, false, &b);
    for (size_t i = 0; i < HUB_BLOCK; i++) {
        const size_t group = hub_group_at(m, block * HUB_BLOCK + i);
        const tile_group own = groups <= KEPT_GROUPS ? known[group] : row_group(t, group);
        out[i] = own.d * (FLOATS(b.w[i / 4] >> (unsigned)(i % 4 * 8) & 255u) - own.zero);
    }
}
static void exact_ordered(const hub_tile *t) { exact_tile(t, widen_ordered, HUB_BLOCK); }

/// Weights one by one, where rows end in the midst of a block or groups do.
static __attribute__((noinline)) void widen_singly(const hub_tile *t, size_t block, vf *out) {
    const size_t from = block * HUB_BLOCK, left = t->matrix->columns - from, count = left < HUB_BLOCK ? left : HUB_BLOCK;
    for (size_t i = 0; i < count; i++)
        for (size_t lane = 0; lane < LANES; lane++) out[i][lane] = hub_single_weight(t->matrix, t->row + lane, from + i);
}
static void exact_singly(const hub_tile *t) { exact_tile(t, widen_singly, HUB_BLOCK); }
static void exact_NVFP4_APART(const hub_tile *t) {
    if (hub_goes_by_column(t->matrix)) exact_singly(t);
    else exact_tile(t, widen_NVFP4_APART, HUB_BLOCK);
}
static void exact_INT8(const hub_tile *t) {
    if (hub_goes_by_column(t->matrix)) exact_singly(t);
    else exact_tile(t, widen_INT8, HUB_BLOCK);
}
static void exact_TABLE4(const hub_tile *t) {
    const bool are_two = t->matrix->columns % (2 * HUB_BLOCK) == 0 && t->matrix->group % (2 * HUB_BLOCK) == 0;
    if (hub_goes_by_column(t->matrix)) exact_singly(t);
    else if (are_two) exact_tile(t, widen_TABLE4_2, 2 * HUB_BLOCK);
    else exact_tile(t, widen_TABLE4, HUB_BLOCK);
}
static void exact_MLX(const hub_tile *t) {
    const hub_matrix *m = t->matrix;
    if (hub_goes_by_column(m) && (m->group % HUB_BLOCK || m->columns % HUB_BLOCK)) exact_singly(t);
    else if (m->order) exact_ordered(t);
    else if (m->bits == 4) exact_tile(t, widen_MLX4, HUB_BLOCK);
    else if (m->bits == 8) exact_tile(t, widen_MLX8, HUB_BLOCK);
    else exact_tile(t, widen_MLXn, HUB_BLOCK);
}

/// A number of a float format.
INLINE float number(hub_format format, const uint8_t *at) {
    return format == HUB_F32 ? hub_load_f32(at) : format == HUB_F16 ? hub_load_f16(at) : hub_load_bf16(at);
}

/// Columns of a float format: from the rows' words, or one by one at the end of a row and where it is stored turned.
INLINE void widen_floats(const hub_tile *t, size_t block, vf *out, const hub_format format) {
    const hub_matrix *m = t->matrix;
    const size_t bytes = format == HUB_F32 ? 4 : 2, from = block * HUB_BLOCK;
    const size_t count = m->columns - from < HUB_BLOCK ? m->columns - from : HUB_BLOCK;
    const uint8_t *at = (const uint8_t *)m->weights;
    if (m->transposed) {
        for (size_t k = 0; k < count; k++)
            out[k] = load_numbers(format, at + (from + k) * m->stride + t->row * bytes);
        return;
    }
    at += t->row * m->stride + from * bytes;
    if (count < HUB_BLOCK) {
        for (size_t k = 0; k < count; k++)
            for (size_t lane = 0; lane < LANES; lane++) out[k][lane] = number(format, at + lane * m->stride + k * bytes);
        return;
    }
    UNROLL for (size_t word = 0; word < HUB_BLOCK * bytes; word += 16) {
        vu v[4];
        load_words(t, at + word, v);
        UNROLL for (int c = 0; c < 4; c++) {
            size_t k = word / bytes + (size_t)c * (4 / bytes);
            if (format == HUB_F32) out[k] = (vf)v[c];
            else if (format == HUB_BF16) {
                out[k] = (vf)(v[c] << 16);
                out[k + 1] = (vf)(v[c] & 0xFFFF0000u);
            } else {
                out[k] = from_halves(v[c] & 0xFFFFu);
                out[k + 1] = from_halves(v[c] >> 16);
            }
        }
    }
}
INLINE void widen_F32(const hub_tile *t, size_t block, vf *out) { widen_floats(t, block, out, HUB_F32); }
INLINE void widen_F16(const hub_tile *t, size_t block, vf *out) { widen_floats(t, block, out, HUB_F16); }
INLINE void widen_BF16(const hub_tile *t, size_t block, vf *out) { widen_floats(t, block, out, HUB_BF16); }
#define EXACT_FLOATS(NAME)                                                                                             \
    static void exact_##NAME(const hub_tile *t) {                                                                      \
        if (t->values) plain_tile(t, HUB_##NAME);                                                                      \
        else if (t->tiles > 1) exact_pairs(t, widen_##NAME);                                                           \
        else exact_tile(t, widen_##NAME, HUB_BLOCK);                                                                   \
    }
EXACT_FLOATS(F32)
EXACT_FLOATS(F16)
EXACT_FLOATS(BF16)
static void exact_FP8(const hub_tile *t) { fp8_tile(t); }
