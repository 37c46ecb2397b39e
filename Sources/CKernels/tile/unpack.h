// Packed formats as tiles: 32 columns of as many rows as a vector has lanes. Each function gives the rows' unsigned
// bytes, from which an offset is to be taken, and each row's scale and minimum. The numbers are those of rows.h.
//
// The bytes come as words or as pieces. Words: vector w[c] has columns 4c to 4c + 3 of each row in the row's lane, ready
// for many rows of activations. Pieces: 16 bytes of a row stay together (load_pieces says which rows share a vector);
// w[0..3] have columns 0 to 15, w[4..7] columns 16 to 31 (MLX4, MXFP4_APART, NVFP4_APART: even and odd ones). Few rows of activations take less
// time to add up a row's words after the product than to turn all weights before it.
//
// A format is unpacked in units of some blocks: `block` is a unit's first, and `part` a block's place in it, a constant
// once the loop over parts is unrolled. What several parts share stays in `raw`, which part 0 fills.
//
// The including file defines LANES and the vector types, load_pieces, turn, spread and shuffle.
#pragma once
#include "scales.h"

typedef struct {
    vu w[8];
    vf d[2], m[2]; // the second of each only in formats whose halves differ
} tile_block;

typedef struct {
    vu head[4], q[16], high[8];
    vf d, m;
    tile_block unit[8]; // of types that are unpacked a block of 256 columns at a time
} tile_raw;

/// Where a block of `bytes` of the tile's first row begins.
INLINE const uint8_t *place(const hub_tile *t, size_t unit, size_t bytes) {
    return (const uint8_t *)t->matrix->weights + t->row * t->matrix->stride + unit * bytes;
}

/// 16 bytes of each row: vector c gets the rows' word c.
INLINE void load_words_at(const uint8_t *at, size_t stride, vu v[4]) {
    load_pieces(at, stride, v);
    turn(v);
}
INLINE void load_words(const hub_tile *t, const uint8_t *at, vu v[4]) { load_words_at(at, t->matrix->stride, v); }

/// 16 bytes of weights of each row, as pieces or as words.
INLINE void load_16(const hub_tile *t, const uint8_t *at, const bool pieces, vu v[4]) {
    load_pieces(at, t->matrix->stride, v);
    if (!pieces) turn(v);
}
/// 32 bytes of weights.
INLINE void load_32(const hub_tile *t, const uint8_t *at, const bool pieces, vu v[8]) {
    load_16(t, at, pieces, v);
    load_16(t, at + 16, pieces, v + 4);
}

/// 16 bytes of 32 nibbles, the first 16 columns in the lower ones.
INLINE void nibbles(const hub_tile *t, const uint8_t *at, const bool pieces, tile_block *b) {
    vu v[4];
    load_16(t, at, pieces, v);
    UNROLL for (int c = 0; c < 4; c++) {
        b->w[c] = v[c] & 0x0F0F0F0Fu;
        b->w[c + 4] = v[c] >> 4 & 0x0F0F0F0Fu;
    }
}

INLINE void unpack_Q4_0(const hub_tile *t, size_t block, int part, const bool pieces, tile_raw *raw, tile_block *b) {
    const uint8_t *at = place(t, block, 18);
    nibbles(t, at + 2, pieces, b);
    b->d[0] = gather_halves(at, t->matrix->stride);
}

/// A scale and a minimum.
INLINE void two_halves(const hub_tile *t, const uint8_t *at, tile_block *b) {
    vu both = gather_u32(at, t->matrix->stride);
    b->d[0] = from_halves(both & 0xFFFFu);
    b->m[0] = from_halves(both >> 16);
}

INLINE void unpack_Q4_1(const hub_tile *t, size_t block, int part, const bool pieces, tile_raw *raw, tile_block *b) {
    const uint8_t *at = place(t, block, 20);
    nibbles(t, at + 4, pieces, b);
    two_halves(t, at, b);
}

