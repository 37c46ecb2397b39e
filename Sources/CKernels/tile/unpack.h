// Packed formats as tiles: 32 columns of as many rows as a vector has lanes. Each function gives, for four columns at a
// time, the rows' unsigned bytes side by side (vector w[c]: columns 4c to 4c + 3), less than which an offset is to be
// taken, and each row's scale and minimum. The numbers are those of rows.h.
//
// A format is unpacked in units of some blocks. `part` is a block's place in its unit, a constant once the loop over
// parts is unrolled; what several parts share stays in `raw`, which part 0 fills.
//
// The including file defines LANES and the vector types, load_rows and from_halves.
#pragma once

typedef struct {
    vu w[8];
    vf d[2], m[2]; // the second of each only in formats whose halves differ
} tile_block;

typedef struct {
    vu head[4], q[8], high[8];
    vf d, m;
} tile_raw;

/// Where a block of `bytes` of the tile's first row begins.
INLINE const uint8_t *place(const hub_tile *t, size_t unit, size_t bytes) {
    return (const uint8_t *)t->matrix->weights + t->row * t->matrix->stride + unit * bytes;
}

/// 16 bytes of 32 nibbles, the first 16 columns in the lower ones.
INLINE void nibbles(const hub_tile *t, const uint8_t *at, tile_block *b) {
    vu v[4];
    load_rows(at, t->matrix->stride, v);
    UNROLL for (int c = 0; c < 4; c++) {
        b->w[c] = v[c] & 0x0F0F0F0Fu;
        b->w[c + 4] = v[c] >> 4 & 0x0F0F0F0Fu;
    }
}

INLINE void unpack_Q4_0(const hub_tile *t, size_t unit, int part, tile_raw *raw, tile_block *b) {
    const uint8_t *at = place(t, unit, 18);
    load_rows(at, t->matrix->stride, raw->head);
    nibbles(t, at + 2, b);
    b->d[0] = from_halves(raw->head[0] & 0xFFFFu);
}

INLINE void unpack_Q4_1(const hub_tile *t, size_t unit, int part, tile_raw *raw, tile_block *b) {
    const uint8_t *at = place(t, unit, 20);
    load_rows(at, t->matrix->stride, raw->head);
    nibbles(t, at + 4, b);
    b->d[0] = from_halves(raw->head[0] & 0xFFFFu);
    b->m[0] = from_halves(raw->head[0] >> 16);
}

/// Bit c of a row's word becomes bit 4 of column c.
INLINE void fifth_bits(vu high, tile_block *b) {
    // The product puts bit i of a nibble into byte i.
    UNROLL for (int c = 0; c < 8; c++)
        b->w[c] |= ((high >> (unsigned)(4 * c) & 15u) * 0x00204081u & 0x01010101u) << 4;
}

INLINE void unpack_Q5_0(const hub_tile *t, size_t unit, int part, tile_raw *raw, tile_block *b) {
    const uint8_t *at = place(t, unit, 22);
    load_rows(at, t->matrix->stride, raw->head);
    nibbles(t, at + 6, b);
    fifth_bits(raw->head[0] >> 16 | raw->head[1] << 16, b);
    b->d[0] = from_halves(raw->head[0] & 0xFFFFu);
}

INLINE void unpack_Q5_1(const hub_tile *t, size_t unit, int part, tile_raw *raw, tile_block *b) {
    const uint8_t *at = place(t, unit, 24);
    load_rows(at, t->matrix->stride, raw->head);
    nibbles(t, at + 8, b);
    fifth_bits(raw->head[1], b);
    b->d[0] = from_halves(raw->head[0] & 0xFFFFu);
    b->m[0] = from_halves(raw->head[0] >> 16);
}

INLINE void unpack_Q8_0(const hub_tile *t, size_t unit, int part, tile_raw *raw, tile_block *b) {
    const uint8_t *at = place(t, unit, 34);
    load_rows(at, t->matrix->stride, raw->head);
    load_rows(at + 2, t->matrix->stride, b->w);
    load_rows(at + 18, t->matrix->stride, b->w + 4);
    UNROLL for (int c = 0; c < 8; c++) b->w[c] ^= 0x80808080u;
    b->d[0] = from_halves(raw->head[0] & 0xFFFFu);
}

