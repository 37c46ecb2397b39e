#include "resize.h"
#include <stdlib.h>

void hub_resize_rows_portable(
    const uint8_t *source, size_t width, size_t rows, const hub_resize_plan *plan, uint8_t *target) {
    for (size_t y = 0; y < rows; y++, source += 3 * width) {
        for (size_t i = 0; i < plan->outputs; i++, target += 3) {
            const int32_t *weights = plan->weights + i * plan->stride;
            const uint8_t *pixel = source + 3 * (size_t)plan->starts[i];
            int32_t red = WEIGHT_HALF, green = WEIGHT_HALF, blue = WEIGHT_HALF;
            for (size_t k = 0; k < (size_t)plan->taps[i]; k++) {
                red += weights[k] * pixel[3 * k];
                green += weights[k] * pixel[3 * k + 1];
                blue += weights[k] * pixel[3 * k + 2];
            }
            target[0] = hub_resize_clip(red);
            target[1] = hub_resize_clip(green);
            target[2] = hub_resize_clip(blue);
        }
    }
}

/// The columns `from..<bytes` of one output row.
static void sum_columns(
    const uint8_t *source, size_t from, size_t bytes, const hub_resize_plan *plan, size_t output, uint8_t *target) {
    enum { AT_ONCE = 256 };
    const int32_t *weights = plan->weights + output * plan->stride;
    for (; from < bytes; from += AT_ONCE) {
        const size_t count = bytes - from < AT_ONCE ? bytes - from : AT_ONCE;
        const uint8_t *row = source + (size_t)plan->starts[output] * bytes + from;
        int32_t sums[AT_ONCE];
        for (size_t at = 0; at < count; at++) sums[at] = WEIGHT_HALF;
        for (size_t k = 0; k < (size_t)plan->taps[output]; k++, row += bytes) {
            const int32_t weight = weights[k];
            for (size_t at = 0; at < count; at++) sums[at] += weight * row[at];
        }
        for (size_t at = 0; at < count; at++) target[from + at] = hub_resize_clip(sums[at]);
    }
}

void hub_resize_columns_portable(
    const uint8_t *source, size_t bytes, const hub_resize_plan *plan, size_t first, size_t last, uint8_t *target) {
    for (size_t i = first; i < last; i++, target += bytes) sum_columns(source, 0, bytes, plan, i, target);
}

#if defined(__x86_64__)

#define LANE_BYTES 32

static int has_avx2(void) { return __builtin_cpu_supports("avx2") != 0; }

// Four weights as their lower 12 bits, then as the rest: products of 16 bits, of which the processor adds pairs, are exact.
static int16_t *halved(const hub_resize_plan *plan) {
    const size_t count = plan->outputs * plan->stride;
    int16_t *halves = malloc(2 * count * sizeof *halves);
    if (!halves) return NULL;
    for (size_t at = 0; at < count; at++) {
        int16_t *group = halves + 8 * (at / 4);
        group[at % 4] = (int16_t)(plan->weights[at] & 0xFFF);
        group[4 + at % 4] = (int16_t)(plan->weights[at] >> 12);
    }
    return halves;
}

void hub_resize_rows(
    const uint8_t *source, const uint8_t *end, size_t width, size_t rows, const hub_resize_plan *plan, uint8_t *target) {
    int16_t *halves = has_avx2() && plan->stride % 4 == 0 && plan->outputs ? halved(plan) : NULL;
    if (!halves) {
        hub_resize_rows_portable(source, width, rows, plan, target);
        return;
    }
    // The fast code reads whole groups of taps and four bytes more; what would lie behind the end is left to the other.
    size_t reach = 0, done = 0;
    for (size_t i = 0; i < plan->outputs; i++) {
        const size_t here = 3 * ((size_t)plan->starts[i] + ((size_t)plan->taps[i] + 3) / 4 * 4) + 4;
        if (here > reach) reach = here;
    }
    const size_t room = (size_t)(end - source);
    if (room >= reach && width > 0) done = (room - reach) / (3 * width) + 1;
    if (done > rows) done = rows;
    hub_resize_rows_avx2(source, end, width, done, plan, halves, target);
    free(halves);
    hub_resize_rows_portable(
        source + 3 * width * done, width, rows - done, plan, target + 3 * plan->outputs * done);
}

void hub_resize_columns(
    const uint8_t *source, size_t bytes, const hub_resize_plan *plan, size_t first, size_t last, uint8_t *target) {
    if (!has_avx2()) {
        hub_resize_columns_portable(source, bytes, plan, first, last, target);
        return;
    }
    hub_resize_columns_avx2(source, bytes, plan, first, last, target);
    const size_t done = bytes / LANE_BYTES * LANE_BYTES;
    for (size_t i = first; i < last; i++, target += bytes) sum_columns(source, done, bytes, plan, i, target);
}

#else

void hub_resize_rows(
    const uint8_t *source, const uint8_t *end, size_t width, size_t rows, const hub_resize_plan *plan, uint8_t *target) {
    (void)end;
    hub_resize_rows_portable(source, width, rows, plan, target);
}

void hub_resize_columns(
    const uint8_t *source, size_t bytes, const hub_resize_plan *plan, size_t first, size_t last, uint8_t *target) {
    hub_resize_columns_portable(source, bytes, plan, first, last, target);
}

#endif

void hub_resize_floats(
    const float *source, size_t count, size_t inputs, size_t width, const int32_t *indices, const float *weights,
    size_t outputs, size_t stride, float *target) {
    for (size_t vector = 0; vector < count; vector++, source += inputs * width) {
        for (size_t i = 0; i < outputs; i++, target += width) {
            for (size_t at = 0; at < width; at++) target[at] = 0;
            for (size_t k = i * stride; k < (i + 1) * stride; k++) {
                const float weight = weights[k], *input = source + (size_t)indices[k] * width;
                if (weight == 0) continue;
                for (size_t at = 0; at < width; at++) target[at] += weight * input[at];
            }
        }
    }
}
