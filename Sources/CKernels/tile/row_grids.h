// Types of GGUF below four bits, by definition: 32 columns of one row, part `part` of a block that begins `at`. A block has 256
// weights (Q1_0: 128, Q2_0 and NVFP4: 64). No index exceeds its grid: it has as many bits as the grid has.
#pragma once
#include "../grids.h"
#include "scales.h"

typedef struct {
    int8_t q[HUB_BLOCK];
    float scale[2], minimum[2]; ///< of the halves
} hub_row_block;

/// The values of e2m1's 16 codes, twice as large.
static const int8_t hub_fp4_values[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

/// e4m3 without a sign, whose NaN counts as 0; halved, for numbers that are stored twice as large.
static inline float hub_load_unsigned_fp8(const uint8_t *at) {
    const uint8_t code = *at & 0x7F;
    return *at == 0x7F ? 0 : hub_load_fp8(&code) * 0x1p119f;
}

/// Four bytes of signs from four times 7 bits: with the eighth the number of ones is even.
static inline uint32_t hub_even_signs(uint32_t bits) {
    uint32_t s = (bits & 0x7F) | (bits << 1 & 0x7F00) | (bits << 2 & 0x7F0000) | (bits << 3 & 0x7F000000);
    uint32_t odd = s ^ s >> 4;
    odd ^= odd >> 2;
    odd ^= odd >> 1;
    return s | (odd & 0x01010101) << 7;
}

/// Eight, or four, weights of a grid, less where their bit is set.
static inline void hub_row_point(int8_t *q, uint64_t point, int count, uint32_t signs) {
    for (int i = 0; i < count; i++, point >>= 8, signs >>= 1) {
        const int byte = (int)(point & 255) - 64;
        q[i] = (int8_t)(signs & 1 ? -byte : byte);
    }
}
/// Eight weights of the grid of IQ1.
static inline void hub_row_moved(int8_t *q, uint64_t point, bool is_down) {
    for (int i = 0; i < 8; i++, point >>= 8) q[i] = (int8_t)((int)(point & 255) - 64 - (is_down ? 2 : 0));
}

static inline void hub_row_iq2(hub_format format, const uint8_t *at, size_t part, hub_row_block *b) {
    const float d = hub_load_f16(at);
    const uint8_t *codes = at + 2 + (format == HUB_IQ2_S ? 4 : 8) * part;
    const uint32_t second = hub_load_u32(codes + 4); // of IQ2_XXS: signs and scale
    uint32_t scales = second >> 28 | second >> 28 << 4, signs = hub_even_signs(second);
    if (format == HUB_IQ2_XS) scales = at[66 + part];
    if (format == HUB_IQ2_S) scales = at[74 + part], signs = hub_load_u32(at + 34 + 4 * part);
    for (size_t i = 0; i < 4; i++) {
        const uint32_t both = hub_load_u16(codes + 2 * i); // of IQ2_XS: index and signs
        uint64_t point = hub_iq2_xxs_grid[codes[i]];
        if (format == HUB_IQ2_XS) point = hub_iq2_xs_grid[both & 511];
        if (format == HUB_IQ2_S) point = hub_iq2_s_grid[codes[i] | (at[66 + part] >> 2 * i & 3) << 8];
        const uint32_t own = format == HUB_IQ2_XS ? hub_even_signs(both >> 9) & 255 : signs >> 8 * i & 255;
        hub_row_point(b->q + 8 * i, point, 8, own);
    }
    for (int half = 0; half < 2; half++) b->scale[half] = d * (0.5f + (float)(scales >> 4 * half & 15)) * 0.25f;
}

static inline void hub_row_iq3(hub_format format, const uint8_t *at, size_t part, hub_row_block *b) {
    const bool is_small = format == HUB_IQ3_XXS;
    const uint32_t word = is_small ? hub_load_u32(at + 66 + 4 * part) : hub_load_u32(at + 74 + 4 * part);
    const uint32_t signs = is_small ? hub_even_signs(word) : word;
    for (size_t i = 0; i < 8; i++) {
        const uint8_t code = at[2 + 8 * part + i];
        const uint32_t point = is_small ? hub_iq3_xxs_grid[code] : hub_iq3_s_grid[code | (at[66 + part] >> i & 1) << 8];
        hub_row_point(b->q + 4 * i, point, 4, signs >> 4 * i);
    }
    const float scale = is_small ? (0.5f + (float)(word >> 28)) * 0.5f : (float)(1 + 2 * (at[106 + part / 2] >> 4 * (part % 2) & 15));
    b->scale[0] = b->scale[1] = hub_load_f16(at) * scale;
}

static inline void hub_row_iq1_s(const uint8_t *at, size_t part, hub_row_block *b) {
    const uint32_t high = hub_load_u16(at + 34 + 2 * part);
    for (size_t i = 0; i < 4; i++)
        hub_row_moved(b->q + 8 * i, hub_iq1_grid[at[2 + 4 * part + i] | (high >> 3 * i & 7) << 8], high >> 15);
    b->scale[0] = b->scale[1] = hub_load_f16(at) * (float)(2 * (high >> 12 & 7) + 1) * 0.125f;
}

/// The scale of all is in the upper four bits of four half words, whose others are scales of 16 weights.
static inline void hub_row_iq1_m(const uint8_t *at, size_t part, hub_row_block *b) {
    uint16_t all = 0;
    for (int i = 0; i < 4; i++) all |= (uint16_t)(hub_load_u16(at + 48 + 2 * i) >> 12 << 4 * i);
    const float d = hub_load_f16((const uint8_t *)&all);
    for (size_t i = 0; i < 4; i++) {
        const uint32_t high = at[32 + 2 * part + i / 2] >> 4 * (i % 2) & 15;
        hub_row_moved(b->q + 8 * i, hub_iq1_grid[at[4 * part + i] | (high & 7) << 8], high >> 3);
    }
    for (size_t half = 0, i = 2 * part; half < 2; half++, i++)
        b->scale[half] = d * (float)(2 * (hub_load_u16(at + 48 + i / 4 * 2) >> 3 * (i % 4) & 7) + 1) * 0.125f;
}

/// Five numbers from 0 to 2 in a byte, as the digits of a fraction of 256 in base 3: the first is that of the byte, the next one
/// that of three times the byte, and so on.
static inline void hub_row_tq1_0(const uint8_t *at, size_t part, hub_row_block *b) {
    static const uint8_t powers[5] = {1, 3, 9, 27, 81};
    for (size_t i = 0; i < HUB_BLOCK; i++) {
        const size_t column = part * HUB_BLOCK + i;
        uint8_t byte;
        if (column < 160) byte = (uint8_t)(at[column % 32] * powers[column / 32]);
        else if (column < 240) byte = (uint8_t)(at[32 + column % 16] * powers[(column - 160) / 16]);
        else byte = (uint8_t)(at[48 + column % 4] * powers[(column - 240) / 4]);
        b->q[i] = (int8_t)((byte * 3 >> 8) - 1);
    }
    b->scale[0] = b->scale[1] = hub_load_f16(at + 52);
}

static inline void hub_row_nvfp4(const hub_matrix *m, const uint8_t *at, size_t part, hub_row_block *b) {
    for (size_t half = 0; half < 2; half++) {
        const uint8_t *codes = at + 4 + 16 * part + 8 * half;
        for (int i = 0; i < 16; i++) b->q[16 * half + (size_t)i] = hub_fp4_values[codes[i % 8] >> 4 * (i / 8) & 15];
        b->scale[half] = hub_load_unsigned_fp8(at + 2 * part + half) * m->factor;
    }
}

static inline void hub_row_of_grid(const hub_matrix *m, const uint8_t *at, size_t part, hub_row_block *b) {
    switch (m->format) {
    case HUB_IQ2_XXS: case HUB_IQ2_XS: case HUB_IQ2_S: hub_row_iq2(m->format, at, part, b); break;
    case HUB_IQ3_XXS: case HUB_IQ3_S: hub_row_iq3(m->format, at, part, b); break;
    case HUB_IQ1_S: hub_row_iq1_s(at, part, b); break;
    case HUB_IQ1_M: hub_row_iq1_m(at, part, b); break;
    case HUB_TQ1_0: hub_row_tq1_0(at, part, b); break;
    case HUB_TQ2_0:
        for (size_t i = 0; i < HUB_BLOCK; i++) b->q[i] = (int8_t)((at[part / 4 * 32 + i] >> 2 * (part % 4) & 3) - 1);
        b->scale[0] = b->scale[1] = hub_load_f16(at + 64);
        break;
    case HUB_NVFP4: hub_row_nvfp4(m, at, part, b); break;
    case HUB_Q1_0:
        for (size_t i = 0; i < HUB_BLOCK; i++) b->q[i] = at[2 + 4 * part + i / 8] >> i % 8 & 1 ? 1 : -1;
        b->scale[0] = b->scale[1] = hub_load_f16(at);
        break;
    case HUB_Q2_0:
        for (size_t i = 0; i < HUB_BLOCK; i++) b->q[i] = (int8_t)((at[2 + 8 * part + i / 4] >> 2 * (i % 4) & 3) - 1);
        b->scale[0] = b->scale[1] = hub_load_f16(at);
        break;
    default: memset(b, 0, sizeof *b); // float formats have no blocks
    }
}
