// The rows functions of all elements and the float32 vector operations of one instruction set. The including file
// defines TARGET VEC WIDTH ZERO SPLAT LOADX STOREX FMA REDUCE and LOAD_F32, LOAD_F16, LOAD_BF16, KERNELS, LABEL.
#define NAME rows_f32
#define LOADW LOAD_F32
#define WIDEN hub_load_f32
#define ELEMENT_BYTES 4
#include "rows_template.h"

#define NAME rows_f16
#define LOADW LOAD_F16
#define WIDEN hub_load_f16
#define ELEMENT_BYTES 2
#include "rows_template.h"

#define NAME rows_bf16
#define LOADW LOAD_BF16
#define WIDEN hub_load_bf16
#define ELEMENT_BYTES 2
#include "rows_template.h"

TARGET static float dot(const float *a, const float *b, size_t count) {
    VEC sum = ZERO;
    size_t k = 0;
    for (; k + WIDTH <= count; k += WIDTH) sum = FMA(LOADX(a + k), LOADX(b + k), sum);
    float total = REDUCE(sum);
    for (; k < count; k++) total += a[k] * b[k];
    return total;
}

TARGET static void add_scaled(float scale, const float *x, float *y, size_t count) {
    VEC factor = SPLAT(scale);
    size_t k = 0;
    for (; k + WIDTH <= count; k += WIDTH) STOREX(y + k, FMA(factor, LOADX(x + k), LOADX(y + k)));
    for (; k < count; k++) y[k] += scale * x[k];
}

const hub_kernels KERNELS = {LABEL, {rows_f32, rows_f16, rows_bf16}, dot, add_scaled};
