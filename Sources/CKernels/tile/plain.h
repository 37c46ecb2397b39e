// Products of float weights with rows of activations, both as they lie.
#pragma once
#include "vector.h"

/// The chains of a chunk: a row's columns side by side.
typedef float chains __attribute__((ext_vector_type(HUB_CHAINS)));
/// Rows whose chains fit a vector side by side.
enum { BESIDE = LANES == 16 ? 2 : 1 };
typedef float wide __attribute__((ext_vector_type(BESIDE * HUB_CHAINS)));

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

#if LANES == 16
INLINE wide side_by_side(chains a, chains b) {
    return __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
}
INLINE chains of_row(wide v, int row) { return row ? v.hi : v.lo; }
#else
INLINE wide side_by_side(chains a, chains b) { return (void)b, a; }
INLINE chains of_row(wide v, int row) { return (void)row, v; }
#endif

/// Adds the chains of four rows to their totals, in order.
INLINE void add_chains(const chains s[4], float *totals) {
    typedef float four __attribute__((ext_vector_type(4)));
    // From a row's chains to a chain of the rows; halves hold chains c and 4 + c.
    chains low01 = __builtin_shufflevector(s[0], s[1], 0, 8, 1, 9, 4, 12, 5, 13);
    chains low23 = __builtin_shufflevector(s[2], s[3], 0, 8, 1, 9, 4, 12, 5, 13);
    chains high01 = __builtin_shufflevector(s[0], s[1], 2, 10, 3, 11, 6, 14, 7, 15);
    chains high23 = __builtin_shufflevector(s[2], s[3], 2, 10, 3, 11, 6, 14, 7, 15);
    chains turned[4] = {
        __builtin_shufflevector(low01, low23, 0, 1, 8, 9, 4, 5, 12, 13),
        __builtin_shufflevector(low01, low23, 2, 3, 10, 11, 6, 7, 14, 15),
        __builtin_shufflevector(high01, high23, 0, 1, 8, 9, 4, 5, 12, 13),
        __builtin_shufflevector(high01, high23, 2, 3, 10, 11, 6, 7, 14, 15)};
    four total;
    memcpy(&total, totals, sizeof total);
    UNROLL for (int c = 0; c < 4; c++) total += turned[c].lo;
    UNROLL for (int c = 0; c < 4; c++) total += turned[c].hi;
    memcpy(totals, &total, sizeof total);
}

/// Adds a chunk's products of four of the tile's rows with `n` rows of activations to their totals. A weight is read
/// once, and as it lies.
///
/// - at: the first row's part, and
/// - x: that of the first row of activations.
/// - group: of `groups` that read these weights.
/// - totals: of the four, for the first row of activations.
INLINE void four_rows(
    const int n, const hub_tile *t, const uint8_t *at, const float *x, size_t count, const hub_format format,
    size_t group, size_t groups, float *totals) {
    enum { VECTORS = 4 / BESIDE };
    const size_t stride = t->matrix->stride, bytes = format == HUB_F32 ? 4 : 2;
    wide sum[ROWS_AT_ONCE][VECTORS];
    UNROLL for (int i = 0; i < n; i++) UNROLL for (int r = 0; r < VECTORS; r++) sum[i][r] = (wide)0.0f;
    // Each group asks for lines of the next tile, so that memory works all the time.
    size_t line = group * 64;
    for (size_t k = 0; k < count; k += HUB_CHAINS) {
        chains row[4];
        wide w[VECTORS];
        const bool asks = k * bytes == line;
        if (asks) line += groups * 64;
        UNROLL for (size_t r = 0; r < 4; r++) {
            const uint8_t *weights = at + r * stride + k * bytes;
            if (asks) __builtin_prefetch(weights + LANES * stride, 0, 2);
            row[r] = load_chains(format, weights);
        }
        UNROLL for (int r = 0; r < VECTORS; r++) w[r] = side_by_side(row[BESIDE * r], row[BESIDE * r + BESIDE - 1]);
        UNROLL for (int i = 0; i < n; i++) {
            chains same = load_chains(HUB_F32, (const uint8_t *)(x + (size_t)i * t->stride + k));
            wide v = side_by_side(same, same);
            UNROLL for (int r = 0; r < VECTORS; r++) sum[i][r] = FMA(w[r], v, sum[i][r]);
        }
    }
    UNROLL for (int i = 0; i < n; i++) {
        chains s[4];
        UNROLL for (int r = 0; r < 4; r++) s[r] = of_row(sum[i][r / BESIDE], r % BESIDE);
        add_chains(s, totals + i * LANES);
    }
}

/// The tile's products; columns are whole chains.
INLINE void plain_tile(const hub_tile *t, const hub_format format) {
    const hub_matrix *m = t->matrix;
    const uint8_t *rows = (const uint8_t *)m->weights + t->row * m->stride;
    memset(t->sums, 0, t->count * sizeof(vf));
    for (size_t from = 0; from < m->columns; from += HUB_CHUNK) {
        const size_t count = m->columns - from < HUB_CHUNK ? m->columns - from : HUB_CHUNK;
        const uint8_t *at = rows + from * (format == HUB_F32 ? 4 : 2);
        const size_t groups = (t->count + ROWS_AT_ONCE - 1) / ROWS_AT_ONCE;
        for (size_t first = 0, group = 0, n; first < t->count; first += n, group++) {
            // Groups of like size: a row alone would wait for its own sums.
            n = (t->count - first + groups - group - 1) / (groups - group);
            const float *x = t->values + first * t->stride + from;
            for (size_t lane = 0; lane < LANES && lane < m->rows; lane += 4) {
                const uint8_t *part = at + lane * m->stride;
                float *totals = t->sums + first * LANES + lane;
                switch (n) {
#define CASE(N) case N: four_rows(N, t, part, x, count, format, group, groups, totals); break
                CASE(1);
                CASE(2);
#if ROWS_AT_ONCE > 2
                CASE(3);
                CASE(4);
                CASE(5);
                CASE(6);
                CASE(7);
                CASE(8);
                CASE(9);
                CASE(10);
                CASE(11);
                CASE(12);
#endif
#undef CASE
                }
            }
        }
    }
}
