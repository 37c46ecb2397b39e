// The definition of every product, one output at a time; what instruction sets give must be equal to the bit.
#define LANES 1
#define LABEL "scalar"
#include "tile/rows.h"
#include <math.h>

static void fast(const hub_tile *t) {
    const hub_format_info *info = &hub_formats[t->matrix->format];
    for (size_t row = 0; row < t->count; row++) t->sums[row] = 0;
    for (size_t block = 0; block < t->blocks; block++) {
        hub_row_block b;
        hub_row_unpack(t->matrix, t->row, block, &b);
        const bool has_halves = info->has_halves, has_minima = info->has_minima;
        for (size_t row = 0; row < t->count; row++) {
            const hub_panel *panel = &t->panels[row / HUB_PANEL];
            size_t at = block * panel->width + row % HUB_PANEL;
            const int8_t *q = panel->q + at * HUB_BLOCK;
            float sum = t->sums[row];
            for (size_t half = 0, size = has_halves ? 16 : 32; half * size < HUB_BLOCK; half++) {
                int32_t product = 0;
                for (size_t i = half * size; i < (half + 1) * size; i++) product += b.q[i] * q[i];
                sum = fmaf(b.scale[half], (float)product * panel->scales[at], sum);
                if (has_minima) sum = fmaf(b.minimum[half], has_halves ? panel->half_sums[2 * at + half] : panel->sums[at], sum);
            }
            t->sums[row] = sum;
        }
    }
}

static void exact(const hub_tile *t) {
    float *weights = t->scratch;
    const hub_matrix *m = t->matrix;
    for (size_t row = 0; row < t->count; row++) t->sums[row] = 0;
    for (size_t from = 0; from < m->columns; from += HUB_CHUNK) {
        size_t count = m->columns - from < HUB_CHUNK ? m->columns - from : HUB_CHUNK;
        const uint8_t *at = m->weights;
        size_t bytes = hub_formats[m->format].bytes;
        if (hub_is_single(m)) {
            for (size_t k = 0; k < count; k++) weights[k] = hub_single_weight(m, t->row, from + k);
        } else if (!hub_is_float(m->format)) {
            for (size_t k = 0; k < count; k += HUB_BLOCK) {
                hub_row_block b;
                hub_row_unpack(m, t->row, (from + k) / HUB_BLOCK, &b);
                for (size_t i = 0; i < HUB_BLOCK; i++)
                    weights[k + i] = fmaf(b.scale[i / 16], (float)b.q[i], b.minimum[i / 16]);
            }
        } else if (m->transposed) {
            for (size_t k = 0; k < count; k++)
                hub_widen(m->format, at + (from + k) * m->stride + t->row * bytes, 1, &weights[k]);
        } else {
            hub_widen(m->format, at + t->row * m->stride + from * bytes, count, weights);
        }
        for (size_t row = 0; row < t->count; row++) {
            const hub_panel *panel = &t->panels[row / HUB_PANEL];
            const float *x = panel->values + from * panel->width + row % HUB_PANEL;
            float sums[2 * HUB_CHAINS] = {0};
            if (m->format == HUB_FP8) {
                // Twice as many chains, scaled where a group of columns ends; two are added before they reach the total.
                for (size_t start = 0, end; start < count; start = end) {
                    float part[2 * HUB_CHAINS] = {0};
                    end = hub_group_end(m, from + start, from + count) - from;
                    for (size_t k = start; k < end; k++) {
                        float *sum = &part[k % (2 * HUB_CHAINS)];
                        *sum = fmaf(hub_load_fp8(at + t->row * m->stride + from + k), x[k * panel->width] * HUB_FP8_RAISED, *sum);
                    }
                    float scale = hub_fp8_scale(m, t->row, from + start);
                    for (size_t c = 0; c < 2 * HUB_CHAINS; c++) sums[c] = fmaf(scale, part[c], sums[c]);
                }
                for (size_t c = 0; c < HUB_CHAINS; c++) sums[c] += sums[c + HUB_CHAINS];
            } else {
                for (size_t k = 0; k < count; k++)
                    sums[k % HUB_CHAINS] = fmaf(weights[k], x[k * panel->width], sums[k % HUB_CHAINS]);
            }
            for (size_t c = 0; c < HUB_CHAINS; c++) t->sums[row] += sums[c];
        }
    }
}

// One lane of what vectors do.
#define INLINE static inline __attribute__((always_inline))
#define UNROLL
typedef float vf __attribute__((ext_vector_type(1)));
typedef int32_t vi __attribute__((ext_vector_type(1)));
#define FMA(a, b, c) ((vf)fmaf((a)[0], (b)[0], (c)[0]))
#define MAX(a, b) __builtin_elementwise_max((a), (b))
#define MIN(a, b) __builtin_elementwise_min((a), (b))
#define ROUND(v) ((vf)rintf((v)[0]))
#define FLOATS(v) __builtin_convertvector((vi)(v), vf)
#define INTEGERS(v) __builtin_convertvector((v), vi)
INLINE vf load_halves(const uint16_t *at) { return (vf)hub_load_f16((const uint8_t *)at); }
INLINE vf load_bytes(const int8_t *at) { return (vf)(float)*at; }
#include "tile/between.h"
#include "tile/attention.h"
#include "tile/recurrence.h"
#include "tile/planes.h"

#define HUB_BLOCKS(NAME, ggml, block, bytes, offset, halves, minima) [HUB_##NAME] = fast,
#define HUB_PACKED(NAME, block, bytes, halves, minima) [HUB_##NAME] = fast,
static void (*const fast_kernels[HUB_FORMAT_COUNT])(const hub_tile *tile) = {
#include "include/hub_formats.def"
};
#define HUB_FORMAT(NAME, ggml, block, bytes, halves, minima) [HUB_##NAME] = exact,
static void (*const exact_kernels[HUB_FORMAT_COUNT])(const hub_tile *tile) = {
#include "include/hub_formats.def"
};

const hub_kernels hub_kernels_scalar = {
    .name = LABEL, .lanes = LANES, .fast = fast_kernels, .exact = exact_kernels,
    .finish = finish, .quantize = quantize, .attend = attend, .rms_norm = rms_norm, .layer_norm = layer_norm,
    .affine = affine, .activate = activate, .add = add, .soft_cap = soft_cap,
    .convolve = convolve, .delta_rule = delta_rule, .scan_space = scan_space, .select = select_all,
    .convolve_channels = convolve_channels, .pool = pool, .sum_places = sum_places,
};