/// Bit c of a row's word becomes bit 4 of column c.
INLINE void fifth_bits(const hub_tile *t, const uint8_t *at, const bool pieces, tile_block *b) {
    if (pieces) {
        typedef uint8_t bytes __attribute__((ext_vector_type(4 * LANES)));
        static const uint8_t index[32] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1,
                                          2, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3};
        static const uint8_t bit[16] = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
        vu high[4];
        load_pieces(at, t->matrix->stride, high);
        UNROLL for (int c = 0; c < 8; c++) {
            bytes own = (bytes)(shuffle(high[c % 4], spread(index + c / 4 * 16)) & spread(bit));
            b->w[c] |= (vu)(own != 0) & 0x10101010u;
        }
        return;
    }
    vu high = gather_u32(at, t->matrix->stride);
    // The product puts bit i of a nibble into byte i.
    UNROLL for (int c = 0; c < 8; c++)
        b->w[c] |= ((high >> (unsigned)(4 * c) & 15u) * 0x00204081u & 0x01010101u) << 4;
}

INLINE void unpack_Q5_0(const hub_tile *t, size_t block, int part, const bool pieces, tile_raw *raw, tile_block *b) {
    const uint8_t *at = place(t, block, 22);
    nibbles(t, at + 6, pieces, b);
    fifth_bits(t, at + 2, pieces, b);
    b->d[0] = gather_halves(at, t->matrix->stride);
}

INLINE void unpack_Q5_1(const hub_tile *t, size_t block, int part, const bool pieces, tile_raw *raw, tile_block *b) {
    const uint8_t *at = place(t, block, 24);
    nibbles(t, at + 8, pieces, b);
    fifth_bits(t, at + 4, pieces, b);
    two_halves(t, at, b);
}

INLINE void unpack_Q8_0(const hub_tile *t, size_t block, int part, const bool pieces, tile_raw *raw, tile_block *b) {
    const uint8_t *at = place(t, block, 34);
    load_32(t, at + 2, pieces, b->w);
    UNROLL for (int c = 0; c < 8; c++) b->w[c] ^= 0x80808080u;
    b->d[0] = gather_halves(at, t->matrix->stride);
}

/// Byte i of a row's words.
INLINE vu byte(const vu *words, int i) { return words[i / 4] >> (unsigned)(8 * (i % 4)) & 255u; }

INLINE void unpack_Q2_K(const hub_tile *t, size_t block, int part, const bool pieces, tile_raw *raw, tile_block *b) {
    const uint8_t *at = place(t, block / 8, 84);
    if (part == 0) {
        vu last[4];
        load_words(t, at, raw->head);
        load_words(t, at + 68, last);
        raw->d = from_halves(last[3] & 0xFFFFu);
        raw->m = -from_halves(last[3] >> 16);
    }
    if (part % 4 == 0) load_32(t, at + 16 + 8 * part, pieces, raw->q);
    UNROLL for (int c = 0; c < 8; c++) b->w[c] = raw->q[c] >> (unsigned)(2 * (part % 4)) & 0x03030303u;
    UNROLL for (int half = 0; half < 2; half++) {
        vu s = byte(raw->head, 2 * part + half);
        b->d[half] = raw->d * FLOATS(s & 15u);
        b->m[half] = raw->m * FLOATS(s >> 4);
    }
}

INLINE void unpack_Q3_K(const hub_tile *t, size_t block, int part, const bool pieces, tile_raw *raw, tile_block *b) {
    const uint8_t *at = place(t, block / 8, 110);
    if (part == 0) {
        load_32(t, at, pieces, raw->high);
        // Two bytes before the 12 of the scales, and the scale of all.
        load_words(t, at + 94, raw->head);
        raw->d = from_halves(raw->head[3] >> 16);
    }
    if (part % 4 == 0) load_32(t, at + 32 + 8 * part, pieces, raw->q);
    UNROLL for (int c = 0; c < 8; c++)
        b->w[c] = (raw->q[c] >> (unsigned)(2 * (part % 4)) & 0x03030303u)
            | (raw->high[c] >> (unsigned)part & 0x01010101u) << 2;
    UNROLL for (int half = 0; half < 2; half++) {
        const int i = 2 * part + half;
        vu low = byte(raw->head, 2 + i % 8) >> (unsigned)(i < 8 ? 0 : 4) & 15u;
        vu two = byte(raw->head, 10 + i % 4) >> (unsigned)(2 * (i / 4)) & 3u;
        b->d[half] = raw->d * FLOATS((vi)(low | two << 4) - 32);
    }
}

