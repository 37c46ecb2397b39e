// Products of BF16 weights with activations rounded to bf16, two columns at a time.
#if defined(__x86_64__)
#include <immintrin.h>
#pragma clang attribute push( \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512bf16,avx2,fma,f16c"))), apply_to = function)
#include "avx512.h"

/// 16 bytes of each of the tile's rows: vector c gets the rows' word c, two columns.
INLINE void load_pairs(const uint8_t *at, size_t stride, vu v[4]) {
    load_pieces(at, stride, v);
    turn(v);
}

/// Adds the products of `count` pairs of columns with rows `first` to `first + n` of a panel to their totals.
INLINE void rows_of(
    const int n, const vu *pairs, size_t from, size_t count, const hub_panel *panel, size_t first, vf *totals) {
    const size_t width = panel->width;
    const uint16_t *x = panel->bf16 + 2 * (from * width + first);
    vf sum[HUB_PANEL], total[HUB_PANEL];
    UNROLL for (int i = 0; i < n; i++) total[i] = totals[i];
    for (size_t chain = 0; chain < HUB_CHAINS; chain++) {
        UNROLL for (int i = 0; i < n; i++) sum[i] = (vf)0.0f;
        for (size_t k = chain; k < count; k += HUB_CHAINS) {
            UNROLL for (int i = 0; i < n; i++) {
                int32_t two;
                memcpy(&two, x + 2 * (k * width + (size_t)i), sizeof two);
                sum[i] = (vf)_mm512_dpbf16_ps((__m512)sum[i], (__m512bh)pairs[k], (__m512bh)_mm512_set1_epi32(two));
            }
        }
        UNROLL for (int i = 0; i < n; i++) total[i] += sum[i];
    }
    UNROLL for (int i = 0; i < n; i++) totals[i] = total[i];
}

/// `count` of sixteen bf16 numbers; the others are 0.
INLINE __m256bh load_bf16(const void *at, size_t count) {
    return (__m256bh)_mm256_maskz_loadu_epi16((__mmask16)(count < 16 ? (1u << count) - 1 : 0xFFFF), at);
}

/// The only row of activations: eight chains of pairs side by side, for four rows of weights at a time.
static void one_row(const hub_tile *t) {
    enum { TOGETHER = 4, PAIRS = 16 };
    const hub_matrix *m = t->matrix;
    const uint8_t *rows = (const uint8_t *)m->weights + t->row * m->stride;
    __m256 sums[LANES];
    vf total = (vf)0.0f;
    for (size_t from = 0; from < m->columns; from += HUB_CHUNK) {
        size_t end = m->columns - from < HUB_CHUNK ? m->columns : from + HUB_CHUNK;
        for (size_t lane = 0; lane < LANES; lane += TOGETHER) {
            __m256 sum[TOGETHER];
            UNROLL for (int i = 0; i < TOGETHER; i++) sum[i] = _mm256_setzero_ps();
            for (size_t k = from; k < end; k += PAIRS) {
                __m256bh x = load_bf16(t->panels->bf16 + k, end - k);
                UNROLL for (size_t i = 0; i < TOGETHER; i++) {
                    const uint8_t *at = rows + (lane + i) * m->stride + 2 * k;
                    if (k % 32 == 0) __builtin_prefetch(at + LANES * m->stride, 0, 2);
                    sum[i] = _mm256_dpbf16_ps(sum[i], load_bf16(at, end - k), x);
                }
            }
            UNROLL for (int i = 0; i < TOGETHER; i++) sums[lane + (size_t)i] = sum[i];
        }
        for (size_t chain = 0; chain < HUB_CHAINS; chain += 4) {
            vu v[4];
            load_pairs((const uint8_t *)sums + 4 * chain, sizeof *sums, v);
            UNROLL for (int i = 0; i < 4; i++) total += (vf)v[i];
        }
    }
    *(vf *)t->sums = total;
}

void hub_tile_bf16_avx512(const hub_tile *t) {
    if (t->count == 1) {
        one_row(t);
        return;
    }
    const hub_matrix *m = t->matrix;
    vf *sums = (vf *)t->sums;
    vu *pairs = t->scratch;
    const uint8_t *start = (const uint8_t *)m->weights + t->row * m->stride, *next = start + LANES * m->stride;
    for (size_t row = 0; row < t->count; row++) sums[row] = (vf)0.0f;
    for (size_t from = 0; from < m->columns; from += HUB_CHUNK) {
        size_t count = m->columns - from < HUB_CHUNK ? m->columns - from : HUB_CHUNK, k = 0;
        prefetch(next + from * 2 * LANES, count * 2 * LANES);
        for (; k + 8 <= count; k += 8) load_pairs(start + (from + k) * 2, m->stride, pairs + k / 2);
        for (; k < count; k += 2) {
            // The end of a row, where the second column of the last pair may be missing.
            uint32_t words[LANES];
            for (size_t lane = 0; lane < LANES; lane++) {
                const uint8_t *at = start + lane * m->stride + (from + k) * 2;
                words[lane] = hub_load_u16(at) | (k + 1 < count ? (uint32_t)hub_load_u16(at + 2) << 16 : 0);
            }
            memcpy(&pairs[k / 2], words, sizeof words);
        }
        const hub_panel *panel = t->panels;
        size_t whole = (count + 1) / 2;
        for (size_t row = 0; row < t->count; row += HUB_PANEL, panel++) {
            size_t i = 0;
            if (panel->width == 12) {
                rows_of(12, pairs, from / 2, whole, panel, 0, sums + row);
                continue;
            }
            for (; i + 4 <= panel->width; i += 4) rows_of(4, pairs, from / 2, whole, panel, i, sums + row + i);
            for (; i < panel->width; i++) rows_of(1, pairs, from / 2, whole, panel, i, sums + row + i);
        }
    }
}
#pragma clang attribute pop
#endif
