#include "tile/rows.h"
#include <stdlib.h>

const hub_format_info hub_formats[HUB_FORMAT_COUNT] = {
#define HUB_FORMAT(NAME, ggml, block, bytes, halves, minima) {#NAME, ggml, block, bytes, halves, minima},
#include "include/hub_formats.def"
};

bool hub_goes_by_column(const hub_matrix *m) {
    switch (m->format) {
#define HUB_PACKED(NAME, block, bytes, halves, minima)                                                                 \
    case HUB_##NAME: return hub_is_by_column_##NAME(m);
#include "include/hub_formats.def"
    case HUB_TABLE4: return hub_is_by_column_TABLE4(m);
    default: return false;
    }
}

void hub_widen(hub_format format, const void *source, size_t count, float *out) {
    const uint8_t *from = source;
    switch (format) {
    case HUB_F32: memcpy(out, source, count * sizeof(float)); break;
    case HUB_F16: for (size_t i = 0; i < count; i++) out[i] = hub_load_f16(from + 2 * i); break;
    case HUB_FP8: for (size_t i = 0; i < count; i++) out[i] = hub_load_fp8(from + i) * 0x1p120f; break;
    case HUB_BF16: for (size_t i = 0; i < count; i++) out[i] = hub_load_bf16(from + 2 * i); break;
    default: abort(); // packed formats are not lists of numbers
    }
}

void hub_widen_row(const hub_matrix *m, size_t row, float *out) {
    if (m->transposed && !hub_is_turned(m->format)) {
        size_t bytes = hub_formats[m->format].bytes;
        for (size_t k = 0; k < m->columns; k++)
            hub_widen(m->format, (const uint8_t *)m->weights + k * m->stride + row * bytes, 1, out + k);
        return;
    }
    if (hub_is_single(m)) {
        for (size_t k = 0; k < m->columns; k++) out[k] = hub_single_weight(m, row, k);
        return;
    }
    const uint8_t *start = (const uint8_t *)m->weights + row * m->stride;
    if (hub_is_float(m->format)) {
        hub_widen(m->format, start, m->columns, out);
        if (m->format != HUB_FP8) return;
        for (size_t k = 0; k < m->columns; k++) out[k] *= hub_fp8_scale(m, row, k) / HUB_FP8_MISSING;
        return;
    }
    for (size_t block = 0; block < m->columns / HUB_BLOCK; block++, out += HUB_BLOCK) {
        hub_row_block b;
        hub_row_unpack(m, row, block, &b);
        for (int i = 0; i < HUB_BLOCK; i++) out[i] = __builtin_fmaf(b.scale[i / 16], (float)b.q[i], b.minimum[i / 16]);
    }
}
