// Every packed format by definition: 32 columns of one row as signed bytes with scales and minima, one for each half.
// A weight is scale * q + minimum. The tiles of the instruction sets give the same numbers.
//
// Layouts: https://github.com/ggml-org/llama.cpp/blob/master/ggml/src/ggml-common.h,
// https://ml-explore.github.io/mlx/build/html/python/_autosummary/mlx.core.quantize.html
#pragma once
#include "row_grids.h"

/// The values of IQ4's 16 codes.
static const int8_t hub_iq4_values[16] = {
    -127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};

/// Scale and minimum `j` of a block of Q4_K or Q5_K, 6 bits each.
static inline void hub_k4_scale(const uint8_t *s, size_t j, int *scale, int *minimum) {
    if (j < 4) {
        *scale = s[j] & 63;
        *minimum = s[j + 4] & 63;
    } else {
        *scale = (s[j + 4] & 15) | (s[j - 4] >> 6) << 4;
        *minimum = s[j + 4] >> 4 | (s[j] >> 6) << 4;
    }
}

/// Scale `i` of 16 of a block of Q3_K, 6 bits with an offset of 32.
static inline int hub_q3_scale(const uint8_t *s, size_t i) {
    int low = i < 8 ? s[i] & 15 : s[i - 8] >> 4;
    return (low | (s[8 + i % 4] >> 2 * (i / 4) & 3) << 4) - 32;
}

static inline void hub_row_MLX(const hub_matrix *m, size_t row, size_t block, hub_row_block *b) {
    const uint8_t *at = (const uint8_t *)m->weights + row * m->stride + block * 4 * m->bits;
    size_t index = row * (m->columns / m->group) + block * HUB_BLOCK / m->group;
    float scale = hub_scale_at(m->scale_format, m->scales, index);
    float minimum = m->biases ? hub_scale_at(m->scale_format, m->biases, index)
                              : scale * (float)-hub_row_zero(m, row, block * HUB_BLOCK / m->group);
    uint32_t bits = 0;
    int have = 0;
    for (int i = 0; i < HUB_BLOCK; i++) {
        while (have < m->bits) {
            bits |= (uint32_t)*at++ << have;
            have += 8;
        }
        int q = (int)(bits & ((1u << m->bits) - 1));
        bits >>= m->bits;
        have -= m->bits;
        b->q[i] = (int8_t)(m->bits == 8 ? q - 128 : q);
    }
    if (m->bits == 8) minimum = __builtin_fmaf(128, scale, minimum);
    b->scale[0] = b->scale[1] = scale;
    b->minimum[0] = b->minimum[1] = minimum;
}

static inline void hub_row_MXFP4_APART(const hub_matrix *m, size_t row, size_t block, hub_row_block *b) {
    const uint8_t *at = (const uint8_t *)m->weights + row * m->stride + block * 16;
    for (int i = 0; i < HUB_BLOCK; i++) b->q[i] = hub_fp4_values[at[i / 2] >> 4 * (i % 2) & 15];
    b->scale[0] = b->scale[1] = hub_load_exponent((const uint8_t *)m->scales + row * (m->columns / HUB_BLOCK) + block);
    memset(b->minimum, 0, sizeof b->minimum);
}

/// AWQ and GPTQ: the code of a weight.
static inline int hub_turned_code(const hub_matrix *m, size_t output, size_t column) {
    const uint8_t *weights = m->weights;
    if (m->format == HUB_GPTQ) return hub_stream_at(weights + output * 4, m->stride, m->bits, column);
    return hub_stream_at(weights + column * m->stride + output / 8 * 4, 4, 4, hub_awq_places[output % 8]);
}
static inline float hub_turned_scale(const hub_matrix *m, size_t output, size_t group) {
    return hub_scale_at(m->scale_format, (const uint8_t *)m->scales + group * m->group_stride, output);
}

