// Products of a tile with few rows of activations, as when a text is continued: each weight is read once, so memory is
// the limit, and what is done to a weight counts.
#pragma once
#include "unpack.h"

// MARK: 8-bit activations

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
        UNROLL for (int half = 0; half < (has_halves ? 2 : 1); half++) {
            vi sum[4];
            UNROLL for (int k = 0; k < 4; k++) {
                sum[k] = products((vi)0, b->w[4 * half + k], x[half], offset);
                if (!has_halves) sum[k] = products(sum[k], b->w[4 + k], x[1], offset);
            }
            int32_t negated = has_halves ? panel->half_negated[2 * at + (size_t)half] : panel->negated[at];
            vf whole = FLOATS(sum_pieces(sum) + start(negated, offset));
            sums[i] = FMA(b->d[half], whole * (vf)panel->scales[at], sums[i]);
            float weighted = has_halves ? panel->half_sums[2 * at + (size_t)half] : panel->sums[at];
            if (has_minima) sums[i] = FMA(b->m[half], (vf)weighted, sums[i]);
        }
    }
}

/// The tile's products with its only `n` rows of activations.
INLINE void fast_few(
    const int n, const hub_tile *t, unpacking *unpack, const int parts, const int offset, const bool has_halves,
    const bool has_minima, const bool alternates) {
    vf sums[4];
    UNROLL for (int i = 0; i < n; i++) sums[i] = (vf)0.0f;
    // The tile's rows lie side by side, and so do those of the tiles to come.
    const uint8_t *next = (const uint8_t *)t->matrix->weights + t->row * t->matrix->stride + t->ahead;
    const size_t each = t->block_bytes * (size_t)parts;
    for (size_t block = 0; block < t->blocks; block += (size_t)parts, next += each) {
        tile_raw raw;
        UNROLL for (int part = 0; part < parts; part++) {
            tile_block b;
            // A burst would fill the buffers that the loads need too.
            prefetch(next + t->block_bytes * (size_t)part, t->block_bytes);
            unpack(t, block, part, true, &raw, &b);
            fast_block(n, &b, block + (size_t)part, t->panels, offset, has_halves, has_minima, alternates, sums);
        }
    }
    UNROLL for (int i = 0; i < n; i++) ((vf *)t->sums)[i] = sums[i];
}

// MARK: Float weights

/// The chains of a chunk: a row's columns side by side.
typedef float chains __attribute__((ext_vector_type(HUB_CHAINS)));

INLINE chains load_chains(const hub_format format, const uint8_t *at) {
    typedef uint16_t bits __attribute__((ext_vector_type(HUB_CHAINS)));
    typedef uint32_t words __attribute__((ext_vector_type(HUB_CHAINS)));
    typedef _Float16 halves __attribute__((ext_vector_type(HUB_CHAINS)));
    chains v;
    bits b;
    if (format == HUB_F32) {
        memcpy(&v, at, sizeof v);
        return v;
    }
    memcpy(&b, at, sizeof b);
    if (format == HUB_F16) return __builtin_convertvector((halves)b, chains);
    return (chains)(__builtin_convertvector(b, words) << 16);
}

/// Adds a chunk's products of four of the tile's rows with `n` rows of activations to their totals. A weight is read
/// once, and as it lies.
///
/// - at: the first row's part, and
/// - x: that of the first row of activations.
/// - totals: of the four, for the first row of activations.
INLINE void four_rows(
    const int n, const hub_tile *t, const uint8_t *at, const float *x, size_t count, const hub_format format,
    const bool prefetches, float *totals) {
    typedef float four __attribute__((ext_vector_type(4)));
    const size_t stride = t->matrix->stride, bytes = format == HUB_F32 ? 4 : 2;
    chains sum[FEW_ROWS][4];
    UNROLL for (int i = 0; i < n; i++) UNROLL for (int r = 0; r < 4; r++) sum[i][r] = (chains)0.0f;
    for (size_t k = 0; k < count; k += HUB_CHAINS) {
        chains w[4];
        UNROLL for (size_t r = 0; r < 4; r++) {
            const uint8_t *weights = at + r * stride + k * bytes;
            // The same row's part of the next tile.
            if (prefetches && k * bytes % 64 == 0) __builtin_prefetch(weights + LANES * stride, 0, 2);
            w[r] = load_chains(format, weights);
        }
        UNROLL for (int i = 0; i < n; i++) {
            chains v = load_chains(HUB_F32, (const uint8_t *)(x + (size_t)i * t->stride + k));
            UNROLL for (int r = 0; r < 4; r++) sum[i][r] = FMA(w[r], v, sum[i][r]);
        }
    }
    // From a row's chains to a chain of the rows; halves hold chains c and 4 + c.
    UNROLL for (int i = 0; i < n; i++) {
        chains low01 = __builtin_shufflevector(sum[i][0], sum[i][1], 0, 8, 1, 9, 4, 12, 5, 13);
        chains low23 = __builtin_shufflevector(sum[i][2], sum[i][3], 0, 8, 1, 9, 4, 12, 5, 13);
        chains high01 = __builtin_shufflevector(sum[i][0], sum[i][1], 2, 10, 3, 11, 6, 14, 7, 15);
        chains high23 = __builtin_shufflevector(sum[i][2], sum[i][3], 2, 10, 3, 11, 6, 14, 7, 15);
        chains turned[4] = {
            __builtin_shufflevector(low01, low23, 0, 1, 8, 9, 4, 5, 12, 13),
            __builtin_shufflevector(low01, low23, 2, 3, 10, 11, 6, 7, 14, 15),
            __builtin_shufflevector(high01, high23, 0, 1, 8, 9, 4, 5, 12, 13),
            __builtin_shufflevector(high01, high23, 2, 3, 10, 11, 6, 7, 14, 15)};
        four total;
        memcpy(&total, totals + i * LANES, sizeof total);
        UNROLL for (int c = 0; c < 4; c++) total += turned[c].lo;
        UNROLL for (int c = 0; c < 4; c++) total += turned[c].hi;
        memcpy(totals + i * LANES, &total, sizeof total);
    }
}

/// The tile's products with few rows of activations; columns are whole chains.
INLINE void few_of_floats(const hub_tile *t, const hub_format format) {
    const hub_matrix *m = t->matrix;
    const uint8_t *rows = (const uint8_t *)m->weights + t->row * m->stride;
    memset(t->sums, 0, t->count * sizeof(vf));
    for (size_t from = 0; from < m->columns; from += HUB_CHUNK) {
        const size_t count = m->columns - from < HUB_CHUNK ? m->columns - from : HUB_CHUNK;
        const uint8_t *at = rows + from * (format == HUB_F32 ? 4 : 2);
        for (size_t first = 0, n; first < t->count; first += n) {
            // Groups of like size: a row alone would wait for its own sums.
            size_t left = t->count - first, groups = (left + FEW_ROWS - 1) / FEW_ROWS;
            n = (left + groups - 1) / groups;
            const float *x = t->values + first * t->stride + from;
            for (size_t lane = 0; lane < LANES; lane += 4) {
                const uint8_t *part = at + lane * m->stride;
                float *totals = t->sums + first * LANES + lane;
                switch (n) {
#define CASE(N) case N: four_rows(N, t, part, x, count, format, first == 0, totals); break
                CASE(1);
                CASE(2);
#if FEW_ROWS > 2
                CASE(3);
                CASE(4);
                CASE(5);
                CASE(6);
#endif
#undef CASE
                }
            }
        }
    }
}
