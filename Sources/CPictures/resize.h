#pragma once
#include "CPictures.h"

/// Bits behind the point of a weight.
#define WEIGHT_BITS 22
/// What is added to a sum to round it.
#define WEIGHT_HALF (1 << (WEIGHT_BITS - 1))

static inline uint8_t hub_resize_clip(int32_t sum) {
    const int32_t level = sum >> WEIGHT_BITS;
    return (uint8_t)(level < 0 ? 0 : level > 255 ? 255 : level);
}

#if defined(__x86_64__)
void hub_resize_rows_avx2(
    const uint8_t *source, const uint8_t *end, size_t width, size_t rows, const hub_resize_plan *plan,
    const int16_t *halves, uint8_t *target);
void hub_resize_columns_avx2(
    const uint8_t *source, size_t bytes, const hub_resize_plan *plan, size_t first, size_t last, uint8_t *target);
#endif