/// A weight of a matrix that goes by column.
static inline float hub_turned_weight(const hub_matrix *m, size_t row, size_t column) {
    const size_t output = m->first + row, group = hub_group_at(m, column);
    return hub_turned_scale(m, output, group) * (float)(hub_turned_code(m, output, column) - hub_turned_zero(m, output, group));
}

static inline void hub_row_turned(const hub_matrix *m, size_t row, size_t block, hub_row_block *b) {
    const size_t output = m->first + row, group = block * HUB_BLOCK / m->group;
    const int offset = m->bits == 8 ? 128 : 0;
    for (size_t i = 0; i < HUB_BLOCK; i++) b->q[i] = (int8_t)(hub_turned_code(m, output, block * HUB_BLOCK + i) - offset);
    b->scale[0] = b->scale[1] = hub_turned_scale(m, output, group);
    b->minimum[0] = b->minimum[1] = b->scale[0] * (float)(offset - hub_turned_zero(m, output, group));
}

static inline void hub_row_INT8(const hub_matrix *m, size_t row, size_t block, hub_row_block *b) {
    memcpy(b->q, (const uint8_t *)m->weights + row * m->stride + block * HUB_BLOCK, HUB_BLOCK);
    const size_t index = row * (m->columns / m->group) + block * HUB_BLOCK / m->group;
    b->scale[0] = b->scale[1] = hub_scale_at(m->scale_format, m->scales, index) * m->factor;
    memset(b->minimum, 0, sizeof b->minimum);
}

static inline void hub_row_NVFP4_APART(const hub_matrix *m, size_t row, size_t block, hub_row_block *b) {
    const uint8_t *at = (const uint8_t *)m->weights + row * m->stride + block * 16;
    for (int i = 0; i < HUB_BLOCK; i++) b->q[i] = hub_fp4_values[at[i / 2] >> 4 * (i % 2) & 15];
    // The numbers are stored twice as large.
    const uint8_t *scales = (const uint8_t *)m->scales + row * (m->columns / 16) + 2 * block;
    for (int half = 0; half < 2; half++) b->scale[half] = hub_load_fp8(scales + half) * 0x1p120f * (0.5f * m->factor);
    memset(b->minimum, 0, sizeof b->minimum);
}

static inline void hub_row_AWQ(const hub_matrix *m, size_t row, size_t block, hub_row_block *b) { hub_row_turned(m, row, block, b); }
static inline void hub_row_GPTQ(const hub_matrix *m, size_t row, size_t block, hub_row_block *b) { hub_row_turned(m, row, block, b); }

// HQQ (https://github.com/mobiusml/hqq, hqq/core/quantize.py): weight = scale * (q - zero), of which `zeros` are numbers like `scales`.
// Weights are counted over the rows of the whole. `group` of them make a line, and as many lines are packed into one as it has
// places for `bits` bits, the first line in the highest: `scale_rows` are left, of bytes, or of words for 3 bits. A scale belongs
// to a line, `scale_stride` bytes from the next line's, or to a column of lines, `group_stride` bytes from the next column's; the
// other one is 0. `stride` is 0.

