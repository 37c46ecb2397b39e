// Products of FP8 weights with rows of float32 activations, both as they lie.
#pragma once
#include "plain.h"
#include "scales.h"

/// The chains of a chunk of FP8, twice as many as elsewhere.
typedef float fp8_chains __attribute__((ext_vector_type(2 * HUB_CHAINS)));
/// Rows of activations at once.
enum { FP8_ROWS = LANES == 16 ? 4 : 2 };

/// 16 columns, 2^120 times smaller, as hub_load_fp8.
INLINE void load_fp8(const uint8_t *at, fp8_chains *out) {
    typedef int8_t bytes __attribute__((ext_vector_type(2 * HUB_CHAINS)));
    typedef int32_t words __attribute__((ext_vector_type(2 * HUB_CHAINS)));
    bytes b;
    memcpy(&b, at, sizeof b);
    // The sign comes several times, of which the first is right.
    *out = (fp8_chains)(__builtin_convertvector(b, words) << 20 & (int32_t)0x87F00000);
}

/// Adds the products of 32 columns of four rows with `n` rows of activations to their chains.
INLINE void fp8_block(
    const int n, const uint8_t *at, size_t stride, const float *x, size_t x_stride, fp8_chains sum[][4]) {
    fp8_chains v[FP8_ROWS][2];
    UNROLL for (int i = 0; i < n; i++) {
        memcpy(v[i], x + (size_t)i * x_stride, sizeof v[i]);
        UNROLL for (int c = 0; c < 2; c++) v[i][c] *= HUB_FP8_RAISED;
    }
    UNROLL for (size_t r = 0; r < 4; r++)
        UNROLL for (size_t c = 0; c < 2; c++) {
            fp8_chains w;
            load_fp8(at + r * stride + c * 2 * HUB_CHAINS, &w);
            UNROLL for (int i = 0; i < n; i++) sum[i][r] = FMA(w, v[i][c], sum[i][r]);
        }
}

/// The same of fewer columns; the others are 0.
static __attribute__((noinline)) void fp8_rest(
    size_t n, const uint8_t *at, size_t stride, const float *x, size_t x_stride, size_t count, fp8_chains sum[][4]) {
    uint8_t weights[4][HUB_BLOCK] = {{0}};
    for (size_t r = 0; r < 4; r++) memcpy(weights[r], at + r * stride, count);
    for (size_t i = 0; i < n; i++) {
        float values[HUB_BLOCK] = {0};
        memcpy(values, x + i * x_stride, count * sizeof *values);
        fp8_block(1, weights[0], HUB_BLOCK, values, 0, sum + i);
    }
}

/// Adds a chunk's products of four of the tile's rows with `n` rows of activations to their totals. The chains are
/// scaled where a group of columns ends, so that no weight is.
///
/// - at: the first row's part, and
/// - x: that of the first row of activations.
/// - lane: of the first row in the tile.
/// - next: what is prefetched meanwhile, of the tiles to come; NULL for nothing.
/// - totals: of the four, for the first row of activations.
INLINE void fp8_rows(
    const int n, const hub_tile *t, const uint8_t *at, const float *x, const hub_fp8_groups *groups, size_t lane,
    const uint8_t *next, float *totals) {
    const size_t stride = t->matrix->stride;
    fp8_chains all[FP8_ROWS][4];
    UNROLL for (int i = 0; i < n; i++) UNROLL for (int r = 0; r < 4; r++) all[i][r] = (fp8_chains)0.0f;
    for (size_t group = 0, k = 0; group < groups->count; group++) {
        const size_t end = groups->ends[group];
        fp8_chains sum[FP8_ROWS][4];
        UNROLL for (int i = 0; i < n; i++) UNROLL for (int r = 0; r < 4; r++) sum[i][r] = (fp8_chains)0.0f;
        for (; k + HUB_BLOCK <= end; k += HUB_BLOCK) {
            if (next) prefetch(next + 4 * k, 4 * HUB_BLOCK);
            fp8_block(n, at + k, stride, x + k, t->stride, sum);
        }
        if (k < end) {
            // A copy, so that the sums themselves need no address.
            fp8_chains copy[FP8_ROWS][4];
            UNROLL for (int i = 0; i < n; i++) UNROLL for (int r = 0; r < 4; r++) copy[i][r] = sum[i][r];
            fp8_rest((size_t)n, at + k, stride, x + k, t->stride, end - k, copy);
            UNROLL for (int i = 0; i < n; i++) UNROLL for (int r = 0; r < 4; r++) sum[i][r] = copy[i][r];
            k = end;
        }
        UNROLL for (int r = 0; r < 4; r++) {
            fp8_chains scale = (fp8_chains)groups->scales[group][lane + (size_t)r];
            UNROLL for (int i = 0; i < n; i++) all[i][r] = FMA(scale, sum[i][r], all[i][r]);
        }
    }
    UNROLL for (int i = 0; i < n; i++) {
        chains s[4];
        UNROLL for (int r = 0; r < 4; r++) s[r] = all[i][r].lo + all[i][r].hi;
        add_chains(s, totals + i * LANES);
    }
}

/// The tile's products.
INLINE void fp8_tile(const hub_tile *t) {
    const hub_matrix *m = t->matrix;
    const uint8_t *rows = (const uint8_t *)m->weights + t->row * m->stride;
    memset(t->sums, 0, t->count * sizeof(vf));
    for (size_t from = 0; from < m->columns; from += HUB_CHUNK) {
        const size_t count = m->columns - from < HUB_CHUNK ? m->columns - from : HUB_CHUNK;
        const size_t parts = (t->count + FP8_ROWS - 1) / FP8_ROWS;
        hub_fp8_groups groups;
        hub_fp8_scales(m, t->row, LANES, from, from + count, &groups);
        for (size_t first = 0, part = 0, n; first < t->count; first += n, part++) {
            // Parts of like size: a row alone would wait for its own sums.
            n = (t->count - first + parts - part - 1) / (parts - part);
            const float *x = t->values + first * t->stride + from;
            for (size_t lane = 0; lane < LANES; lane += 4) {
                const uint8_t *at = rows + lane * m->stride + from;
                // In the order of memory.
                const uint8_t *next = part == 0 ? rows + t->ahead + from * LANES + lane * count : NULL;
                float *totals = t->sums + first * LANES + lane;
                switch (n) {
#define CASE(N) case N: fp8_rows(N, t, at, x, &groups, lane, next, totals); break
                CASE(1);
                CASE(2);
#if LANES == 16
                CASE(3);
                CASE(4);
#endif
#undef CASE
                }
            }
        }
    }
}