/// 32 bytes of each row.
INLINE void load_32(const hub_tile *t, const uint8_t *at, vu v[8]) {
    load_rows(at, t->matrix->stride, v);
    load_rows(at + 16, t->matrix->stride, v + 4);
}

/// Byte i of a row's words.
INLINE vu byte(const vu *words, int i) { return words[i / 4] >> (unsigned)(8 * (i % 4)) & 255u; }

INLINE void unpack_Q2_K(const hub_tile *t, size_t unit, int part, tile_raw *raw, tile_block *b) {
    const uint8_t *at = place(t, unit, 84);
    if (part == 0) {
        vu last[4];
        load_rows(at, t->matrix->stride, raw->head);
        load_rows(at + 68, t->matrix->stride, last);
        raw->d = from_halves(last[3] & 0xFFFFu);
        raw->m = -from_halves(last[3] >> 16);
    }
    if (part % 4 == 0) load_32(t, at + 16 + 8 * part, raw->q);
    UNROLL for (int c = 0; c < 8; c++) b->w[c] = raw->q[c] >> (unsigned)(2 * (part % 4)) & 0x03030303u;
    UNROLL for (int half = 0; half < 2; half++) {
        vu s = byte(raw->head, 2 * part + half);
        b->d[half] = raw->d * FLOATS(s & 15u);
        b->m[half] = raw->m * FLOATS(s >> 4);
    }
}

