// Weights with outputs side by side: AWQ, whose words hold eight outputs of a column, and GPTQ, whose words hold the
// columns of an output. A column of a single tile is a small part of a stored row, so few rows of activations are
// multiplied with many tiles at once, in the order of memory.
#pragma once
#include "few.h"

/// Where the nibbles of eight outputs are in AWQ's words, as shifts; twice, so that any four of them follow each other.
static const uint32_t awq_shifts[16] = {0, 16, 4, 20, 8, 24, 12, 28, 0, 16, 4, 20, 8, 24, 12, 28};
static const uint32_t plain_shifts[16] = {0, 4, 8, 12, 16, 20, 24, 28, 0, 4, 8, 12, 16, 20, 24, 28};

enum {
    TURNED_AHEAD = 64,   ///< stored rows
    STRIP_AHEAD = 2 << 10, ///< bytes of a stored row
};
/// GPTQ: what a tile reads of a stored row is about a line of memory, and far from what it reads of the next row: no
/// processor guesses that. So rows are asked for before their turn, and after a tile's last one those of the next tile.
INLINE void ask(const hub_matrix *m, size_t row, size_t rows, size_t output) {
    const size_t ahead = row + TURNED_AHEAD, over = ahead < rows ? 0 : rows;
    const uint8_t *at = (const uint8_t *)m->weights + (ahead - over) * m->stride + output * 4;
    __builtin_prefetch(over ? at + LANES * 4 : at, 0, 3);
}

/// For each lane's output its nibble of a row of words, with what is beside it.
INLINE vu output_nibbles(const uint8_t *row, size_t output, const uint32_t shifts[16]) {
    vu words, shift;
    const uint8_t *at = row + output / 8 * 4;
#if LANES == 16
    vu low = (vu)hub_load_u32(at), high = (vu)hub_load_u32(at + 4);
    words = __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
#else
    words = (vu)hub_load_u32(at);
#endif
    memcpy(&shift, shifts + output % 8, sizeof shift);
    return words >> shift;
}

/// The scales of as many outputs as there are lanes, and what their zeros add.
INLINE void turned_scales(
    const hub_matrix *m, size_t output, size_t group, const uint32_t shifts[16], const int bits, vf *d, vf *least) {
    typedef uint8_t bytes __attribute__((ext_vector_type(LANES)));
    const uint8_t *zeros = (const uint8_t *)m->zeros + group * m->zero_stride;
    const uint8_t *scales = (const uint8_t *)m->scales + group * m->group_stride;
    vu zero;
    if (bits == 8) {
        bytes b;
        memcpy(&b, zeros + output, sizeof b);
        zero = __builtin_convertvector(b, vu);
    } else {
        zero = output_nibbles(zeros, output, shifts);
    }
    zero = (zero + (uint32_t)m->zero_less) & (uint32_t)((1 << bits) - 1);
    *d = load_numbers(m->scale_format, scales + output * (m->scale_format == HUB_F32 ? 4 : 2));
    *least = *d * FLOATS((bits == 8 ? 128 : 0) - (vi)zero);
}

/// Asks for the scales and zeros of a group, of `outputs` outputs.
INLINE void ask_scales(const hub_matrix *m, size_t group, size_t output, size_t outputs) {
    const size_t number = m->scale_format == HUB_F32 ? 4 : 2;
    prefetch((const uint8_t *)m->scales + group * m->group_stride + output * number, outputs * number);
    prefetch((const uint8_t *)m->zeros + group * m->zero_stride + output * m->bits / 8, outputs * m->bits / 8);
}

INLINE size_t group_of(const hub_matrix *m, size_t block) { return (uint32_t)(block * HUB_BLOCK) / m->group; }

// MARK: One tile

