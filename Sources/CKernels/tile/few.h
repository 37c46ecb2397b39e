// Products of a tile with few rows of 8-bit activations, as when a text is continued: each weight is read once, so memory is
// the limit, and what is done to a weight counts.
#pragma once
#include "unpack_grids.h"

/// Four columns of activations in every lane.
INLINE vu same_four(const int8_t *q) {
    uint32_t four;
    memcpy(&four, q, sizeof four);
    return (vu)four;
}

/// Adds four products to each lane: with dot for unsigned bytes, or where those would not fit with dot_signed.
INLINE vi products(vi sum, vu w, vu x, const int offset) {
    return offset == 128 && !DOT_TAKES_ANY_BYTE ? dot_signed(sum, w ^ 0x80808080u, x) : dot(sum, w, x);
}

/// Where an integer sum starts, so that the weights' offset is taken from it.
INLINE vi start(int32_t negated, const int offset) {
    if (offset == 0 || (offset == 128 && !DOT_TAKES_ANY_BYTE)) return (vi)0;
    return (vi)negated * offset;
}

typedef void unpacking(const hub_tile *t, size_t block, int part, const bool pieces, tile_raw *raw, tile_block *b);

/// A block's activations as the weights' pieces need them: columns 0 to 15 and 16 to 31, or even and odd ones.
INLINE void two_pieces(const int8_t *q, const bool alternates, vu x[2]) {
    if (alternates) {
        typedef int8_t all __attribute__((ext_vector_type(32)));
        typedef int8_t part __attribute__((ext_vector_type(16)));
        all v;
        memcpy(&v, q, sizeof v);
        part even = __builtin_shufflevector(v, v, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
        part odd = __builtin_shufflevector(v, v, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
        x[0] = spread(&even), x[1] = spread(&odd);
    } else {
        x[0] = spread(q), x[1] = spread(q + 16);
    }
}

/// Adds a block's products with the first `n` rows of a panel to their sums; the weights are in pieces.
INLINE void fast_block(
    const int n, const tile_block *b, size_t block, const hub_panel *panel, const int offset, const bool has_halves,
    const bool has_minima, const bool alternates, vf *sums) {
    size_t at = block * panel->width;
    UNROLL for (int i = 0; i < n; i++, at++) {
        vu x[2];
        two_pieces(panel->q + at * HUB_BLOCK, alternates, x);
        vi sum[4];
        if (has_halves && alternates) {
            // Two words of each piece belong to the first half, two to the second.
            UNROLL for (int k = 0; k < 4; k++)
                sum[k] = products(products((vi)0, b->w[k], x[0], offset), b->w[4 + k], x[1], offset);
            turn((vu *)sum);
        }
        UNROLL for (int half = 0; half < (has_halves ? 2 : 1); half++) {
            vi all;
            if (has_halves && alternates) {
                all = sum[2 * half] + sum[2 * half + 1];
            } else {
                UNROLL for (int k = 0; k < 4; k++) {
                    sum[k] = products((vi)0, b->w[4 * half + k], x[half], offset);
                    if (!has_halves) sum[k] = products(sum[k], b->w[4 + k], x[1], offset);
                }
                all = sum_pieces(sum);
            }
            int32_t negated = has_halves ? panel->half_negated[2 * at + (size_t)half] : panel->negated[at];
            vf whole = FLOATS(all + start(negated, offset));
            sums[i] = FMA(b->d[half], whole * (vf)panel->scales[at], sums[i]);
            float weighted = has_halves ? panel->half_sums[2 * at + (size_t)half] : panel->sums[at];
            if (has_minima) sums[i] = FMA(b->m[half], (vf)weighted, sums[i]);
        }
    }
}

/// Bytes of 32 columns of an output, by format; 0 where that depends on the matrix.
enum {
#define HUB_FORMAT(NAME, ggml, block, bytes, halves, minima) BYTES_##NAME = (bytes) * HUB_BLOCK / (block ? block : 1),
#include "../include/hub_formats.def"
    BYTES_MLX4 = 16,
    BYTES_MLX8 = 32,
    BYTES_MLXn = 0,
};

/// The tile's products with its only `n` rows of activations.
///
/// - bytes: of a block, known to the compiler: with a loop of prefetches between the parts it puts off all products until
///   the last part, and keeps the weights in memory meanwhile.
INLINE void fast_few(
    const int n, const hub_tile *t, unpacking *unpack, const size_t bytes, const int parts, const int offset,
    const bool has_halves, const bool has_minima, const bool alternates) {
    vf sums[4];
    UNROLL for (int i = 0; i < n; i++) sums[i] = (vf)0.0f;
    // The tile's rows lie side by side, and so do those of the tiles to come.
    const uint8_t *next = (const uint8_t *)t->matrix->weights + t->row * t->matrix->stride + t->ahead;
    const size_t each = t->block_bytes * (size_t)parts;
    const size_t scales = t->scale_stride ? (t->row + t->ahead / t->matrix->stride) * t->scale_stride : 0;
    for (size_t block = 0; block < t->blocks; block += (size_t)parts, next += each) {
        tile_raw raw;
        if (t->scale_stride) {
            const size_t all = LANES * t->scale_stride, from = scales + all * block / t->blocks;
            prefetch((const uint8_t *)t->matrix->scales + from, all * (size_t)parts / t->blocks);
            if (has_minima && t->matrix->biases) prefetch((const uint8_t *)t->matrix->biases + from, all * (size_t)parts / t->blocks);
        }
        UNROLL for (int part = 0; part < parts; part++) {
            tile_block b;
            // A burst would fill the buffers that the loads need too.
            prefetch(next + t->block_bytes * (size_t)part, bytes > 0 ? LANES * bytes : t->block_bytes);
            unpack(t, block, part, true, &raw, &b);
            fast_block(n, &b, block + (size_t)part, t->panels, offset, has_halves, has_minima, alternates, sums);
        }
    }
    UNROLL for (int i = 0; i < n; i++) ((vf *)t->sums)[i] = sums[i];
}
