#if defined(__x86_64__)
#include "resize.h"
#include <immintrin.h>
#include <string.h>
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)

/// Rows that share the loading of weights.
#define ROWS 4
#define INLINE static inline __attribute__((always_inline))

/// Red, green and blue of two lots of sums, rounded and clipped, in the lowest three bytes.
INLINE int32_t pixel_of(__m256i low, __m256i high) {
    const __m256i both = _mm256_add_epi32(low, _mm256_slli_epi32(high, 12));
    __m128i sum = _mm_add_epi32(_mm256_castsi256_si128(both), _mm256_extracti128_si256(both, 1));
    sum = _mm_srai_epi32(_mm_add_epi32(sum, _mm_set1_epi32(WEIGHT_HALF)), WEIGHT_BITS);
    sum = _mm_packus_epi32(sum, sum);
    return _mm_cvtsi128_si32(_mm_packus_epi16(sum, sum));
}

/// `count` rows, at most ROWS, a constant where it is called.
INLINE void resize_rows(
    const uint8_t *source, size_t width, const hub_resize_plan *plan, const int16_t *halves, uint8_t *target,
    const size_t count) {
    // Of four pixels: the same colour of the first two side by side, in 16 bits each; in the upper half, of the other two.
    const __m256i pairs = _mm256_setr_epi8(
        0, -1, 3, -1, 1, -1, 4, -1, 2, -1, 5, -1, -1, -1, -1, -1,
        6, -1, 9, -1, 7, -1, 10, -1, 8, -1, 11, -1, -1, -1, -1, -1);
    const __m256i lower = _mm256_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1), upper = _mm256_setr_epi32(2, 2, 2, 2, 3, 3, 3, 3);
    const size_t stride = 3 * width, target_stride = 3 * plan->outputs;
    for (size_t i = 0; i < plan->outputs; i++, target += 3) {
        const uint8_t *pixel = source + 3 * (size_t)plan->starts[i];
        const int16_t *group = halves + 2 * plan->stride * i;
        __m256i low[ROWS], high[ROWS];
        for (size_t y = 0; y < count; y++) low[y] = high[y] = _mm256_setzero_si256();
        for (size_t k = 0; k < (size_t)plan->taps[i]; k += 4, group += 8, pixel += 12) {
            const __m256i four = _mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)group));
            const __m256i low_weights = _mm256_permutevar8x32_epi32(four, lower);
            const __m256i high_weights = _mm256_permutevar8x32_epi32(four, upper);
            for (size_t y = 0; y < count; y++) {
                const __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)(pixel + y * stride));
                const __m256i words = _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(bytes), pairs);
                low[y] = _mm256_add_epi32(low[y], _mm256_madd_epi16(words, low_weights));
                high[y] = _mm256_add_epi32(high[y], _mm256_madd_epi16(words, high_weights));
            }
        }
        for (size_t y = 0; y < count; y++) {
            const int32_t made = pixel_of(low[y], high[y]);
            memcpy(target + y * target_stride, &made, 3);
        }
    }
}

void hub_resize_rows_avx2(
    const uint8_t *source, const uint8_t *end, size_t width, size_t rows, const hub_resize_plan *plan,
    const int16_t *halves, uint8_t *target) {
    (void)end;
    size_t y = 0;
    for (; y + ROWS <= rows; y += ROWS)
        resize_rows(source + 3 * width * y, width, plan, halves, target + 3 * plan->outputs * y, ROWS);
    for (; y < rows; y++)
        resize_rows(source + 3 * width * y, width, plan, halves, target + 3 * plan->outputs * y, 1);
}

INLINE __m256i load(const uint8_t *at) { return _mm256_loadu_si256((const __m256i *)(const void *)at); }

/// Adds two rows, of which bytes are paired, with two weights each.
INLINE void add_pair(__m256i pair, __m256i low_weights, __m256i high_weights, __m256i *low, __m256i *high) {
    *low = _mm256_add_epi32(*low, _mm256_madd_epi16(pair, low_weights));
    *high = _mm256_add_epi32(*high, _mm256_madd_epi16(pair, high_weights));
}

INLINE __m256i level(__m256i low, __m256i high) {
    const __m256i sum = _mm256_add_epi32(low, _mm256_slli_epi32(high, 12));
    return _mm256_srai_epi32(_mm256_add_epi32(sum, _mm256_set1_epi32(WEIGHT_HALF)), WEIGHT_BITS);
}

void hub_resize_columns_avx2(
    const uint8_t *source, size_t bytes, const hub_resize_plan *plan, size_t first, size_t last, uint8_t *target) {
    const __m256i zero = _mm256_setzero_si256();
    for (size_t i = first; i < last; i++, target += bytes) {
        const int32_t *weights = plan->weights + plan->stride * i;
        const uint8_t *top = source + bytes * (size_t)plan->starts[i];
        const size_t taps = (size_t)plan->taps[i];
        for (size_t at = 0; at + 32 <= bytes; at += 32) {
            __m256i low[4] = {zero, zero, zero, zero}, high[4] = {zero, zero, zero, zero};
            for (size_t k = 0; k < taps; k += 2) {
                const uint8_t *row = top + bytes * k + at;
                const int has_other = k + 1 < taps;
                const int32_t one = weights[k], other = has_other ? weights[k + 1] : 0;
                const __m256i low_weights = _mm256_set1_epi32((one & 0xFFF) | (other & 0xFFF) << 16);
                const __m256i high_weights =
                    _mm256_set1_epi32((int32_t)((uint32_t)(one >> 12) & 0xFFFF) | (int32_t)((uint32_t)(other >> 12) << 16));
                const __m256i a = load(row), b = has_other ? load(row + bytes) : zero;
                const __m256i left = _mm256_unpacklo_epi8(a, b), right = _mm256_unpackhi_epi8(a, b);
                add_pair(_mm256_unpacklo_epi8(left, zero), low_weights, high_weights, &low[0], &high[0]);
                add_pair(_mm256_unpackhi_epi8(left, zero), low_weights, high_weights, &low[1], &high[1]);
                add_pair(_mm256_unpacklo_epi8(right, zero), low_weights, high_weights, &low[2], &high[2]);
                add_pair(_mm256_unpackhi_epi8(right, zero), low_weights, high_weights, &low[3], &high[3]);
            }
            const __m256i left = _mm256_packus_epi32(level(low[0], high[0]), level(low[1], high[1]));
            const __m256i right = _mm256_packus_epi32(level(low[2], high[2]), level(low[3], high[3]));
            _mm256_storeu_si256((__m256i *)(void *)(target + at), _mm256_packus_epi16(left, right));
        }
    }
}

#pragma clang attribute pop
#endif