INLINE void unpack_AWQ(const hub_tile *t, size_t block, int part, const bool pieces, tile_raw *raw, tile_block *b) {
    const hub_matrix *m = t->matrix;
    const size_t output = m->first + t->row;
    const uint8_t *row = (const uint8_t *)m->weights + block * HUB_BLOCK * m->stride;
    UNROLL for (int c = 0; c < 8; c++) {
        b->w[c] = (vu)0u;
        UNROLL for (int i = 0; i < 4; i++, row += m->stride)
            b->w[c] |= (output_nibbles(row, output, awq_shifts) & 15u) << (unsigned)(8 * i);
    }
    turned_scales(m, output, group_of(m, block), awq_shifts, 4, &b->d[0], &b->m[0]);
}

/// A row of words, one for each lane.
INLINE vu load_row(const hub_matrix *m, size_t row, size_t output) {
    vu v;
    memcpy(&v, (const uint8_t *)m->weights + row * m->stride + output * 4, sizeof v);
    return v;
}

INLINE void unpack_GPTQ4(const hub_tile *t, size_t block, int part, const bool pieces, tile_raw *raw, tile_block *b) {
    const size_t output = t->matrix->first + t->row;
    UNROLL for (int c = 0; c < 8; c++) {
        if (c % 2 == 0) ask(t->matrix, block * 4 + (size_t)c / 2, t->blocks * 4, output);
        vu x = load_row(t->matrix, block * 4 + (size_t)c / 2, output) >> (unsigned)(c % 2 * 16) & 0xFFFFu;
        x = (x | x << 8) & 0x00FF00FFu;
        b->w[c] = (x | x << 4) & 0x0F0F0F0Fu;
    }
    turned_scales(t->matrix, output, group_of(t->matrix, block), plain_shifts, 4, &b->d[0], &b->m[0]);
}

/// Signed bytes with an offset of 128, as MLX8.
INLINE void unpack_GPTQ8(const hub_tile *t, size_t block, int part, const bool pieces, tile_raw *raw, tile_block *b) {
    const size_t output = t->matrix->first + t->row;
    UNROLL for (int c = 0; c < 8; c++) {
        ask(t->matrix, block * 8 + (size_t)c, t->blocks * 8, output);
        b->w[c] = load_row(t->matrix, block * 8 + (size_t)c, output);
    }
    turned_scales(t->matrix, output, group_of(t->matrix, block), plain_shifts, 8, &b->d[0], &b->m[0]);
}

/// What the columns of a group share.
typedef struct {
    vf d, zero;
} tile_group;
/// Groups of a tile that are kept behind its widened columns.
enum { KEPT_GROUPS = (HUB_SCRATCH - HUB_CHUNK * sizeof(vf)) / sizeof(tile_group) };

INLINE tile_group load_group(const hub_tile *t, size_t group, const int bits, const bool is_awq) {
    const hub_matrix *m = t->matrix;
    const size_t output = m->first + t->row;
    const uint8_t *scales = (const uint8_t *)m->scales + group * m->group_stride;
    vi zero;
    if (bits == 4) {
        const uint8_t *zeros = (const uint8_t *)m->zeros + group * m->zero_stride;
        zero = (vi)((output_nibbles(zeros, output, is_awq ? awq_shifts : plain_shifts) + m->zero_less) & 15u);
    } else {
        UNROLL for (size_t lane = 0; lane < LANES; lane++) zero[lane] = hub_turned_zero(m, output + lane, group);
    }
    return (tile_group){load_numbers(m->scale_format, scales + output * (m->scale_format == HUB_F32 ? 4 : 2)), FLOATS(zero)};
}