/// Where a weight is: a line and a column of it.
typedef struct { size_t line, column; } hub_hqq_position;
static inline hub_hqq_position hub_hqq_place(const hub_matrix *m, size_t row, size_t column) {
    const size_t index = (m->first + row) * m->columns + column;
    return (hub_hqq_position){index / m->group, index % m->group};
}
static inline int hub_hqq_code(const hub_matrix *m, hub_hqq_position at) {
    const size_t index = at.line % m->scale_rows * m->group + at.column, place = at.line / m->scale_rows;
    const uint8_t *words = m->weights;
    if (m->bits == 3) return (int)(hub_load_u32(words + 4 * index) >> (27 - 3 * place) & 7);
    return words[index] >> (8 - m->bits * (place + 1)) & ((1 << m->bits) - 1);
}
/// A scale or a zero.
static inline float hub_hqq_number(const hub_matrix *m, const void *numbers, hub_hqq_position at) {
    const uint8_t *start = numbers;
    return hub_scale_at(m->scale_format, start + at.line * m->scale_stride + at.column * m->group_stride, 0);
}
static inline void hub_row_HQQ(const hub_matrix *m, size_t row, size_t block, hub_row_block *b) {
    hub_hqq_position at = hub_hqq_place(m, row, block * HUB_BLOCK);
    const int offset = m->bits == 8 ? 128 : 0;
    const float scale = hub_hqq_number(m, m->scales, at);
    float minimum = -(hub_hqq_number(m, m->zeros, at) * scale);
    if (offset) minimum = __builtin_fmaf((float)offset, scale, minimum);
    for (size_t i = 0; i < HUB_BLOCK; i++, at.column++) b->q[i] = (int8_t)(hub_hqq_code(m, at) - offset);
    b->scale[0] = b->scale[1] = scale;
    b->minimum[0] = b->minimum[1] = minimum;
}

// Of matrices that go by column: which do, and a weight.


/// Whether groups of columns are not whole blocks.
static inline bool hub_has_odd_groups(const hub_matrix *m) { return m->group % HUB_BLOCK || m->columns % HUB_BLOCK; }
static inline bool hub_is_by_column_MLX(const hub_matrix *m) { return !m->biases && (m->order || hub_has_odd_groups(m)); }
static inline bool hub_is_by_column_MXFP4_APART(const hub_matrix *m) {
    (void)m;
    return false;
}
static inline bool hub_is_by_column_INT8(const hub_matrix *m) { return hub_has_odd_groups(m); }
static inline bool hub_is_by_column_TABLE4(const hub_matrix *m) { return hub_has_odd_groups(m); }
static inline bool hub_is_by_column_NVFP4_APART(const hub_matrix *m) { return m->columns % HUB_BLOCK; }
static inline bool hub_is_by_column_GPTQ(const hub_matrix *m) {
    return m->order || hub_has_odd_groups(m) || (m->bits != 4 && m->bits != 8);
}
static inline bool hub_is_by_column_AWQ(const hub_matrix *m) { return hub_is_by_column_GPTQ(m); }

/// Where lines are not parts of rows in whole blocks, or share no scale.
static inline bool hub_is_by_column_HQQ(const hub_matrix *m) { return m->group_stride || m->group % HUB_BLOCK || m->columns % m->group; }
static inline float hub_weight_HQQ(const hub_matrix *m, size_t row, size_t column) {
    const hub_hqq_position at = hub_hqq_place(m, row, column);
    return hub_hqq_number(m, m->scales, at) * ((float)hub_hqq_code(m, at) - hub_hqq_number(m, m->zeros, at));
}