/// The scales and minima of Q4_K and Q5_K, whose first 16 bytes are the head.
INLINE void k4_scales(const uint8_t *at, const hub_tile *t, int part, tile_raw *raw, tile_block *b) {
    if (part == 0) {
        load_words(t, at, raw->head);
        raw->d = from_halves(raw->head[0] & 0xFFFFu);
        raw->m = -from_halves(raw->head[0] >> 16);
    }
    vu scale, minimum;
    if (part < 4) {
        scale = byte(raw->head, 4 + part) & 63u;
        minimum = byte(raw->head, 8 + part) & 63u;
    } else {
        vu last = byte(raw->head, 8 + part);
        scale = (last & 15u) | byte(raw->head, part) >> 6 << 4;
        minimum = last >> 4 | byte(raw->head, 4 + part) >> 6 << 4;
    }
    b->d[0] = raw->d * FLOATS(scale);
    b->m[0] = raw->m * FLOATS(minimum);
}

/// The nibbles of an even block are the lower ones of 32 bytes, those of the odd one after it the upper ones.
INLINE void k4_nibbles(const uint8_t *at, const hub_tile *t, int part, const bool pieces, tile_raw *raw, vu *w) {
    if (part % 2 == 0) load_32(t, at + part * 16, pieces, raw->q);
    UNROLL for (int c = 0; c < 8; c++) w[c] = raw->q[c] >> (unsigned)(part % 2 * 4) & 0x0F0F0F0Fu;
}

INLINE void unpack_Q4_K(const hub_tile *t, size_t block, int part, const bool pieces, tile_raw *raw, tile_block *b) {
    const uint8_t *at = place(t, block / 8, 144);
    k4_scales(at, t, part, raw, b);
    k4_nibbles(at + 16, t, part, pieces, raw, b->w);
}

INLINE void unpack_Q5_K(const hub_tile *t, size_t block, int part, const bool pieces, tile_raw *raw, tile_block *b) {
    const uint8_t *at = place(t, block / 8, 176);
    k4_scales(at, t, part, raw, b);
    if (part == 0) load_32(t, at + 16, pieces, raw->high);
    k4_nibbles(at + 48, t, part, pieces, raw, b->w);
    UNROLL for (int c = 0; c < 8; c++) b->w[c] |= (raw->high[c] >> (unsigned)part & 0x01010101u) << 4;
}

INLINE void unpack_Q6_K(const hub_tile *t, size_t block, int part, const bool pieces, tile_raw *raw, tile_block *b) {
    const uint8_t *at = place(t, block / 8, 210);
    const int n = part / 4, j = part % 4;
    if (part == 0) {
        // The last 16 bytes: scales 2 to 15, and the scale of all.
        load_words(t, at + 194, raw->head);
        raw->d = from_halves(raw->head[3] >> 16);
    }
    if (j == 0) load_32(t, at + 128 + 32 * n, pieces, raw->high);
    // Parts 0 and 2 are nibbles of the same bytes, and so are parts 1 and 3.
    vu *low = raw->q + 8 * (j & 1);
    if (j < 2) load_32(t, at + 64 * n + 32 * j, pieces, low);
    UNROLL for (int c = 0; c < 8; c++)
        b->w[c] = (low[c] >> (unsigned)(4 * (j >> 1)) & 0x0F0F0F0Fu)
            | (raw->high[c] >> (unsigned)(2 * j) & 0x03030303u) << 4;
    vu first = part == 0 ? __builtin_convertvector(gather_u16(at + 192, t->matrix->stride), vu) : (vu)0u;
    UNROLL for (int half = 0; half < 2; half++) {
        vu s = part == 0 ? byte(&first, half) : byte(raw->head, 2 * part + half - 2);
        // A signed byte: up to the sign bit and back.
        b->d[half] = raw->d * FLOATS((vi)(s << 24) >> 24);
    }
}

/// The values of IQ4's 16 codes, plus 128.
static const uint8_t iq4_values[16] = {1, 24, 45, 63, 79, 93, 106, 118, 129, 141, 153, 166, 181, 197, 217, 241};

INLINE void iq4(const hub_tile *t, const uint8_t *at, const bool pieces, tile_block *b) {
    nibbles(t, at, pieces, b);
    UNROLL for (int c = 0; c < 8; c++) b->w[c] = shuffle(spread(iq4_values), b->w[c]);
}

INLINE void unpack_IQ4_NL(const hub_tile *t, size_t block, int part, const bool pieces, tile_raw *raw, tile_block *b) {
    const uint8_t *at = place(t, block, 18);
    iq4(t, at + 2, pieces, b);
    b->d[0] = gather_halves(at, t->matrix->stride);
}