/// Columns whose groups are in an order of their own, or have odd sizes or numbers of bits.
INLINE void widen_by_column(const hub_tile *t, size_t block, vf *out, const int bits, const bool is_awq) {
    const hub_matrix *m = t->matrix;
    const size_t output = m->first + t->row, from = block * HUB_BLOCK, groups = (m->columns + m->group - 1) / m->group;
    const size_t count = m->columns - from < HUB_BLOCK ? m->columns - from : HUB_BLOCK;
    const size_t rows = m->columns * (size_t)bits / 32;
    tile_group *known = (tile_group *)((vf *)t->scratch + HUB_CHUNK), own;
    const bool is_known = groups <= KEPT_GROUPS;
    for (size_t group = 0; block == 0 && is_known && group < groups; group++) known[group] = load_group(t, group, bits, is_awq);
    for (size_t i = 0; i < count; i++) {
        const size_t k = from + i, group = hub_group_at(m, k), bit = k * (size_t)bits, row = bit / 32, shift = bit % 32;
        vu v;
        if (is_awq) {
            v = output_nibbles((const uint8_t *)m->weights + k * m->stride, output, awq_shifts);
        } else {
            if (shift < (size_t)bits) ask(m, row, rows, output);
            v = load_row(m, row, output) >> (unsigned)shift;
            if (32 % bits && shift + (size_t)bits > 32) v |= load_row(m, row + 1, output) << (unsigned)(32 - shift);
        }
        if (!is_known) own = load_group(t, group, bits, is_awq);
        const tile_group *g = is_known ? &known[group] : &own;
        out[i] = g->d * (FLOATS(v & ((1u << bits) - 1)) - g->zero);
    }
}
#define BY_COLUMN(NAME, BITS, IS_AWQ)                                                                                  \
    INLINE void widen_column_##NAME(const hub_tile *t, size_t block, vf *out) {                                        \
        widen_by_column(t, block, out, BITS, IS_AWQ);                                                                  \
    }
BY_COLUMN(AWQ, 4, true)
BY_COLUMN(2, 2, false)
BY_COLUMN(3, 3, false)
BY_COLUMN(4, 4, false)
BY_COLUMN(8, 8, false)

// MARK: Many tiles

/// What of a block's activations every output needs.
typedef struct {
    uint32_t x[3][8];
    float scale[3], sum[3];
    int32_t negated[3];
} strip_block;

INLINE void load_activations(const int n, const hub_panel *panel, size_t block, const bool alternates, strip_block *s) {
    typedef int8_t all __attribute__((ext_vector_type(HUB_BLOCK)));
    UNROLL for (int i = 0; i < n; i++) {
        const size_t at = block * panel->width + (size_t)i;
        all v;
        memcpy(&v, panel->q + at * HUB_BLOCK, sizeof v);
        // GPTQ's words: even columns are the lower nibbles, odd ones the upper.
        if (alternates)
            v = __builtin_shufflevector(
                v, v, 0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15, 16, 18, 20, 22, 17, 19, 21, 23, 24, 26, 28, 30,
                25, 27, 29, 31);
        memcpy(s->x[i], &v, sizeof v);
        s->scale[i] = panel->scales[at];
        s->sum[i] = panel->sums[at];
        s->negated[i] = panel->negated[at];
    }
}

INLINE vf add_block(vi sum, vf d, vf least, float scale, float weighted, vf total) {
    total = FMA(d, FLOATS(sum) * (vf)scale, total);
    return FMA(least, (vf)weighted, total);
}

