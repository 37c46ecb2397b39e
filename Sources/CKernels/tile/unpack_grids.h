// Types of GGUF below four bits as tiles; the numbers are those of row_grids.h.
//
// A row's indices, signs and scales come as words, a row in each lane. What is done to single bytes is done in pieces, where
// 16 bytes of a row stay together: a word is at its row's place in those 16 bytes, so that a shuffle spreads its bytes over
// them. The including file defines look_up_eight and look_up_four.
#pragma once
#include "../grids.h"
#include "unpack.h"

typedef uint8_t vb __attribute__((ext_vector_type(4 * LANES)));

enum { NONE = 0x80 }; ///< an index of shuffle that gives 0

/// Of each row's word, spread over the 16 bytes of vector `c`: the bytes that an index for row 0 names. Row k's are 4k further.
INLINE vu spread_words(vu words, const uint8_t index[16], int c) {
    uint8_t own[16];
    UNROLL for (int i = 0; i < 16; i++) own[i] = index[i] == NONE ? NONE : (uint8_t)(index[i] + 4 * (c % 4));
    return shuffle(words, spread(own));
}

/// Of four bytes, one for eight columns each, those of the columns of vector `c`.
INLINE vu spread_eights(vu words, int c) {
    static const uint8_t index[2][16] = {
        {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1}, {2, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3}};
    return spread_words(words, index[c / 4], c);
}

/// All ones in the bytes of vector `c` whose columns' bits are set, of 32 bits of each row.
INLINE vb bit_mask(vu bits, int c) {
    static const uint8_t bit[16] = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    return (vb)(((vb)spread_eights(bits, c) & (vb)spread(bit)) != 0);
}

/// Weights w as 64 + w, or 64 - w where the row's bits are set.
INLINE vu with_signs(vu points, vu signs, int c) {
    const vb mask = bit_mask(signs, c), w = (vb)points;
    return (vu)((w & ~mask) | ((128 - w) & mask));
}

/// Pieces, if those are asked for, or words.
INLINE void give(tile_block *b, const bool pieces) {
    if (pieces) return;
    turn(b->w);
    turn(b->w + 4);
}

/// As hub_even_signs.
INLINE vu even_signs(vu bits) {
    vu s = (bits & 0x7Fu) | (bits << 1 & 0x7F00u) | (bits << 2 & 0x7F0000u) | (bits << 3 & 0x7F000000u);
    vu odd = s ^ s >> 4;
    odd ^= odd >> 2;
    odd ^= odd >> 1;
    return s | (odd & 0x01010101u) << 7;
}

/// Points of eight weights for vector `c`, by four bytes of indices.
INLINE vu points_of_bytes(const uint64_t *grid, vu indices, int c) {
    static const uint8_t index[2][16] = {
        {0, NONE, NONE, NONE, NONE, NONE, NONE, NONE, 1, NONE, NONE, NONE, NONE, NONE, NONE, NONE},
        {2, NONE, NONE, NONE, NONE, NONE, NONE, NONE, 3, NONE, NONE, NONE, NONE, NONE, NONE, NONE}};
    return look_up_eight(grid, spread_words(indices, index[c / 4], c));
}
/// By two times two half words of indices.
INLINE vu points_of_halves(const uint64_t *grid, const vu indices[2], int c) {
    static const uint8_t index[16] = {0, 1, NONE, NONE, NONE, NONE, NONE, NONE, 2, 3, NONE, NONE, NONE, NONE, NONE, NONE};
    return look_up_eight(grid, spread_words(indices[c / 4], index, c));
}
/// Four bytes of indices as half words, with bits above the lowest eight: `each` of them a column, from the lowest on.
INLINE void with_high_bits(vu low, vu high, const unsigned each, vu indices[2]) {
    const vu mask = (vu)((1u << each) - 1);
    UNROLL for (unsigned half = 0; half < 2; half++) {
        const vu two = low >> 16 * half, bits = high >> 2 * each * half;
        indices[half] = (two & 255u) | (two & 0xFF00u) << 8 | (bits & mask) << 8 | (bits >> each & mask) << 24;
    }
}

/// The scale of all and the scales of the halves, (0.5 + s) / 4 each.
INLINE void iq2_scales(const tile_raw *raw, vu first, vu second, tile_block *b) {
    b->d[0] = raw->d * (FLOATS(first) + 0.5f) * 0.25f;
    b->d[1] = raw->d * (FLOATS(second) + 0.5f) * 0.25f;
}