INLINE void unpack_Q3_K(const hub_tile *t, size_t unit, int part, tile_raw *raw, tile_block *b) {
    const uint8_t *at = place(t, unit, 110);
    if (part == 0) {
        load_32(t, at, raw->high);
        // Two bytes before the 12 of the scales, and the scale of all.
        load_rows(at + 94, t->matrix->stride, raw->head);
        raw->d = from_halves(raw->head[3] >> 16);
    }
    if (part % 4 == 0) load_32(t, at + 32 + 8 * part, raw->q);
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
        load_rows(at, t->matrix->stride, raw->head);
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
INLINE void k4_nibbles(const uint8_t *at, const hub_tile *t, int part, tile_raw *raw, vu *w) {
    if (part % 2 == 0) load_32(t, at + part * 16, raw->q);
    UNROLL for (int c = 0; c < 8; c++) w[c] = raw->q[c] >> (unsigned)(part % 2 * 4) & 0x0F0F0F0Fu;
}

INLINE void unpack_Q4_K(const hub_tile *t, size_t unit, int part, tile_raw *raw, tile_block *b) {
    const uint8_t *at = place(t, unit, 144);
    k4_scales(at, t, part, raw, b);
    k4_nibbles(at + 16, t, part, raw, b->w);
}

INLINE void unpack_Q5_K(const hub_tile *t, size_t unit, int part, tile_raw *raw, tile_block *b) {
    const uint8_t *at = place(t, unit, 176);
    k4_scales(at, t, part, raw, b);
    if (part == 0) load_32(t, at + 16, raw->high);
    k4_nibbles(at + 48, t, part, raw, b->w);
    UNROLL for (int c = 0; c < 8; c++) b->w[c] |= (raw->high[c] >> (unsigned)part & 0x01010101u) << 4;
}

INLINE void unpack_Q6_K(const hub_tile *t, size_t unit, int part, tile_raw *raw, tile_block *b) {
    const uint8_t *at = place(t, unit, 210);
    const int n = part / 4, j = part % 4;
    if (part == 0) {
        // The last 16 bytes: scales 2 to 15, and the scale of all.
        load_rows(at + 194, t->matrix->stride, raw->head);
        raw->d = from_halves(raw->head[3] >> 16);
    }
    if (j == 0) load_32(t, at + 128 + 32 * n, raw->high);
    load_32(t, at + 64 * n + 32 * (j & 1), b->w);
    UNROLL for (int c = 0; c < 8; c++)
        b->w[c] = (b->w[c] >> (unsigned)(4 * (j >> 1)) & 0x0F0F0F0Fu)
            | (raw->high[c] >> (unsigned)(2 * j) & 0x03030303u) << 4;
    vu first[4];
    if (part == 0) load_rows(at + 192, t->matrix->stride, first);
    UNROLL for (int half = 0; half < 2; half++) {
        vu s = part == 0 ? byte(first, half) : byte(raw->head, 2 * part + half - 2);
        // A signed byte: up to the sign bit and back.
        b->d[half] = raw->d * FLOATS((vi)(s << 24) >> 24);
    }
}

INLINE void iq4(const hub_tile *t, const uint8_t *at, tile_block *b) {
    nibbles(t, at, b);
    UNROLL for (int c = 0; c < 8; c++) b->w[c] = iq4_lookup(b->w[c]);
}

INLINE void unpack_IQ4_NL(const hub_tile *t, size_t unit, int part, tile_raw *raw, tile_block *b) {
    const uint8_t *at = place(t, unit, 18);
    load_rows(at, t->matrix->stride, raw->head);
    iq4(t, at + 2, b);
    b->d[0] = from_halves(raw->head[0] & 0xFFFFu);
}

INLINE void unpack_IQ4_XS(const hub_tile *t, size_t unit, int part, tile_raw *raw, tile_block *b) {
    const uint8_t *at = place(t, unit, 136);
    if (part == 0) {
        load_rows(at, t->matrix->stride, raw->head);
        raw->d = from_halves(raw->head[0] & 0xFFFFu);
    }
    iq4(t, at + 8 + 16 * part, b);
    vu low = raw->head[1] >> (unsigned)(4 * part) & 15u, high = raw->head[0] >> (unsigned)(16 + 2 * part) & 3u;
    b->d[0] = raw->d * FLOATS((vi)(low | high << 4) - 32);
}

/// MLX's scales or biases of the tile's rows for a block.
INLINE vf mlx_numbers(const hub_tile *t, const void *numbers, size_t block) {
    const hub_matrix *m = t->matrix;
    size_t groups = m->columns / m->group, index = t->row * groups + block * HUB_BLOCK / m->group;
    const uint8_t *at = numbers;
    if (m->scale_format == HUB_F32) return (vf)gather_u32(at + 4 * index, 4 * groups);
    vu half = gather_u16(at + 2 * index, 2 * groups);
    return m->scale_format == HUB_BF16 ? (vf)(half << 16) : from_halves(half);
}

/// Streams of 2, 3, 5 and 6 bits are spread row by row.
static __attribute__((noinline)) void mlx_stream(const hub_tile *t, const uint8_t *at, vu *w) {
    const hub_matrix *m = t->matrix;
    uint8_t rows[LANES * HUB_BLOCK] __attribute__((aligned(64)));
    for (size_t lane = 0; lane < LANES; lane++) {
        const uint8_t *from = at + lane * m->stride;
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
    load_rows(rows, HUB_BLOCK, w);
    load_rows(rows + 16, HUB_BLOCK, w + 4);
}

INLINE void unpack_MLX(const hub_tile *t, size_t unit, int part, tile_raw *raw, tile_block *b) {
    const hub_matrix *m = t->matrix;
    const uint8_t *at = (const uint8_t *)m->weights + t->row * m->stride + unit * 4 * m->bits;
    b->d[0] = mlx_numbers(t, m->scales, unit);
    b->m[0] = mlx_numbers(t, m->biases, unit);
    if (m->bits == 4) {
        vu v[4];
        load_rows(at, m->stride, v);
        UNROLL for (int c = 0; c < 8; c++) {
            vu x = v[c / 2] >> (16 * (unsigned)(c % 2)) & 0xFFFFu;
            x = (x | x << 8) & 0x00FF00FFu;
            b->w[c] = (x | x << 4) & 0x0F0F0F0Fu;
        }
    } else {
        mlx_stream(t, at, b->w);
    }
}

/// 8 bits are signed bytes with an offset of 128, as in rows.h, so that they fit every instruction set.
INLINE void unpack_MLX8(const hub_tile *t, size_t unit, int part, tile_raw *raw, tile_block *b) {
    const hub_matrix *m = t->matrix;
    load_32(t, (const uint8_t *)m->weights + t->row * m->stride + unit * HUB_BLOCK, b->w);
    b->d[0] = mlx_numbers(t, m->scales, unit);
    b->m[0] = FMA((vf)128.0f, b->d[0], mlx_numbers(t, m->biases, unit));
}