static inline const uint8_t *hub_row_start(const hub_matrix *m, size_t row) { return (const uint8_t *)m->weights + row * m->stride; }
/// The scale of an integer by row.
static inline float hub_integer_scale(const hub_matrix *m, size_t row, size_t group) {
    return hub_scale_at(m->scale_format, m->scales, row * (m->columns / m->group) + group);
}
static inline float hub_weight_MLX(const hub_matrix *m, size_t row, size_t column) {
    const size_t group = hub_group_at(m, column);
    const int code = hub_stream_at(hub_row_start(m, row), 4, m->bits, column);
    return hub_integer_scale(m, row, group) * (float)(code - hub_row_zero(m, row, group));
}
static inline float hub_weight_INT8(const hub_matrix *m, size_t row, size_t column) {
    return hub_integer_scale(m, row, hub_group_at(m, column)) * m->factor * (float)(int8_t)hub_row_start(m, row)[column];
}
/// The code of two in a byte, the first in the lower half.
static inline float hub_fp4_at(const hub_matrix *m, size_t row, size_t column) {
    return (float)hub_fp4_values[hub_row_start(m, row)[column / 2] >> 4 * (column % 2) & 15];
}
static inline float hub_weight_NVFP4_APART(const hub_matrix *m, size_t row, size_t column) {
    const uint8_t *scale = (const uint8_t *)m->scales + row * (m->columns / 16) + column / 16;
    return hub_load_fp8(scale) * 0x1p120f * (0.5f * m->factor) * hub_fp4_at(m, row, column);
}
static inline float hub_weight_MXFP4_APART(const hub_matrix *m, size_t row, size_t column) {
    const uint8_t *scale = (const uint8_t *)m->scales + row * (m->columns / HUB_BLOCK) + column / HUB_BLOCK;
    return hub_load_exponent(scale) * hub_fp4_at(m, row, column);
}
static inline float hub_weight_TABLE4(const hub_matrix *m, size_t row, size_t column) {
    const size_t code = hub_row_start(m, row)[column / 2] >> 4 * (1 - column % 2) & 15;
    return hub_load_f32((const uint8_t *)m->table + 4 * code) * hub_table_scale(m, row, column);
}
static inline float hub_weight_AWQ(const hub_matrix *m, size_t row, size_t column) { return hub_turned_weight(m, row, column); }
static inline float hub_weight_GPTQ(const hub_matrix *m, size_t row, size_t column) { return hub_turned_weight(m, row, column); }

/// A weight of a matrix that hub_is_single.
static inline float hub_single_weight(const hub_matrix *m, size_t row, size_t column) {
    switch (m->format) {
#define HUB_PACKED(NAME, block, bytes, halves, minima)                                                                 \
    case HUB_##NAME: return hub_weight_##NAME(m, row, column);
#include "../include/hub_formats.def"
    default: return hub_weight_TABLE4(m, row, column);
    }
}