INLINE void part_IQ2_XXS(const hub_tile *t, size_t block, int part, tile_raw *raw, tile_block *b) {
    const uint8_t *at = place(t, block / 8, 66);
    if (part == 0) raw->d = gather_halves(at, t->matrix->stride);
    if (part % 2 == 0) load_words(t, at + 2 + 8 * part, raw->head);
    const vu second = raw->head[2 * (part % 2) + 1], signs = even_signs(second);
    UNROLL for (int c = 0; c < 8; c++)
        b->w[c] = with_signs(points_of_bytes(hub_iq2_xxs_grid, raw->head[2 * (part % 2)], c), signs, c);
    iq2_scales(raw, second >> 28, second >> 28, b);
}

INLINE void part_IQ2_XS(const hub_tile *t, size_t block, int part, tile_raw *raw, tile_block *b) {
    const uint8_t *at = place(t, block / 8, 74);
    if (part == 0) {
        // Eight bytes of scales are the last ones.
        vu last[4];
        raw->d = gather_halves(at, t->matrix->stride);
        load_words(t, at + 58, last);
        raw->high[0] = last[2], raw->high[1] = last[3];
    }
    if (part % 2 == 0) load_words(t, at + 2 + 8 * part, raw->head);
    const vu *both = raw->head + 2 * (part % 2);
    const vu indices[2] = {both[0] & 0x01FF01FFu, both[1] & 0x01FF01FFu};
    const vu signs = even_signs((both[0] >> 9 & 0x7Fu) | both[0] >> 25 << 7 | (both[1] >> 9 & 0x7Fu) << 14 | both[1] >> 25 << 21);
    UNROLL for (int c = 0; c < 8; c++) b->w[c] = with_signs(points_of_halves(hub_iq2_xs_grid, indices, c), signs, c);
    const vu scales = byte(raw->high, part);
    iq2_scales(raw, scales & 15u, scales >> 4, b);
}

INLINE void part_IQ2_S(const hub_tile *t, size_t block, int part, tile_raw *raw, tile_block *b) {
    const uint8_t *at = place(t, block / 8, 82);
    if (part == 0) {
        raw->d = gather_halves(at, t->matrix->stride);
        load_words(t, at + 66, raw->head); // the upper bits of indices, and the scales
    }
    if (part % 4 == 0) {
        load_words(t, at + 2 + 4 * part, raw->q);
        load_words(t, at + 34 + 4 * part, raw->high);
    }
    vu indices[2];
    with_high_bits(raw->q[part % 4], byte(raw->head, part), 2, indices);
    UNROLL for (int c = 0; c < 8; c++)
        b->w[c] = with_signs(points_of_halves(hub_iq2_s_grid, indices, c), raw->high[part % 4], c);
    const vu scales = byte(raw->head, 8 + part);
    iq2_scales(raw, scales & 15u, scales >> 4, b);
}

/// Points of four weights for vector `c`, by two times four bytes of indices and, if there are any, their ninth bits.
INLINE vu points_of_four(const uint32_t *grid, const vu indices[2], vu ninth, const bool has_ninth, int c) {
    static const uint8_t index[16] = {0, NONE, NONE, NONE, 1, NONE, NONE, NONE, 2, NONE, NONE, NONE, 3, NONE, NONE, NONE};
    static const uint8_t same[16] = {0, NONE, NONE, NONE, 0, NONE, NONE, NONE, 0, NONE, NONE, NONE, 0, NONE, NONE, NONE};
    static const uint32_t bit[2][4] = {{1, 2, 4, 8}, {16, 32, 64, 128}};
    vu at = spread_words(indices[c / 4], index, c);
    if (has_ninth) at |= (vu)((spread_words(ninth, same, c) & spread(bit[c / 4])) != 0) & 256u;
    return look_up_four(grid, at);
}

INLINE void part_IQ3_XXS(const hub_tile *t, size_t block, int part, tile_raw *raw, tile_block *b) {
    const uint8_t *at = place(t, block / 8, 98);
    if (part == 0) raw->d = gather_halves(at, t->matrix->stride);
    if (part % 2 == 0) load_words(t, at + 2 + 8 * part, raw->head);
    if (part % 4 == 0) load_words(t, at + 66 + 4 * part, raw->high);
    const vu second = raw->high[part % 4], signs = even_signs(second);
    UNROLL for (int c = 0; c < 8; c++)
        b->w[c] = with_signs(points_of_four(hub_iq3_xxs_grid, raw->head + 2 * (part % 2), second, false, c), signs, c);
    b->d[0] = raw->d * (FLOATS(second >> 28) + 0.5f) * 0.5f;
}