/// GPTQ: adds the products of some blocks that share their scales, for every tile of a strip.
INLINE void gptq_blocks(const int n, const hub_tile *t, const int bits, size_t block, const int count) {
    const hub_matrix *m = t->matrix;
    const size_t output = m->first + t->row, tiles = t->tiles;
    const int each = bits;  // stored rows of a block
    vf *sums = (vf *)t->sums, *d = t->scratch, *least = d + tiles;
    strip_block x[2];
    UNROLL for (int b = 0; b < count; b++) load_activations(n, t->panels, block + (size_t)b, bits == 4, &x[b]);
    for (size_t tile = 0; tile < tiles; tile++) {
        const uint8_t *at = (const uint8_t *)m->weights + block * (size_t)each * m->stride + (output + tile * LANES) * 4;
        vf total[3];
        UNROLL for (int i = 0; i < n; i++) total[i] = sums[tile * (size_t)n + (size_t)i];
        UNROLL for (int b = 0; b < count; b++) {
            vi low[3], high[3];
            UNROLL for (int i = 0; i < n; i++) {
                low[i] = bits == 8 ? start(x[b].negated[i], 128) : (vi)0;
                high[i] = (vi)0;
            }
            UNROLL for (int r = 0; r < each; r++, at += m->stride) {
                __builtin_prefetch(at + STRIP_AHEAD, 0, 2);
                vu v;
                memcpy(&v, at, sizeof v);
                UNROLL for (int i = 0; i < n; i++) {
                    if (bits == 8) {
                        vi *sum = r % 2 ? &high[i] : &low[i];
                        *sum = products(*sum, v, (vu)x[b].x[i][r], 128);
                    } else {
                        low[i] = dot(low[i], v & 0x0F0F0F0Fu, (vu)x[b].x[i][2 * r]);
                        high[i] = dot(high[i], v >> 4 & 0x0F0F0F0Fu, (vu)x[b].x[i][2 * r + 1]);
                    }
                }
            }
            UNROLL for (int i = 0; i < n; i++)
                total[i] = add_block(low[i] + high[i], d[tile], least[tile], x[b].scale[i], x[b].sum[i], total[i]);
        }
        UNROLL for (int i = 0; i < n; i++) sums[tile * (size_t)n + (size_t)i] = total[i];
    }
}

/// GPTQ: the products of `t->tiles` tiles with `n` rows of activations.
INLINE void gptq_strip(const int n, const hub_tile *t, const int bits) {
    const hub_matrix *m = t->matrix;
    const size_t output = m->first + t->row, tiles = t->tiles;
    vf *sums = (vf *)t->sums, *d = t->scratch, *least = d + tiles;
    for (size_t i = 0; i < tiles * (size_t)n; i++) sums[i] = (vf)0.0f;
    for (size_t block = 0, group = 0, left = 0, count; block < t->blocks; block += count, left -= count) {
        if (left == 0) {
            for (size_t tile = 0; tile < tiles; tile++)
                turned_scales(m, output + tile * LANES, group, plain_shifts, bits, d + tile, least + tile);
            left = m->group / HUB_BLOCK;
            group++;
            ask_scales(m, group, output, tiles * LANES);
        }
        // Two blocks at a time, for a total is far away.
        count = left > 1 && block + 1 < t->blocks ? 2 : 1;
        if (count == 2) gptq_blocks(n, t, bits, block, 2);
        else gptq_blocks(n, t, bits, block, 1);
    }
}

/// AWQ: eight tiles, whose words a vector holds. Vector 2j of the eight has the lower nibbles of every fourth word,
/// beginning with word j, 2j + 1 the upper ones; a lane is a byte of a word.
INLINE void awq_scales(const hub_matrix *m, size_t output, size_t group, vf d[8], vf least[8]) {
    // Bytes 4j to 4j + 3 as words; half words 0, 4, 1, 5, then 2, 6, 3, 7.
    static const uint8_t zero_index[4][16] = {
        {0, 128, 128, 128, 1, 128, 128, 128, 2, 128, 128, 128, 3, 128, 128, 128},
        {4, 128, 128, 128, 5, 128, 128, 128, 6, 128, 128, 128, 7, 128, 128, 128},
        {8, 128, 128, 128, 9, 128, 128, 128, 10, 128, 128, 128, 11, 128, 128, 128},
        {12, 128, 128, 128, 13, 128, 128, 128, 14, 128, 128, 128, 15, 128, 128, 128}};
    static const uint8_t scale_index[2][16] = {
        {0, 1, 128, 128, 8, 9, 128, 128, 2, 3, 128, 128, 10, 11, 128, 128},
        {4, 5, 128, 128, 12, 13, 128, 128, 6, 7, 128, 128, 14, 15, 128, 128}};
    const uint8_t *scales = (const uint8_t *)m->scales + group * m->group_stride + output * 2;
    vu zeros, halves[4];
    memcpy(&zeros, (const uint8_t *)m->zeros + group * m->zero_stride + output / 2, sizeof zeros);
    load_pieces(scales, 16, halves);
    UNROLL for (int j = 0; j < 4; j++) {
        vu both = shuffle(zeros, spread(zero_index[j]));
        UNROLL for (int nibble = 0; nibble < 2; nibble++) {
            vu bits = shuffle(halves[j], spread(scale_index[nibble]));
            vf scale = m->scale_format == HUB_F16 ? from_halves(bits) : (vf)(bits << 16);
            d[2 * j + nibble] = scale;
            least[2 * j + nibble] = scale * FLOATS(-(vi)(both >> (unsigned)(4 * nibble) & 15u));
        }
    }
}