INLINE void unpack_IQ4_XS(const hub_tile *t, size_t block, int part, const bool pieces, tile_raw *raw, tile_block *b) {
    const uint8_t *at = place(t, block / 8, 136);
    if (part == 0) {
        load_words(t, at, raw->head);
        raw->d = from_halves(raw->head[0] & 0xFFFFu);
    }
    iq4(t, at + 8 + 16 * part, pieces, b);
    vu low = raw->head[1] >> (unsigned)(4 * part) & 15u, high = raw->head[0] >> (unsigned)(16 + 2 * part) & 3u;
    b->d[0] = raw->d * FLOATS((vi)(low | high << 4) - 32);
}

/// The values of e2m1's 16 codes, twice as large, plus 12.
static const uint8_t fp4_values[16] = {12, 13, 14, 15, 16, 18, 20, 24, 12, 11, 10, 9, 8, 6, 4, 0};

INLINE void fp4(tile_block *b) {
    UNROLL for (int c = 0; c < 8; c++) b->w[c] = shuffle(spread(fp4_values), b->w[c]);
}

/// As hub_load_exponent.
INLINE vf exponents(vu e) {
    vu bits = e < (vu)2u ? (e + 1u) * 0x00200000u : (e - 1u) << 23;
    return (vf)bits;
}

INLINE void unpack_MXFP4(const hub_tile *t, size_t block, int part, const bool pieces, tile_raw *raw, tile_block *b) {
    const uint8_t *at = place(t, block, 17);
    nibbles(t, at + 1, pieces, b);
    fp4(b);
    b->d[0] = exponents(__builtin_convertvector(gather_u16(at, t->matrix->stride), vu) & 255u);
}

/// 16 bytes of 32 nibbles, two neighbouring columns in each.
INLINE void paired_nibbles(const hub_tile *t, const uint8_t *at, const bool pieces, tile_block *b) {
    vu v[4];
    load_16(t, at, pieces, v);
    UNROLL for (int c = 0; c < 8; c++) {
        if (pieces) {
            b->w[c] = v[c % 4] >> (unsigned)(c / 4 * 4) & 0x0F0F0F0Fu;
        } else {
            vu x = v[c / 2] >> (16 * (unsigned)(c % 2)) & 0xFFFFu;
            x = (x | x << 8) & 0x00FF00FFu;
            b->w[c] = (x | x << 4) & 0x0F0F0F0Fu;
        }
    }
}

INLINE void unpack_MXFP4_APART(
    const hub_tile *t, size_t block, int part, const bool pieces, tile_raw *raw, tile_block *b) {
    paired_nibbles(t, place(t, block, 16), pieces, b);
    fp4(b);
    const uint8_t *scales = (const uint8_t *)t->matrix->scales + t->row * t->blocks + block;
    vu e;
    UNROLL for (size_t lane = 0; lane < LANES; lane++) e[lane] = scales[lane * t->blocks];
    b->d[0] = exponents(e);
}

/// - parts: blocks of a unit, whose scales are read at once if they are eight.
INLINE void unpack_nvfp4_apart(const hub_tile *t, size_t block, int part, const int parts, const bool pieces, tile_raw *raw, tile_block *b) {
    paired_nibbles(t, place(t, block + (size_t)part, 16), pieces, b);
    fp4(b);
    const size_t stride = t->matrix->columns / 16;
    const uint8_t *scales = (const uint8_t *)t->matrix->scales + t->row * stride + 2 * block;
    vu both;
    if (parts == 8) {
        if (part == 0) load_words_at(scales, stride, raw->head);
        both = raw->head[part / 2] >> (unsigned)(part % 2 * 16);
    } else {
        both = __builtin_convertvector(gather_u16(scales, stride), vu);
    }
    UNROLL for (int half = 0; half < 2; half++, both >>= 8) {
        vf e4m3 = (vf)((both & 0x80u) << 24 | (both & 0x7Fu) << 20);
        b->d[half] = e4m3 * (vf)0x1p120f * (vf)(0.5f * t->matrix->factor);
    }
}
INLINE void unpack_NVFP4_APART(const hub_tile *t, size_t block, int part, const bool pieces, tile_raw *raw, tile_block *b) {
    unpack_nvfp4_apart(t, block, part, 1, pieces, raw, b);
}
INLINE void unpack_NVFP4_APART_8(const hub_tile *t, size_t block, int part, const bool pieces, tile_raw *raw, tile_block *b) {
    unpack_nvfp4_apart(t, block, part, 8, pieces, raw, b);
}