INLINE void part_IQ3_S(const hub_tile *t, size_t block, int part, tile_raw *raw, tile_block *b) {
    const uint8_t *at = place(t, block / 8, 110);
    if (part == 0) {
        vu last[4];
        raw->d = gather_halves(at, t->matrix->stride);
        load_words(t, at + 66, last);
        raw->high[4] = last[0], raw->high[5] = last[1];
        raw->m = (vf)gather_u32(at + 106, t->matrix->stride); // scales, not a number
    }
    if (part % 2 == 0) load_words(t, at + 2 + 8 * part, raw->head);
    if (part % 4 == 0) load_words(t, at + 74 + 4 * part, raw->high);
    const vu ninth = byte(raw->high + 4, part);
    UNROLL for (int c = 0; c < 8; c++)
        b->w[c] = with_signs(
            points_of_four(hub_iq3_s_grid, raw->head + 2 * (part % 2), ninth, true, c), raw->high[part % 4], c);
    b->d[0] = raw->d * FLOATS(2 * ((vu)raw->m >> (unsigned)(4 * part) & 15u) + 1);
}

/// Points of IQ1, less 2 in the eights of columns that are moved down: a byte of 0 or 2 for each.
INLINE void iq1(const vu indices[2], vu down, tile_block *b) {
    UNROLL for (int c = 0; c < 8; c++) b->w[c] = points_of_halves(hub_iq1_grid, indices, c) - spread_eights(down, c);
}

INLINE void part_IQ1_S(const hub_tile *t, size_t block, int part, tile_raw *raw, tile_block *b) {
    const uint8_t *at = place(t, block / 8, 50);
    if (part == 0) {
        raw->d = gather_halves(at, t->matrix->stride);
        load_words(t, at + 34, raw->head);
    }
    if (part % 4 == 0) load_words(t, at + 2 + 4 * part, raw->q);
    const vu high = raw->head[part / 2] >> (unsigned)(part % 2 * 16) & 0xFFFFu;
    vu indices[2];
    with_high_bits(raw->q[part % 4], high, 3, indices);
    iq1(indices, (vu)(-(vi)(high >> 15)) & 0x02020202u, b);
    b->d[0] = raw->d * FLOATS(2 * (high >> 12 & 7u) + 1) * 0.125f;
}

INLINE void part_IQ1_M(const hub_tile *t, size_t block, int part, tile_raw *raw, tile_block *b) {
    const uint8_t *at = place(t, block / 8, 56);
    if (part == 0) {
        vu last[4];
        load_words(t, at + 32, raw->head);
        load_words(t, at + 40, last);
        raw->high[4] = last[2], raw->high[5] = last[3];
        raw->d = from_halves(
            (last[2] >> 12 & 15u) | (last[2] >> 28) << 4 | (last[3] >> 12 & 15u) << 8 | (last[3] >> 28) << 12);
    }
    if (part % 4 == 0) load_words(t, at + 4 * part, raw->q);
    const vu high = raw->head[part / 2] >> (unsigned)(part % 2 * 16);
    // Of each four bits three belong to the index.
    const vu three = (high & 7u) | (high >> 1 & 0x38u) | (high >> 2 & 0x1C0u) | (high >> 3 & 0xE00u);
    const vu down = (high >> 3 & 1u) | (high >> 7 & 1u) << 8 | (high >> 11 & 1u) << 16 | (high >> 15 & 1u) << 24;
    vu indices[2];
    with_high_bits(raw->q[part % 4], three, 3, indices);
    iq1(indices, down << 1, b);
    UNROLL for (int half = 0; half < 2; half++) {
        const unsigned i = (unsigned)(2 * part + half);
        const vu scale = raw->high[4 + i / 8] >> (16 * (i / 4 % 2) + 3 * (i % 4)) & 7u;
        b->d[half] = raw->d * FLOATS(2 * scale + 1) * 0.125f;
    }
}

// The parts of a block at once, as pieces. It is a function of its own, for there are five kinds of products with every type.
#define UNIT(NAME)                                                                                                     \
    static __attribute__((noinline)) void unit_##NAME(const hub_tile *t, size_t block, tile_block *unit) {             \
        tile_raw raw;                                                                                                  \
        UNROLL for (int part = 0; part < 8; part++) part_##NAME(t, block, part, &raw, &unit[part]);                    \
    }                                                                                                                  \
    INLINE void unpack_##NAME(const hub_tile *t, size_t block, int part, const bool pieces, tile_raw *raw, tile_block *b) { \
        if (part == 0) unit_##NAME(t, block, raw->unit);                                                               \
        *b = raw->unit[part];                                                                                          \
        give(b, pieces);                                                                                               \
    }
UNIT(IQ2_XXS)
UNIT(IQ2_XS)
UNIT(IQ2_S)
UNIT(IQ3_XXS)
UNIT(IQ3_S)
UNIT(IQ1_S)
UNIT(IQ1_M)

/// The first digit of bytes as fractions of 256 in base 3.
INLINE vu digits(vu bytes) {
    const vb x = (vb)bytes;
    return (vu)(((vb)(x > 85) & 1) + ((vb)(x > 170) & 1));
}
INLINE vu three_times(vu bytes) {
    const vb x = (vb)bytes;
    return (vu)(x + x + x);
}