static inline void hub_row_of_blocks(const hub_matrix *m, size_t row, size_t block, hub_row_block *b) {
    const hub_format_info *info = &hub_formats[m->format];
    size_t each = info->block / HUB_BLOCK, part = block % each, n = part / 4, j = part % 4;
    const uint8_t *at = (const uint8_t *)m->weights + row * m->stride + block / each * info->bytes;
    const uint8_t *s;
    int scale, minimum;
    float d, least;
    memset(b->minimum, 0, sizeof b->minimum);
    switch (m->format) {
    case HUB_Q4_0:
        for (int i = 0; i < 16; i++) {
            b->q[i] = (int8_t)((at[2 + i] & 15) - 8);
            b->q[i + 16] = (int8_t)((at[2 + i] >> 4) - 8);
        }
        b->scale[0] = b->scale[1] = hub_load_f16(at);
        break;
    case HUB_Q4_1:
        for (int i = 0; i < 16; i++) {
            b->q[i] = (int8_t)(at[4 + i] & 15);
            b->q[i + 16] = (int8_t)(at[4 + i] >> 4);
        }
        b->scale[0] = b->scale[1] = hub_load_f16(at);
        b->minimum[0] = b->minimum[1] = hub_load_f16(at + 2);
        break;
    case HUB_Q5_0:
    case HUB_Q5_1: {
        int start = m->format == HUB_Q5_0 ? 2 : 4, offset = m->format == HUB_Q5_0 ? 16 : 0;
        uint32_t high = hub_load_u32(at + start);
        for (int i = 0; i < 16; i++) {
            b->q[i] = (int8_t)(((at[start + 4 + i] & 15) | (high >> i & 1) << 4) - offset);
            b->q[i + 16] = (int8_t)((at[start + 4 + i] >> 4 | (high >> (i + 16) & 1) << 4) - offset);
        }
        b->scale[0] = b->scale[1] = hub_load_f16(at);
        if (start == 4) b->minimum[0] = b->minimum[1] = hub_load_f16(at + 2);
        break;
    }
    case HUB_Q8_0:
        memcpy(b->q, at + 2, HUB_BLOCK);
        b->scale[0] = b->scale[1] = hub_load_f16(at);
        break;
    case HUB_Q2_K:
        d = hub_load_f16(at + 80), least = hub_load_f16(at + 82);
        for (int i = 0; i < HUB_BLOCK; i++) b->q[i] = (int8_t)(at[16 + 32 * n + i] >> 2 * j & 3);
        for (int half = 0; half < 2; half++) {
            b->scale[half] = d * (float)(at[2 * part + half] & 15);
            b->minimum[half] = -(least * (float)(at[2 * part + half] >> 4));
        }
        break;
    case HUB_Q3_K:
        d = hub_load_f16(at + 108);
        for (int i = 0; i < HUB_BLOCK; i++)
            b->q[i] = (int8_t)((at[32 + 32 * n + i] >> 2 * j & 3) - (at[i] >> part & 1 ? 0 : 4));
        for (int half = 0; half < 2; half++) b->scale[half] = d * (float)hub_q3_scale(at + 96, 2 * part + half);
        break;
    case HUB_Q4_K:
    case HUB_Q5_K:
        d = hub_load_f16(at), least = hub_load_f16(at + 2);
        hub_k4_scale(at + 4, part, &scale, &minimum);
        s = at + (m->format == HUB_Q4_K ? 16 : 48) + part / 2 * 32;
        for (int i = 0; i < HUB_BLOCK; i++) {
            int q = part % 2 ? s[i] >> 4 : s[i] & 15;
            if (m->format == HUB_Q5_K) q |= (at[16 + i] >> part & 1) << 4;
            b->q[i] = (int8_t)q;
        }
        b->scale[0] = b->scale[1] = d * (float)scale;
        b->minimum[0] = b->minimum[1] = -(least * (float)minimum);
        break;
    case HUB_Q6_K:
        d = hub_load_f16(at + 208);
        for (int i = 0; i < HUB_BLOCK; i++) {
            int low = at[64 * n + 32 * (j & 1) + (size_t)i] >> 4 * (j >> 1) & 15;
            b->q[i] = (int8_t)((low | (at[128 + 32 * n + (size_t)i] >> 2 * j & 3) << 4) - 32);
        }
        for (int half = 0; half < 2; half++) b->scale[half] = d * (float)(int8_t)at[192 + 2 * part + (size_t)half];
        break;
    case HUB_IQ4_NL:
    case HUB_IQ4_XS:
        d = hub_load_f16(at);
        s = at + 2;
        if (m->format == HUB_IQ4_XS) {
            int low = at[4 + part / 2] >> 4 * (part % 2) & 15, high = hub_load_u16(at + 2) >> 2 * part & 3;
            d *= (float)((low | high << 4) - 32);
            s = at + 8 + 16 * part;
        }
        for (int i = 0; i < 16; i++) {
            b->q[i] = hub_iq4_values[s[i] & 15];
            b->q[i + 16] = hub_iq4_values[s[i] >> 4];
        }
        b->scale[0] = b->scale[1] = d;
        break;
    case HUB_MXFP4:
        for (int i = 0; i < 16; i++) {
            b->q[i] = hub_fp4_values[at[1 + i] & 15];
            b->q[i + 16] = hub_fp4_values[at[1 + i] >> 4];
        }
        b->scale[0] = b->scale[1] = hub_load_exponent(at);
        break;
    default: hub_row_of_grid(m, at, part, b);
    }
}

static inline void hub_row_unpack(const hub_matrix *m, size_t row, size_t block, hub_row_block *b) {
    switch (m->format) {
#define HUB_PACKED(NAME, each, bytes, halves, minima)                                                                  \
    case HUB_##NAME: hub_row_##NAME(m, row, block, b); return;
#include "../include/hub_formats.def"
    default: hub_row_of_blocks(m, row, block, b);
    }
}