/// MLX's scales or biases of the tile's rows for a block.
INLINE vf mlx_numbers(const hub_tile *t, const void *numbers, size_t block) {
    const hub_matrix *m = t->matrix;
    size_t groups = m->columns / m->group, index = t->row * groups + block * HUB_BLOCK / m->group;
    const uint8_t *at = numbers;
    if (m->scale_format == HUB_F32) return (vf)gather_u32(at + 4 * index, 4 * groups);
    if (m->scale_format == HUB_F16) return gather_halves(at + 2 * index, 2 * groups);
    return (vf)(__builtin_convertvector(gather_u16(at + 2 * index, 2 * groups), vu) << 16);
}
INLINE void mlx_scales(const hub_tile *t, size_t block, int part, tile_raw *raw, tile_block *b) {
    if (part == 0) {
        raw->d = mlx_numbers(t, t->matrix->scales, block);
        if (t->matrix->biases) {
            raw->m = mlx_numbers(t, t->matrix->biases, block);
        } else {
            vi zero;
            UNROLL for (size_t lane = 0; lane < LANES; lane++)
                zero[lane] = hub_row_zero(t->matrix, t->row + lane, block * HUB_BLOCK / t->matrix->group);
            raw->m = raw->d * FLOATS(-zero);
        }
    }
    b->d[0] = raw->d;
    b->m[0] = raw->m;
}
/// Where the rows' bits of a block begin.
INLINE const uint8_t *mlx_bits(const hub_tile *t, size_t block) {
    const hub_matrix *m = t->matrix;
    return (const uint8_t *)m->weights + t->row * m->stride + block * 4 * m->bits;
}

INLINE void unpack_MLX4(const hub_tile *t, size_t block, int part, const bool pieces, tile_raw *raw, tile_block *b) {
    paired_nibbles(t, mlx_bits(t, block + (size_t)part), pieces, b);
    mlx_scales(t, block, part, raw, b);
}

/// 8 bits are signed bytes with an offset of 128, as in rows.h, so that they fit every instruction set.
INLINE void unpack_MLX8(const hub_tile *t, size_t block, int part, const bool pieces, tile_raw *raw, tile_block *b) {
    load_32(t, mlx_bits(t, block + (size_t)part), pieces, b->w);
    mlx_scales(t, block, part, raw, b);
    b->m[0] = FMA((vf)128.0f, b->d[0], b->m[0]);
}

INLINE void unpack_INT8(const hub_tile *t, size_t block, int part, const bool pieces, tile_raw *raw, tile_block *b) {
    load_32(t, place(t, block + (size_t)part, 32), pieces, b->w);
    UNROLL for (int c = 0; c < 8; c++) b->w[c] ^= 0x80808080u;
    if (part == 0) raw->d = mlx_numbers(t, t->matrix->scales, block) * (vf)t->matrix->factor;
    b->d[0] = raw->d;
}

/// Streams of 2, 3, 5 and 6 bits are spread row by row.
static __attribute__((noinline)) void mlx_stream(const hub_tile *t, size_t block, uint8_t *rows) {
    const hub_matrix *m = t->matrix;
    for (size_t lane = 0; lane < LANES; lane++) {
        const uint8_t *from = mlx_bits(t, block) + lane * m->stride;
        uint32_t bits = 0;
        int have = 0;
        for (int i = 0; i < HUB_BLOCK; i++) {
            while (have < m->bits) {
                bits |= (uint32_t)*from++ << have;
                have += 8;
            }
            rows[lane * HUB_BLOCK + (size_t)i] = (uint8_t)(bits & ((1u << m->bits) - 1));
            bits >>= m->bits;
            have -= m->bits;
        }
    }
}
INLINE void mlx_block(const hub_tile *t, size_t block, const bool pieces, tile_block *b) {
    uint8_t rows[LANES * HUB_BLOCK] __attribute__((aligned(64)));
    mlx_stream(t, block, rows);
    UNROLL for (int half = 0; half < 2; half++) {
        if (pieces) load_pieces(rows + 16 * half, HUB_BLOCK, b->w + 4 * half);
        else load_words_at(rows + 16 * half, HUB_BLOCK, b->w + 4 * half);
    }
}
INLINE void unpack_MLXn(const hub_tile *t, size_t block, int part, const bool pieces, tile_raw *raw, tile_block *b) {
    mlx_block(t, block + (size_t)part, pieces, b);
    mlx_scales(t, block, part, raw, b);
}