/// Parts 0 to 4 are digits of the same 32 bytes, the next five halves those of 16 bytes, the last one those of four.
INLINE void unpack_TQ1_0(const hub_tile *t, size_t block, int part, const bool pieces, tile_raw *raw, tile_block *b) {
    const uint8_t *at = place(t, block / 8, 54);
    if (part == 0) {
        raw->d = gather_halves(at + 52, t->matrix->stride);
        load_32(t, at, pieces, raw->q);
        load_16(t, at + 32, pieces, raw->high);
    }
    for (int c = 0; c < 4 && part >= 5; c++) {
        b->w[c] = digits(raw->high[c]);
        raw->high[c] = three_times(raw->high[c]);
        b->w[4 + c] = digits(raw->high[c]);
        raw->high[c] = three_times(raw->high[c]);
    }
    for (int c = 0; c < 8 && part < 5; c++) {
        b->w[c] = digits(raw->q[c]);
        raw->q[c] = three_times(raw->q[c]);
    }
    if (part == 7) {
        vu last = gather_u32(at + 48, t->matrix->stride);
        UNROLL for (int c = 4; c < 8; c++) {
            b->w[c] = digits(last);
            last = three_times(last);
        }
        if (pieces) turn(b->w + 4);
    }
    b->d[0] = raw->d;
}

INLINE void unpack_TQ2_0(const hub_tile *t, size_t block, int part, const bool pieces, tile_raw *raw, tile_block *b) {
    const uint8_t *at = place(t, block / 8, 66);
    if (part == 0) raw->d = gather_halves(at + 64, t->matrix->stride);
    if (part % 4 == 0) load_32(t, at + 8 * part, pieces, raw->q);
    UNROLL for (int c = 0; c < 8; c++) b->w[c] = raw->q[c] >> (unsigned)(2 * (part % 4)) & 0x03030303u;
    b->d[0] = raw->d;
}

INLINE void unpack_Q1_0(const hub_tile *t, size_t block, int part, const bool pieces, tile_raw *raw, tile_block *b) {
    const uint8_t *at = place(t, block / 4, 18);
    if (part == 0) {
        raw->d = gather_halves(at, t->matrix->stride);
        load_words(t, at + 2, raw->head);
    }
    UNROLL for (int c = 0; c < 8; c++) b->w[c] = (vu)(bit_mask(raw->head[part], c) & 2);
    b->d[0] = raw->d;
    give(b, pieces);
}

INLINE void unpack_Q2_0(const hub_tile *t, size_t block, int part, const bool pieces, tile_raw *raw, tile_block *b) {
    const uint8_t *at = place(t, block / 2, 18);
    if (part == 0) {
        raw->d = gather_halves(at, t->matrix->stride);
        load_words(t, at + 2, raw->head);
    }
    UNROLL for (int c = 0; c < 8; c++) {
        const vu four = byte(raw->head, 8 * part + c);
        b->w[c] = (four | four << 6 | four << 12 | four << 18) & 0x03030303u;
    }
    b->d[0] = raw->d;
    give(b, !pieces); // from words: turning goes both ways
}

/// Eight bytes have 16 weights, the first eight in the lower halves.
INLINE void unpack_NVFP4(const hub_tile *t, size_t block, int part, const bool pieces, tile_raw *raw, tile_block *b) {
    static const uint8_t first[2][16] = {
        {0, 1, 2, 3, 4, 5, 6, 7, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE},
        {8, 9, 10, 11, 12, 13, 14, 15, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE}};
    static const uint8_t last[2][16] = {
        {NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, 0, 1, 2, 3, 4, 5, 6, 7},
        {NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, 8, 9, 10, 11, 12, 13, 14, 15}};
    const uint8_t *at = place(t, block / 2, 36);
    vu v[4];
    load_pieces(at + 4 + 16 * part, t->matrix->stride, v);
    UNROLL for (int c = 0; c < 8; c++)
        b->w[c] = shuffle(v[c % 4] & 0x0F0F0F0Fu, spread(first[c / 4])) | shuffle(v[c % 4] >> 4 & 0x0F0F0F0Fu, spread(last[c / 4]));
    fp4(b);
    vu scales = __builtin_convertvector(gather_u16(at + 2 * part, t->matrix->stride), vu);
    UNROLL for (int half = 0; half < 2; half++, scales >>= 8) {
        // By way of half floats, whose exponent counts from 15: a small float32 would cost a trap of the processor's.
        vu code = (scales & 255u) == 0x7Fu ? (vu)0u : scales & 0x7Fu;
        b->d[half] = from_halves(code << 7) * 0x1p7f * (vf)t->matrix->factor;
    }
    give(b, pieces);
}