/// The output of a lane of the eight vectors.
INLINE size_t awq_output(size_t vector, size_t lane) {
    static const uint8_t order[2][4] = {{0, 4, 1, 5}, {2, 6, 3, 7}};
    return (lane / 4 * 4 + vector / 2) * 8 + order[vector % 2][lane % 4];
}

/// AWQ: the products of `t->tiles` tiles, a multiple of eight, with `n` rows of activations.
INLINE void awq_strip(const int n, const hub_tile *t) {
    const hub_matrix *m = t->matrix;
    const size_t output = m->first + t->row, tiles = t->tiles;
    vf *d = t->scratch, *least = d + tiles, *totals = least + tiles;
    const uint8_t *start = (const uint8_t *)m->weights + output / 2;
    for (size_t i = 0; i < tiles * (size_t)n; i++) totals[i] = (vf)0.0f;
    for (size_t block = 0, group = 0, left = 0; block < t->blocks; block++, left--) {
        if (left == 0) {
            for (size_t tile = 0; tile < tiles; tile += 8)
                awq_scales(m, output + tile * LANES, group, d + tile, least + tile);
            left = m->group / HUB_BLOCK;
            group++;
            ask_scales(m, group, output, tiles * LANES);
        }
        strip_block x;
        load_activations(n, t->panels, block, false, &x);
        for (size_t tile = 0; tile < tiles; tile += 8) {
            const uint8_t *at = start + block * HUB_BLOCK * m->stride + tile * LANES / 2;
            vi sum[3][8];
            UNROLL for (int i = 0; i < n; i++) UNROLL for (int v = 0; v < 8; v++) sum[i][v] = (vi)0;
            UNROLL for (int quad = 0; quad < 8; quad++) {
                vu v[4];
                UNROLL for (int r = 0; r < 4; r++, at += m->stride) {
                    // Rows may lie so far apart that they share few places of the nearest cache.
                    __builtin_prefetch(at + HUB_BLOCK * m->stride, 0, 2);
                    memcpy(&v[r], at, sizeof v[r]);
                }
                mix(v);
                UNROLL for (int i = 0; i < n; i++) {
                    const vu four = (vu)x.x[i][quad];
                    UNROLL for (int j = 0; j < 4; j++) {
                        sum[i][2 * j] = dot(sum[i][2 * j], v[j] & 0x0F0F0F0Fu, four);
                        sum[i][2 * j + 1] = dot(sum[i][2 * j + 1], v[j] >> 4 & 0x0F0F0F0Fu, four);
                    }
                }
            }
            UNROLL for (int i = 0; i < n; i++)
                UNROLL for (int v = 0; v < 8; v++) {
                    vf *total = totals + (size_t)i * tiles + tile + (size_t)v;
                    *total = add_block(sum[i][v], d[tile + (size_t)v], least[tile + (size_t)v], x.scale[i], x.sum[i], *total);
                }
        }
    }
    for (size_t tile = 0; tile < tiles; tile++)
        for (size_t i = 0; i < (size_t)n; i++)
            for (size_t lane = 0; lane < LANES; lane++) {
                size_t place = awq_output(tile % 8, lane) + tile / 8 * 8 * LANES;
                t->sums[(place / LANES * (size_t)n + i) * LANES + place % LANES] = totals[i * tiles + tile][lane];
            }
}
