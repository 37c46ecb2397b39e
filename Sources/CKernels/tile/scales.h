// Scales that lie beside the weights, as in safetensors.
#pragma once
#include "../kernels.h"

static inline float hub_scale_at(hub_format format, const void *scales, size_t index) {
    const uint8_t *at = (const uint8_t *)scales;
    if (format == HUB_F16) return hub_load_f16(at + 2 * index);
    if (format == HUB_BF16) return hub_load_bf16(at + 2 * index);
    return hub_load_f32(at + 4 * index);
}

/// FP8: the scale of a weight, for products of raised activations with numbers as hub_load_fp8 gives them.
static inline float hub_fp8_scale(const hub_matrix *m, size_t row, size_t column) {
    const uint8_t *at = m->scales;
    at += (m->first + row) / m->scale_rows * m->scale_stride + column / m->group * m->group_stride;
    return HUB_FP8_MISSING * hub_scale_at(m->scale_format, at, 0);
}

/// The end of the columns that share a scale with `from`, before `end`.
static inline size_t hub_group_end(const hub_matrix *m, size_t from, size_t end) {
    size_t group_end = (from / m->group + 1) * m->group;
    return group_end < end ? group_end : end;
}

/// FP8: the scales of a tile's rows for a chunk of columns.
typedef struct {
    size_t count;                              ///< groups of columns, or parts of them
    size_t ends[HUB_CHUNK / HUB_BLOCK];        ///< of each, counted from the chunk's first column
    float scales[HUB_CHUNK / HUB_BLOCK][HUB_MOST_LANES];
} hub_fp8_groups;

static inline void hub_fp8_scales(const hub_matrix *m, size_t row, size_t lanes, size_t from, size_t end, hub_fp8_groups *g) {
    const size_t start = m->first + row, each = m->scale_rows, line = start / each;
    const bool is_shared = line == (start + lanes - 1) / each;
    g->count = 0;
    for (size_t at = from; at < end; g->count++) {
        const uint8_t *scale = (const uint8_t *)m->scales + line * m->scale_stride + at / m->group * m->group_stride;
        float *out = g->scales[g->count];
        for (size_t i = 0; i < lanes; i++) {
            if (each == 1 || i == 0) out[i] = HUB_FP8_MISSING * hub_scale_at(m->scale_format, scale + i * m->scale_stride, 0);
            else out[i] = is_shared ? out[0] : hub_fp8_scale(m, row + i, at);
        }
        at = hub_group_end(m, at, end);
        g->ends[g->count] = at - from;
    }
}

/// Where AWQ's words have the eight outputs.
static const uint8_t hub_awq_places[8] = {0, 4, 1, 5, 2, 6, 3, 7};

/// Number `index` of a stream of `bits` bits each, little-endian words with `stride` bytes from one to the next.
static inline int hub_stream_at(const uint8_t *words, size_t stride, int bits, size_t index) {
    const size_t bit = index * (size_t)bits, shift = bit % 32;
    const uint8_t *at = words + bit / 32 * stride;
    uint32_t value = hub_load_u32(at) >> shift;
    if (shift + (size_t)bits > 32) value |= hub_load_u32(at + stride) << (32 - shift);
    return (int)(value & ((1u << bits) - 1));
}

/// AWQ and GPTQ: the zero of an output's group.
static inline int hub_turned_zero(const hub_matrix *m, size_t output, size_t group) {
    const uint8_t *zeros = (const uint8_t *)m->zeros + group * m->zero_stride;
    if (m->format == HUB_AWQ) return hub_stream_at(zeros + output / 8 * 4, 4, 4, hub_awq_places[output % 8]);
    return (hub_stream_at(zeros, 4, m->bits, output) + m->zero_less) & ((1 << m->bits) - 1);
}

/// Integers by row without biases: the zero of a group.
static inline int hub_row_zero(const hub_matrix *m, size_t row, size_t group) {
    const int middle = 1 << (m->bits - 1);
    if (!m->zeros) return middle;
    const size_t index = (m->first + row) * (m->columns / m->group) + group;
    if (m->zero_stride == 0) return middle + ((const int8_t *)m->zeros)[index];
    return hub_stream_at((const uint8_t *)m->zeros + group * 4, m->zero_stride, m->bits, m->first + row);
}

/// TABLE4: the scale of a weight.
static inline float hub_table_scale(const hub_matrix *m, size_t row, size_t column) {
    const size_t index = ((m->first + row) * m->columns + column) / m->group;
    const uint8_t *scales = m->scales;
    if (!m->nested) return hub_load_f32(scales + 4 * index);
    const uint8_t *table = m->nested_table, *nested = m->nested;
    const float coarse = hub_load_f32(nested + index / m->nested_group * 4);
    return __builtin_fmaf(hub_load_f32(table + scales[index] * 4), coarse, m->offset);
}
