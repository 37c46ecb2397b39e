// Every instruction set of this CPU against the scalar definition: odd sizes, unaligned weights, weights that end at the
// end of a page, rows alone and together, one thread and several. Prints what fails and a closing line.
#include "CKernels.h"
#include "include/KernelChecks.h"
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int failed, passed;
static void check(bool holds, const char *what, const char *kernels, const char *format) {
    if (holds) passed++;
    else {
        failed++;
        printf("FAILED %s, %s, %s\n", what, kernels, format);
    }
}

static uint64_t state = 42;
static uint32_t next(void) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(state >> 33);
}
static float real(void) { return (float)next() / 0x1p30f - 1; }

static uint16_t half_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, 4);
    return (uint16_t)((bits >> 16 & 0x8000) | (((bits >> 23 & 255) - 112) << 10) | (bits >> 13 & 1023));
}

/// Memory whose last byte is followed by a page that cannot be read.
static uint8_t *guarded(size_t bytes) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE), whole = (bytes + page - 1) / page * page;
    uint8_t *memory = mmap(NULL, whole + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || mprotect(memory + whole, page, PROT_NONE) != 0) abort();
    return memory + whole - bytes;
}

/// Random weights of a format with small scales.
static void fill(hub_format format, uint8_t *at, size_t rows, size_t stride) {
    const hub_format_info *info = &hub_formats[format];
    for (size_t i = 0; i < rows * stride; i++) at[i] = (uint8_t)next();
    static const int halves[HUB_FORMAT_COUNT][3] = {
        [HUB_Q4_0] = {1, 0}, [HUB_Q4_1] = {2, 0, 2}, [HUB_Q5_0] = {1, 0}, [HUB_Q5_1] = {2, 0, 2}, [HUB_Q8_0] = {1, 0},
        [HUB_Q2_K] = {2, 80, 82}, [HUB_Q3_K] = {1, 108}, [HUB_Q4_K] = {2, 0, 2}, [HUB_Q5_K] = {2, 0, 2},
        [HUB_Q6_K] = {1, 208}, [HUB_IQ4_NL] = {1, 0}, [HUB_IQ4_XS] = {1, 0}, [HUB_IQ2_XXS] = {1, 0}, [HUB_IQ2_XS] = {1, 0},
        [HUB_IQ2_S] = {1, 0}, [HUB_IQ3_XXS] = {1, 0}, [HUB_IQ3_S] = {1, 0}, [HUB_IQ1_S] = {1, 0}, [HUB_TQ1_0] = {1, 52},
        [HUB_TQ2_0] = {1, 64}, [HUB_Q1_0] = {1, 0}, [HUB_Q2_0] = {1, 0}};
    for (size_t i = 0; i < rows * stride / info->bytes; i++) {
        uint8_t *block = at + i * info->bytes;
        float value = real();
        uint32_t bits;
        uint16_t half = half_of(value == 0 ? 0.5f : value);
        memcpy(&bits, &value, 4);
        if (format == HUB_MXFP4) block[0] = (uint8_t)(118 + next() % 8);
        // The upper bits of IQ1_M's scale are in the last byte.
        if (format == HUB_IQ1_M) block[55] = (uint8_t)((block[55] & 0x0F) | 0x20), block[53] &= 0x0F;
        // Scales have no sign, so the upper bit means nothing; 0x7F, NaN in e4m3, is 0.
        if (format == HUB_NVFP4) for (int h = 0; h < 4; h++) {
            const uint32_t r = (uint32_t)next();
            block[h] = (uint8_t)(r % 11 == 0 ? 0x7F : r % 0x48 | (r >> 8 & 0x80));
        }
        if (format == HUB_F32) memcpy(block, &value, 4);
        if (format == HUB_F16) memcpy(block, &half, 2);
        if (format == HUB_BF16) memcpy(block, (uint8_t *)&bits + 2, 2);
        for (int h = 0; h < halves[format][0]; h++) {
            half = half_of(0.01f + 0.01f * fabsf(real()));
            memcpy(block + halves[format][h + 1], &half, 2);
        }
    }
}

static void *packed_for(size_t rows, size_t columns) {
    void *memory;
    if (posix_memalign(&memory, 64, hub_packed_bytes(rows, columns)) != 0) abort();
    return memory;
}

static void multiply(
    hub_team *team, const hub_matrix *m, const float *x, size_t batch, bool exact, const float *bias, float *out) {
    hub_input input = {.values = x, .stride = m->columns, .rows = batch, .columns = m->columns, .exact = exact};
    input.packed = packed_for(batch, m->columns);
    hub_product product = {m, bias, out, m->rows};
    hub_multiply(team, &input, &product, 1);
    free(input.packed);
}

/// One matrix: against plain sums, against the scalar kernels, alone and together, with several threads.
static void products(hub_team *one, hub_team *three, hub_team *scalar, const hub_matrix *m, const char *format) {
    const char *name = hub_kernels_name(hub_team_kernels(one));
    // Enough rows of floats for pairs of tiles.
    const size_t batch = hub_formats[m->format].block == 1 ? 41 : 29;
    size_t r = m->rows, k = m->columns, count = batch * r;
    float *x = malloc(batch * k * 4), *wide = malloc(r * k * 4), *bias = malloc(r * 4);
    float *together = malloc(count * 4), *other = malloc(count * 4);
    for (size_t i = 0; i < batch * k; i++) x[i] = real();
    for (size_t i = 0; i < r; i++) bias[i] = real();
    for (size_t i = 0; i < r; i++) hub_widen_row(m, i, wide + i * k);
    for (int exact = 0; exact < 2; exact++) {
        const char *mode = exact ? "exact product" : "fast product";
        multiply(one, m, x, batch, exact, bias, together);
        double worst = 0;
        for (size_t b = 0; b < batch; b++)
            for (size_t i = 0; i < r; i++) {
                double sum = bias[i], size = 1;
                for (size_t c = 0; c < k; c++) {
                    double term = (double)wide[i * k + c] * x[b * k + c];
                    sum += term;
                    size += term * term;
                }
                double error = fabs(together[b * r + i] - sum) / sqrt(size);
                if (!(error <= worst)) worst = error;
            }
        bool rounds = !exact && m->format != HUB_F32 && m->format != HUB_F16 && m->format != HUB_FP8 && m->format != HUB_TABLE4;
        if (worst > (rounds ? 0.03 : 2e-5)) printf("%g ", worst);
        check(worst <= (rounds ? 0.03 : 2e-5), mode, name, format);
        // bf16 products are a processor's own.
        if (exact || m->format != HUB_BF16) {
            multiply(scalar, m, x, batch, exact, bias, other);
            check(memcmp(together, other, count * 4) == 0, exact ? "exact equals scalar" : "fast equals scalar", name, format);
        }
        multiply(three, m, x, batch, exact, bias, other);
        check(memcmp(together, other, count * 4) == 0, "three threads", name, format);
        bool same = true;
        static const size_t sizes[] = {1, 2, 3, 4, 5, 13};
        for (size_t i = 0, b = 0; b < batch; i++) {
            size_t n = sizes[i % 6] < batch - b ? sizes[i % 6] : batch - b;
            multiply(one, m, x + b * k, n, exact, bias, other);
            same = same && memcmp(together + b * r, other, n * r * 4) == 0;
            b += n;
        }
        check(same, exact ? "exact rows alone" : "fast rows alone", name, format);
    }
    free(x), free(wide), free(bias), free(together), free(other);
}

/// FP8 with a scale for all, for each row, or for blocks that are not whole at the edges; and parts of such matrices.
static void fp8(hub_team *one, hub_team *three, hub_team *scalar) {
    const uint64_t before = state; // what other checks draw stays as it is
    static const size_t cases[][5] = {
        // rows, columns, rows and columns of a block, first
        {37, 300, 1000, 1000, 0}, {37, 320, 1, 1000, 5}, {64, 1280, 128, 128, 0}, {70, 672, 32, 64, 9}, {3, 96, 2, 32, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const size_t *c = cases[i], lines = (c[4] + c[0] + c[2] - 1) / c[2], groups = (c[1] + c[3] - 1) / c[3];
        hub_matrix m = {.rows = c[0], .columns = c[1], .format = HUB_FP8, .stride = c[1], .first = c[4]};
        m.scale_format = i % 3 == 0 ? HUB_BF16 : i % 3 == 1 ? HUB_F32 : HUB_F16;
        size_t bytes = hub_formats[m.scale_format].bytes;
        m.group = (uint32_t)c[3], m.scale_rows = c[2], m.group_stride = bytes, m.scale_stride = groups * bytes;
        uint8_t *weights = guarded(m.rows * m.stride), *scales = guarded(lines * groups * bytes);
        for (size_t k = 0; k < m.rows * m.stride; k++) {
            do weights[k] = (uint8_t)next();
            while ((weights[k] & 0x7F) == 0x7F);
        }
        fill(m.scale_format, scales, lines, groups * bytes);
        m.weights = weights, m.scales = scales;
        char name[64];
        snprintf(name, sizeof name, "fp8 by %d x %d", (int)c[2], (int)c[3]);
        float *row = malloc(m.columns * 4);
        hub_widen_row(&m, 1, row);
        double worst = 0;
        for (size_t k = 0; k < m.columns; k++) {
            // The definition of e4m3.
            int code = weights[m.stride + k], exponent = code >> 3 & 15, fraction = code & 7;
            double value = exponent ? ldexp(8 + fraction, exponent - 10) : ldexp(fraction, -9);
            float scale;
            hub_widen(m.scale_format, scales + (c[4] + 1) / c[2] * m.scale_stride + k / c[3] * bytes, 1, &scale);
            worst = fmax(worst, fabs((code & 0x80 ? -value : value) * scale - row[k]));
        }
        check(worst < 1e-4, "the numbers", "", name);
        free(row);
        products(one, three, scalar, &m, name);
    }
    state = before;
}

/// AWQ and GPTQ, of which parts begin in the midst, and whose groups may be all columns, odd, or in any order.
static void turned(hub_team *one, hub_team *three, hub_team *scalar) {
    const uint64_t before = state;
    // bits, outputs, columns, group, first, what zeros are stored less, whether groups have an order of their own
    static const size_t cases[][7] = {
        {4, 296, 256, 128, 0, 0}, {4, 24, 320, 32, 8, 1}, {4, 8, 96, 96, 0, 0}, {4, 1200, 64, 64, 0, 1}, {4, 144, 1280, 128, 16, 1},
        {8, 40, 256, 128, 0, 1}, {8, 1064, 96, 32, 8, 0}, {4, 2104, 128, 32, 0, 0},
        {4, 40, 320, 128, 8, 1, 1}, {8, 24, 96, 32, 0, 0, 1}, {4, 24, 72, 16, 8, 0}, {3, 64, 96, 40, 32, 1}, {2, 48, 272, 32, 16, 1, 1},
        {3, 32, 288, 288, 0, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int awq = 0; awq < 2; awq++) {
            const size_t *c = cases[i], all = c[4] + c[1], groups = (c[2] + c[3] - 1) / c[3];
            if (awq && c[0] != 4) continue;
            hub_matrix m = {.rows = c[1], .columns = c[2], .format = awq ? HUB_AWQ : HUB_GPTQ, .bits = (uint8_t)c[0],
                            .group = (uint32_t)c[3], .first = c[4], .transposed = true, .zero_less = awq ? 0 : (uint8_t)c[5]};
            m.scale_format = i % 2 || awq ? HUB_F16 : HUB_BF16;
            m.group_stride = all * 2, m.zero_stride = all * c[0] / 8;
            m.stride = awq ? all / 2 : all * 4;
            size_t bytes = all * c[2] * c[0] / 8;
            uint8_t *weights = guarded(bytes), *scales = guarded(groups * m.group_stride), *zeros = guarded(groups * m.zero_stride);
            for (size_t k = 0; k < bytes; k++) weights[k] = (uint8_t)next();
            for (size_t k = 0; k < groups * m.zero_stride; k++) zeros[k] = (uint8_t)next();
            fill(m.scale_format, scales, groups, m.group_stride);
            m.weights = weights, m.scales = scales, m.zeros = zeros;
            uint8_t *order = guarded(c[2] * 4);
            for (size_t k = 0; k < c[2]; k++) memcpy(order + 4 * k, &(uint32_t){next() % (uint32_t)groups}, 4);
            if (c[6]) m.order = order;
            char name[64];
            snprintf(name, sizeof name, "%s %d bits by %d%s", awq ? "awq" : "gptq", (int)c[0], (int)c[3], c[6] ? " in an order" : "");
            products(one, three, scalar, &m, name);
        }
    state = before;
}

/// Integers by row with zeros instead of biases, signed bytes, NVFP4, and codes of a table.
static void beside(hub_team *one, hub_team *three, hub_team *scalar) {
    const uint64_t before = state;
    // format, bits, outputs, columns, group, first, whether there are zeros (2: bytes, 3: and an order) or nested scales
    static const size_t cases[][7] = {
        {HUB_MLX, 4, 37, 384, 128, 8, 0}, {HUB_MLX, 4, 40, 384, 32, 8, 1}, {HUB_MLX, 4, 21, 320, 320, 3, 1}, {HUB_MLX, 8, 24, 96, 96, 4, 1},
        {HUB_MLX, 8, 33, 256, 64, 0, 0}, {HUB_MLX, 4, 37, 384, 128, 8, 2}, {HUB_MLX, 4, 45, 512, 32, 0, 3}, {HUB_MLX, 8, 19, 96, 32, 8, 3},
        {HUB_INT8, 8, 37, 512, 512, 0, 0}, {HUB_INT8, 8, 18, 416, 32, 0, 0},
        {HUB_NVFP4_APART, 4, 37, 416, 16, 0, 0}, {HUB_NVFP4_APART, 4, 64, 1280, 16, 0, 0}, {HUB_TABLE4, 4, 37, 416, 64, 0, 0},
        {HUB_MLX, 4, 37, 72, 24, 8, 1}, {HUB_MLX, 4, 21, 48, 16, 0, 3}, {HUB_INT8, 8, 18, 40, 40, 0, 0}, {HUB_INT8, 8, 33, 64, 16, 0, 0},
        {HUB_NVFP4_APART, 4, 37, 48, 16, 0, 0}, {HUB_TABLE4, 4, 37, 50, 64, 3, 0}, {HUB_TABLE4, 4, 21, 24, 64, 5, 1},
        {HUB_TABLE4, 4, 21, 96, 64, 5, 1}, {HUB_TABLE4, 4, 64, 1280, 128, 16, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const size_t *c = cases[i], all = c[2] + c[5], groups = (c[3] + c[4] - 1) / c[4];
        hub_matrix m = {.format = (hub_format)c[0], .bits = (uint8_t)c[1], .rows = c[2], .columns = c[3], .group = (uint32_t)c[4],
                        .first = c[5], .stride = c[3] * c[1] / 8, .factor = 0.7f};
        m.scale_format = i % 3 == 0 ? HUB_F32 : i % 3 == 1 ? HUB_BF16 : HUB_F16;
        if (m.format == HUB_TABLE4) m.scale_format = HUB_F32;
        const size_t bytes = hub_formats[m.scale_format].bytes;
        uint8_t *weights = guarded(m.rows * m.stride), *scales = guarded(c[2] * groups * bytes);
        for (size_t k = 0; k < m.rows * m.stride; k++) weights[k] = (uint8_t)next();
        fill(m.scale_format, scales, c[2], groups * bytes);
        m.weights = weights, m.scales = scales;
        if (m.format == HUB_MLX && c[6]) {
            const size_t words = (all * c[1] + 31) / 32;
            uint8_t *zeros = guarded(words * groups * 4);
            for (size_t k = 0; k < words * groups * 4; k++) zeros[k] = (uint8_t)next();
            m.zeros = zeros, m.zero_stride = groups * 4;
            if (c[6] == 2) {
                m.zeros = zeros = guarded(all * groups), m.zero_stride = 0;
                for (size_t k = 0; k < all * groups; k++) zeros[k] = (uint8_t)(next() % 16 - 8);
            }
            uint8_t *order = guarded(c[3] * 4);
            for (size_t k = 0; k < c[3]; k++) memcpy(order + 4 * k, &(uint32_t){next() % (uint32_t)groups}, 4);
            if (c[6] == 3) m.order = order;
        } else if (m.format == HUB_NVFP4_APART) {
            scales = guarded(c[2] * groups);
            for (size_t k = 0; k < c[2] * groups; k++) scales[k] = (uint8_t)(next() % 0x48);
            m.scales = scales;
        } else if (m.format == HUB_TABLE4) {
            const size_t count = (all * c[3] + c[4] - 1) / c[4], coarse = (count + 255) / 256;
            uint8_t *table = guarded(64), *nested = guarded(coarse * 4), *numbers = guarded(256 * 4);
            fill(HUB_F32, table, 16, 4), fill(HUB_F32, nested, coarse, 4), fill(HUB_F32, numbers, 256, 4);
            scales = guarded(count * (c[6] ? 1 : 4));
            if (!c[6]) fill(HUB_F32, scales, count, 4);
            else for (size_t k = 0; k < count; k++) scales[k] = (uint8_t)next();
            m.scales = scales, m.table = table, m.nested_group = 256, m.offset = 0.5f;
            if (c[6]) m.nested = nested, m.nested_table = numbers;
        }
        char name[64];
        snprintf(name, sizeof name, "%s %d bits by %d", hub_formats[m.format].name, (int)c[1], (int)c[4]);
        products(one, three, scalar, &m, name);
    }
    state = before;
}

/// HQQ along both axes, of parts that begin in the midst, whose lines are parts of rows or not, and lie in words or bytes.
static void hqq(hub_team *one, hub_team *three, hub_team *scalar) {
    const uint64_t before = state;
    // bits, outputs, first, all outputs, columns, columns of a group, axis
    static const size_t cases[][7] = {
        {4, 64, 0, 64, 128, 64, 1}, {4, 40, 24, 64, 192, 64, 1}, {4, 37, 3, 40, 96, 32, 1}, {8, 37, 5, 42, 128, 64, 1}, {2, 64, 64, 128, 256, 64, 1},
        {1, 64, 32, 128, 64, 32, 1}, {3, 37, 3, 40, 128, 64, 1}, {4, 21, 0, 32, 96, 64, 1}, {4, 24, 8, 40, 48, 16, 1}, {8, 37, 3, 40, 64, 64, 0},
        {4, 24, 8, 32, 96, 64, 0}, {3, 24, 8, 32, 96, 64, 0}, {2, 32, 0, 32, 64, 64, 0}, {4, 33, 2, 35, 64, 64, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const size_t *c = cases[i], axis = c[6], groups = c[3] * c[4] / c[5], lines = axis ? groups : c[5];
        const size_t places = c[0] == 3 ? 10 : 8 / c[0], left = (lines + places - 1) / places, size = c[0] == 3 ? 4 : 1;
        hub_matrix m = {.format = HUB_HQQ, .bits = (uint8_t)c[0], .rows = c[1], .columns = c[4], .first = c[2], .scale_rows = left};
        m.group = (uint32_t)(axis ? c[5] : groups);
        m.scale_format = i % 3 == 0 ? HUB_F32 : i % 3 == 1 ? HUB_BF16 : HUB_F16;
        const size_t element = hub_formats[m.scale_format].bytes, bytes = left * m.group * size;
        if (axis) m.scale_stride = element;
        else m.group_stride = element;
        uint8_t *weights = guarded(bytes), *scales = guarded(groups * element), *zeros = guarded(groups * element);
        for (size_t k = 0; k < bytes; k++) weights[k] = (uint8_t)next();
        fill(m.scale_format, scales, groups, element);
        fill(m.scale_format, zeros, groups, element);
        m.weights = weights, m.scales = scales, m.zeros = zeros;
        char name[64];
        snprintf(name, sizeof name, "hqq %d bits by %d, axis %d", (int)c[0], (int)c[5], (int)axis);
        products(one, three, scalar, &m, name);
    }
    state = before;
}

static void formats(hub_team *one, hub_team *three, hub_team *scalar) {
    static const size_t shapes[][2] = {{1, 256}, {5, 512}, {16, 256}, {37, 1280}, {64, 2304}};
    static const size_t odd[][2] = {{1, 1}, {5, 7}, {83, 553}, {33, 100}, {20, 300}};
    for (int format = 0; format < HUB_MLX; format++)
        for (int i = 0; i < 5; i++) {
            const hub_format_info *info = &hub_formats[format];
            bool is_float = info->block == 1;
            for (int transposed = 0; transposed <= is_float; transposed++) {
                size_t rows = is_float ? odd[i][0] : shapes[i][0], columns = is_float ? odd[i][1] : shapes[i][1];
                size_t length = transposed ? rows : columns, lines = transposed ? columns : rows;
                hub_matrix m = {.rows = rows, .columns = columns, .format = (hub_format)format, .transposed = transposed};
                if (format == HUB_NVFP4) m.factor = 0.7f;
                m.stride = length / info->block * info->bytes;
                uint8_t *weights = guarded(lines * m.stride);
                fill(m.format, weights, lines, m.stride);
                m.weights = weights;
                products(one, three, scalar, &m, info->name);
            }
        }
    // Routers: fewer outputs than a vector has lanes, read as they lie.
    for (int format = HUB_F32; format <= HUB_BF16; format++)
        for (size_t rows = 4; rows <= 12; rows += 4) {
            const hub_format_info *info = &hub_formats[format];
            hub_matrix m = {.rows = rows, .columns = 88 * rows, .format = (hub_format)format};
            m.stride = m.columns * info->bytes;
            uint8_t *weights = guarded(rows * m.stride);
            fill(m.format, weights, rows, m.stride);
            m.weights = weights;
            products(one, three, scalar, &m, info->name);
        }
    for (size_t rows = 3; rows < 60; rows += 17) {
        hub_matrix m = {.rows = rows, .columns = 416, .format = HUB_MXFP4_APART, .stride = 208};
        uint8_t *weights = guarded(rows * m.stride), *scales = guarded(rows * 13);
        for (size_t i = 0; i < rows * m.stride; i++) weights[i] = (uint8_t)next();
        for (size_t i = 0; i < rows * 13; i++) scales[i] = (uint8_t)(118 + next() % 8);
        m.weights = weights, m.scales = scales;
        products(one, three, scalar, &m, "MXFP4 with scales apart");
    }
    for (int bits = 2; bits <= 8; bits++) {
        if (bits == 7) continue;
        for (size_t group = 32; group <= 128; group *= 2) {
            size_t rows = 37, columns = 384, groups = columns / group;
            hub_matrix m = {.rows = rows, .columns = columns, .format = HUB_MLX, .bits = (uint8_t)bits, .group = (uint16_t)group};
            m.stride = columns * (size_t)bits / 8;
            m.scale_format = group == 32 ? HUB_F32 : group == 64 ? HUB_BF16 : HUB_F16;
            size_t bytes = hub_formats[m.scale_format].bytes;
            uint8_t *weights = guarded(rows * m.stride), *scales = guarded(rows * groups * bytes);
            uint8_t *biases = guarded(rows * groups * bytes);
            for (size_t i = 0; i < rows * m.stride; i++) weights[i] = (uint8_t)next();
            fill(m.scale_format, scales, rows, groups * bytes);
            fill(m.scale_format, biases, rows, groups * bytes);
            m.weights = weights, m.scales = scales, m.biases = biases;
            char name[32];
            snprintf(name, sizeof name, "mlx %d bits by %d", bits, (int)group);
            products(one, three, scalar, &m, name);
        }
    }
    fp8(one, three, scalar);
    turned(one, three, scalar);
    beside(one, three, scalar);
    hqq(one, three, scalar);
}

/// Groups of rows with matrices of their own, in one call and each alone, and their sums.
static void groups(hub_team *one, hub_team *three) {
    enum { GROUPS = 5, ROWS = 23, COLUMNS = 64, OUTPUTS = 40 };
    static const size_t sizes[GROUPS] = {1, 9, 0, 13, 30};
    static const hub_format kinds[GROUPS] = {HUB_Q4_0, HUB_BF16, HUB_F32, HUB_Q8_0, HUB_Q4_1};
    float x[53 * COLUMNS], together[2][53 * OUTPUTS], alone[2][53 * OUTPUTS];
    for (size_t i = 0; i < 53 * COLUMNS; i++) x[i] = real();
    for (int exact = 0; exact < 2; exact++) {
        hub_matrix matrices[2 * GROUPS];
        hub_product products[2 * GROUPS];
        hub_input inputs[GROUPS];
        hub_group list[GROUPS];
        size_t row = 0;
        for (size_t g = 0; g < GROUPS; row += sizes[g++]) {
            inputs[g] = (hub_input){.values = x + row * COLUMNS, .stride = COLUMNS, .rows = sizes[g], .columns = COLUMNS,
                                    .exact = exact, .packed = packed_for(sizes[g] + 1, COLUMNS)};
            list[g] = (hub_group){&inputs[g], products + 2 * g, 2};
            for (size_t i = 2 * g; i < 2 * g + 2; i++) {
                const hub_format_info *info = &hub_formats[kinds[i / 2]];
                matrices[i] = (hub_matrix){.rows = OUTPUTS, .columns = COLUMNS, .format = kinds[i / 2]};
                matrices[i].stride = COLUMNS / info->block * info->bytes;
                uint8_t *weights = guarded(OUTPUTS * matrices[i].stride);
                fill(kinds[i / 2], weights, OUTPUTS, matrices[i].stride);
                matrices[i].weights = weights;
                products[i] = (hub_product){&matrices[i], NULL, together[i % 2] + row * OUTPUTS, OUTPUTS};
                multiply(one, &matrices[i], x + row * COLUMNS, sizes[g], exact, NULL, alone[i % 2] + row * OUTPUTS);
            }
        }
        hub_multiply_groups(three, list, GROUPS);
        check(memcmp(together, alone, sizeof alone) == 0, "groups", hub_kernels_name(hub_team_kernels(one)), exact ? "exact" : "fast");
        for (size_t g = 0; g < GROUPS; g++) free(inputs[g].packed);
    }
    uint32_t places[ROWS * 2];
    float weights[ROWS * 2], sums[2][ROWS * OUTPUTS] = {{0}};
    for (size_t i = 0; i < ROWS; i++) {
        places[2 * i] = (uint32_t)i;
        places[2 * i + 1] = (uint32_t)(52 - i);
        weights[2 * i] = real(), weights[2 * i + 1] = real();
    }
    hub_combine(three, together[0], 0, 53, places, weights, 2, sums[0], ROWS, OUTPUTS);
    hub_combine(one, together[0], 0, 40, places, weights, 2, sums[1], ROWS, OUTPUTS);
    hub_combine(one, together[0] + 40 * OUTPUTS, 40, 53, places, weights, 2, sums[1], ROWS, OUTPUTS);
    check(memcmp(sums[0], sums[1], sizeof sums[0]) == 0, "results in pieces", hub_kernels_name(hub_team_kernels(one)), "f32");
    double worst = 0;
    for (size_t i = 0; i < ROWS * OUTPUTS; i++) {
        double sum = 0;
        for (size_t j = 2 * (i / OUTPUTS); j < 2 * (i / OUTPUTS) + 2; j++)
            sum += (double)weights[j] * together[0][places[j] * OUTPUTS + i % OUTPUTS];
        if (!(fabs(sums[0][i] - sum) <= worst)) worst = fabs(sums[0][i] - sum);
    }
    check(worst < 1e-4, "weighted sums", hub_kernels_name(hub_team_kernels(one)), "f32");
}

/// Attention of rows of two sequences, together and alone, against plain sums. What a row sees is summed by lanes, so
/// rows that see no more positions than any vector has lanes are equal to the scalar ones.
static void attention(hub_team *one, hub_team *three, hub_team *scalar) {
    const char *name = hub_kernels_name(hub_team_kernels(one));
    enum { POSITIONS = 600, ROWS = 11, HEADS = 6, KV = 2, PAGES = 3 };
    static const char *formats[] = {"f32", "f16", "q8"};
    static const size_t sizes[] = {16, 24, 80};
    for (int format = 0; format < 3; format++)
        for (int s = 0; s < 3; s++) {
            size_t d = sizes[s], bytes = hub_page_bytes((hub_cache_format)format, KV, d);
            void *keys[2][PAGES], *values[2][PAGES];
            float *plain = malloc(2 * 2 * POSITIONS * KV * d * 4), *k = malloc(KV * d * 4);
            for (int sequence = 0; sequence < 2; sequence++)
                for (int page = 0; page < PAGES; page++) {
                    keys[sequence][page] = calloc(1, bytes);
                    values[sequence][page] = calloc(1, bytes);
                }
            for (int sequence = 0; sequence < 2; sequence++)
                for (size_t p = 0; p < POSITIONS; p++)
                    for (int which = 0; which < 2; which++) {
                        for (size_t i = 0; i < KV * d; i++) k[i] = real();
                        memcpy(plain + (((size_t)sequence * 2 + (size_t)which) * POSITIONS + p) * KV * d, k, KV * d * 4);
                        if (which) hub_store_values((hub_cache_format)format, values[sequence][p / 256], p % 256, k, KV, d);
                        else hub_store_keys((hub_cache_format)format, keys[sequence][p / 256], p % 256, k, KV, d);
                    }
            float *queries = malloc(ROWS * HEADS * d * 4), *out = malloc(ROWS * HEADS * d * 4), *other = malloc(ROWS * HEADS * d * 4);
            for (size_t i = 0; i < ROWS * HEADS * d; i++) queries[i] = real() * 2;
            hub_attention_row rows[ROWS];
            int of[ROWS];
            for (size_t r = 0; r < ROWS; r++) {
                of[r] = r >= 7;
                size_t end = r < 7 ? 250 + r : r < 9 ? (r - 6) * 2 : 599 + (r - 9);
                rows[r] = (hub_attention_row){
                    queries + r * HEADS * d, out + r * HEADS * d, (const void *const *)keys[of[r]],
                    (const void *const *)values[of[r]], r % 2 && end > 20 ? end - 20 : 0, end, POSITIONS - end};
            }
            // Lists from vectors by distance, of which far ones share one.
            enum { DISTANCES = 2 * POSITIONS - 1, VECTORS = 77, STRIDE = DISTANCES + HUB_BEHIND };
            uint32_t index[DISTANCES];
            for (uint32_t i = 0; i < DISTANCES; i++) index[i] = i < 500 ? 0 : i < 576 ? i - 500 : VECTORS - 1;
            float *vectors[3], *lists[3];
            for (int which = 0; which < 3; which++) {
                size_t columns = which ? HEADS * d : HEADS;
                vectors[which] = malloc(VECTORS * columns * 4);
                lists[which] = (float *)(void *)guarded(columns * STRIDE * 4);
                for (size_t i = 0; i < VECTORS * columns; i++) vectors[which][i] = real();
                hub_list_distances(three, vectors[which], columns, index, DISTANCES, lists[which], STRIDE);
            }
            hub_distances distances = {
                STRIDE, s != 1 ? lists[0] : NULL, s != 0 ? lists[1] : NULL, s != 0 ? lists[2] : NULL};
            float slopes[HEADS], sinks[HEADS];
            for (int h = 0; h < HEADS; h++) slopes[h] = 0.01f * (float)(h + 1), sinks[h] = real();
            hub_attention a = {rows, ROWS, HEADS, KV, d, d, (hub_cache_format)format, 0.3f, s == 1 ? 2.0f : 0,
                               s == 2 ? sinks : NULL, s == 0 ? slopes : NULL, &distances};
            hub_attend(one, &a);
            double worst = 0;
            for (size_t r = 0; r < ROWS; r++)
                for (size_t h = 0; h < HEADS; h++) {
                    const float *kp = plain + (size_t)of[r] * 2 * POSITIONS * KV * d + h / 3 * d, *vp = kp + POSITIONS * KV * d;
                    double scores[POSITIONS], most = a.sinks ? sinks[h] : -INFINITY, sum = 0;
                    for (size_t p = rows[r].first; p < rows[r].end; p++) {
                        double x = 0;
                        size_t distance = index[POSITIONS - rows[r].end + p];
                        for (size_t i = 0; i < d; i++) {
                            double query = rows[r].queries[h * d + i], key = kp[p * KV * d + i];
                            x += query * key;
                            if (s == 0) continue;
                            x += query * vectors[1][(distance * HEADS + h) * d + i];
                            x += key * vectors[2][(distance * HEADS + h) * d + i];
                        }
                        x *= a.scale;
                        if (a.cap != 0) x = a.cap * tanh(x / a.cap);
                        if (s != 1) x += vectors[0][distance * HEADS + h];
                        if (a.slopes) x += slopes[h] * ((double)p - (double)(rows[r].end - 1));
                        scores[p] = x;
                        if (x > most) most = x;
                    }
                    if (a.sinks) sum = exp(sinks[h] - most);
                    for (size_t p = rows[r].first; p < rows[r].end; p++) sum += scores[p] = exp(scores[p] - most);
                    for (size_t i = 0; i < d; i++) {
                        double x = 0;
                        for (size_t p = rows[r].first; p < rows[r].end; p++) x += scores[p] / sum * vp[p * KV * d + i];
                        double error = fabs(x - out[(r * HEADS + h) * d + i]);
                        if (!(error <= worst)) worst = error;
                    }
                }
            double most = format == 0 ? 2e-6 : format == 1 ? 2e-3 : 0.03;
            if (worst > most) printf("%g ", worst);
            check(worst <= most, "attention", name, formats[format]);
            memcpy(other, out, ROWS * HEADS * d * 4);
            memset(out, 0, ROWS * HEADS * d * 4);
            hub_attend(three, &a);
            check(memcmp(other, out, ROWS * HEADS * d * 4) == 0, "attention with three threads", name, formats[format]);
            memset(out, 0, ROWS * HEADS * d * 4);
            hub_attend(scalar, &a);
            check(memcmp(other + 7 * HEADS * d, out + 7 * HEADS * d, 2 * HEADS * d * 4) == 0, "attention equals scalar", name, formats[format]);
            memset(out, 0, ROWS * HEADS * d * 4);
            for (size_t r = 0; r < ROWS; r++) {
                hub_attention alone = a;
                alone.rows = rows + r, alone.count = 1;
                hub_attend(one, &alone);
            }
            check(memcmp(other, out, ROWS * HEADS * d * 4) == 0, "attention of rows alone", name, formats[format]);
            for (int which = 0; which < 3; which++) free(vectors[which]);
            free(plain), free(k), free(queries), free(out), free(other);
            for (int i = 0; i < 2 * PAGES; i++) free(keys[i / PAGES][i % PAGES]), free(values[i / PAGES][i % PAGES]);
        }
}

static double gelu(double x) { return x / 2 * (1 + erf(x / sqrt(2))); }

/// Norms and activations against the mathematics library.
static void between(hub_team *team) {
    const char *name = hub_kernels_name(hub_team_kernels(team));
    enum { N = 1003 };
    float x[N], y[N], out[N], weight[N], bias[N];
    for (int i = 0; i < N; i++) x[i] = real() * 12, y[i] = real(), weight[i] = real(), bias[i] = real();
    double worst[HUB_CLAMPED + 1] = {0};
    for (int kind = 0; kind <= HUB_CLAMPED; kind++) {
        // The last one's factor has limits of its own.
        if (kind == HUB_CLAMPED) for (int i = 0; i < N; i++) y[i] *= 9;
        hub_activate(team, (hub_activation)kind, x, y, N, 1, N, out);
        for (int i = 0; i < N; i++) {
            double v = x[i], e = 0;
            switch ((hub_activation)kind) {
            case HUB_SILU: e = v / (1 + exp(-v)); break;
            case HUB_GELU: e = gelu(v); break;
            case HUB_GELU_TANH: e = v / 2 * (1 + tanh(sqrt(2 / M_PI) * (v + 0.044715 * v * v * v))); break;
            case HUB_QUICK_GELU: e = v / (1 + exp(-1.702 * v)); break;
            case HUB_RELU: e = v > 0 ? v : 0; break;
            case HUB_RELU_SQUARED: e = v > 0 ? v * v : 0; break;
            case HUB_TANH: e = tanh(v); break;
            case HUB_SIGMOID: e = 1 / (1 + exp(-v)); break;
            case HUB_RELU6: e = fmax(0, fmin(v, 6)); break;
            case HUB_HARD_SIGMOID: e = fmax(0, fmin(v + 3, 6)) / 6; break;
            case HUB_HARD_SWISH: e = v * fmax(0, fmin(v + 3, 6)) / 6; break;
            case HUB_CLAMPED: v = fmin(v, 7), e = v / (1 + exp(-1.702 * v)); break;
            }
            double factor = kind == HUB_CLAMPED ? fmax(-7, fmin(y[i], 7)) + 1 : y[i];
            double error = fabs(e * factor - out[i]) / (1 + fabs(e * factor));
            if (!(error <= worst[kind])) worst[kind] = error;
        }
        if (worst[kind] > 8e-7) printf("%d: %g ", kind, worst[kind]);
        check(worst[kind] <= 8e-7, "activation", name, "");
    }
    double mean = 0, squares = 0, variance = 0, rms = 0, layer = 0;
    for (int i = 0; i < N; i++) mean += x[i] / N, squares += (double)x[i] * x[i] / N;
    for (int i = 0; i < N; i++) variance += (x[i] - mean) * (x[i] - mean) / N;
    hub_rms_norm(team, x, N, 1, N, weight, 1, 1e-5f, out, N);
    for (int i = 0; i < N; i++) rms = fmax(rms, fabs(out[i] - x[i] / sqrt(squares + 1e-5) * (weight[i] + 1)));
    hub_layer_norm(team, x, N, 1, N, weight, bias, 1e-5f, out, N);
    for (int i = 0; i < N; i++) layer = fmax(layer, fabs(out[i] - ((x[i] - mean) / sqrt(variance + 1e-5) * weight[i] + bias[i])));
    check(rms < 2e-6, "rms norm", name, "");
    check(layer < 2e-6, "layer norm", name, "");
    memcpy(out, x, sizeof x);
    hub_soft_cap(team, out, 5, N);
    hub_add(team, out, y, 2, N);
    double capped = 0;
    for (int i = 0; i < N; i++) capped = fmax(capped, fabs(out[i] - (5 * tanh(x[i] / 5.0) + 2 * y[i])));
    check(capped < 3e-6, "soft cap and sum", name, "");
}

/// Recurrent layers against plain loops in double precision; cut in two, and by other threads, to the bit.
static void recurrent(hub_team *one, hub_team *three) {
    enum { ROWS = 5, KEYS = 2, HEADS = 4, SIZE = 13, WIDTH = 37, CHANNELS = 2 * KEYS * SIZE + HEADS * WIDTH, TAPS = 4 };
    enum { PAST = (TAPS - 1) * CHANNELS, STATE = PAST + HEADS * SIZE * WIDTH };
    const char *name = hub_kernels_name(hub_team_kernels(one));
    static float x[ROWS * CHANNELS], weights[TAPS * CHANNELS], bias[CHANNELS], steps[ROWS * HEADS], betas[ROWS * HEADS];
    static float rates[HEADS], ahead[HEADS], input[ROWS * CHANNELS], out[2][ROWS * HEADS * WIDTH], states[3][STATE];
    static double s[SIZE][WIDTH], e[ROWS * CHANNELS];
    for (int i = 0; i < ROWS * CHANNELS; i++) x[i] = real();
    for (int i = 0; i < TAPS * CHANNELS; i++) weights[i] = real();
    for (int i = 0; i < CHANNELS; i++) bias[i] = real();
    for (int i = 0; i < ROWS * HEADS; i++) steps[i] = real(), betas[i] = real();
    for (int i = 0; i < HEADS; i++) rates[i] = -1 - real() / 2, ahead[i] = real();
    for (int tiled = 0; tiled < 2; tiled++) {
        for (int cut = 0; cut <= 3; cut += 3)
            for (int i = 0; i < 2; i++) {
                // One piece, then two; the second with three threads.
                int first = i ? cut : 0, rows = i ? ROWS - cut : cut;
                float *result = out[cut > 0];
                hub_state_row places[ROWS];
                for (int row = 0; row < rows; row++) {
                    int at = (first + row) % 3;
                    places[row] = (hub_state_row){first + row ? states[(at + 2) % 3] : NULL, states[at]};
                }
                memcpy(input + first * CHANNELS, x + first * CHANNELS, (size_t)rows * CHANNELS * sizeof(float));
                hub_convolution c = {
                    .rows = places, .count = (size_t)rows, .channels = CHANNELS, .taps = TAPS, .weights = weights,
                    .bias = bias, .has_silu = true, .x = input + first * CHANNELS};
                hub_convolve(i ? three : one, &c);
                hub_delta d = {
                    .rows = places, .count = (size_t)rows, .state = PAST, .key_heads = KEYS, .value_heads = HEADS,
                    .key_size = SIZE, .value_size = WIDTH, .is_tiled = tiled, .x = input + first * CHANNELS,
                    .steps = steps + first * HEADS, .betas = betas + first * HEADS, .rates = rates, .biases = ahead,
                    .out = result + first * HEADS * WIDTH};
                hub_delta_rule(i ? three : one, &d);
            }
        check(!memcmp(out[0], out[1], sizeof out[0]), "cut recurrence", name, "");
        for (int i = 0; i < ROWS * CHANNELS; i++) {
            int row = i / CHANNELS, channel = i % CHANNELS;
            double sum = bias[channel];
            for (int tap = 0; tap < TAPS; tap++)
                if (row + tap >= TAPS - 1) sum += (double)weights[tap * CHANNELS + channel] * x[i - (TAPS - 1 - tap) * CHANNELS];
            e[i] = sum / (1 + exp(-sum));
        }
        double worst = 0;
        for (int head = 0; head < HEADS; head++) {
            memset(s, 0, sizeof s);
            int key_head = tiled ? head % KEYS : head / (HEADS / KEYS);
            for (int row = 0; row < ROWS; row++) {
                double *q = e + row * CHANNELS + key_head * SIZE, *k = q + KEYS * SIZE;
                double *v = e + row * CHANNELS + 2 * KEYS * SIZE + head * WIDTH, qq = 1e-6, kk = 1e-6;
                for (int i = 0; i < SIZE; i++) qq += q[i] * q[i], kk += k[i] * k[i];
                double decay = exp(rates[head] * log1p(exp(steps[row * HEADS + head] + ahead[head])));
                double beta = 1 / (1 + exp(-betas[row * HEADS + head]));
                for (int j = 0; j < WIDTH; j++) {
                    double known = 0, sum = 0;
                    for (int i = 0; i < SIZE; i++) known += (s[i][j] *= decay) * k[i] / sqrt(kk);
                    for (int i = 0; i < SIZE; i++) s[i][j] += k[i] / sqrt(kk) * beta * (v[j] - known);
                    for (int i = 0; i < SIZE; i++) sum += s[i][j] * q[i] / sqrt(qq * SIZE);
                    worst = fmax(worst, fabs(sum - out[0][(row * HEADS + head) * WIDTH + j]));
                }
            }
        }
        if (worst > 1e-5) printf("%g ", worst);
        check(worst <= 1e-5, "recurrence", name, tiled ? "tiled" : "");
    }
}

/// A selective state space against plain loops in double precision; cut in two, and by other threads, to the bit.
static void selective(hub_team *one, hub_team *three) {
    enum { ROWS = 5, CHANNELS = 217, SIZE = 6, STATE = SIZE * CHANNELS };
    const char *name = hub_kernels_name(hub_team_kernels(one));
    static float x[ROWS * CHANNELS], steps[ROWS * CHANNELS], writes[ROWS * SIZE], reads[ROWS * SIZE], rates[STATE];
    static float skips[CHANNELS], out[2][ROWS * CHANNELS], states[3][STATE];
    // Steps from nearly nothing to where the logarithm is the step itself.
    for (int i = 0; i < ROWS * CHANNELS; i++) x[i] = real(), steps[i] = 12 * real();
    for (int i = 0; i < ROWS * SIZE; i++) writes[i] = real(), reads[i] = real();
    for (int i = 0; i < STATE; i++) rates[i] = -1 - real() / 2;
    for (int i = 0; i < CHANNELS; i++) skips[i] = real();
    for (int cut = 0; cut <= 3; cut += 3)
        for (int i = 0; i < 2; i++) {
            // One piece, then two; the second with three threads.
            int first = i ? cut : 0, rows = i ? ROWS - cut : cut;
            hub_state_row places[ROWS];
            for (int row = 0; row < rows; row++) {
                int at = (first + row) % 3;
                places[row] = (hub_state_row){first + row ? states[(at + 2) % 3] : NULL, states[at]};
            }
            hub_selection selection = {
                .rows = places, .count = (size_t)rows, .channels = CHANNELS, .state_size = SIZE, .x = x + first * CHANNELS,
                .steps = steps + first * CHANNELS, .writes = writes + first * SIZE, .reads = reads + first * SIZE,
                .rates = rates, .skips = skips, .out = out[cut > 0] + first * CHANNELS};
            hub_select(i ? three : one, &selection);
        }
    check(!memcmp(out[0], out[1], sizeof out[0]), "cut selection", name, "");
    double worst = 0;
    for (int channel = 0; channel < CHANNELS; channel++) {
        double s[SIZE] = {0};
        for (int row = 0; row < ROWS; row++) {
            double at = x[row * CHANNELS + channel], step = log1p(exp(steps[row * CHANNELS + channel])), sum = skips[channel] * at;
            for (int n = 0; n < SIZE; n++) {
                s[n] = s[n] * exp(rates[n * CHANNELS + channel] * step) + step * writes[row * SIZE + n] * at;
                sum += s[n] * reads[row * SIZE + n];
            }
            worst = fmax(worst, fabs(sum - out[0][row * CHANNELS + channel]) / (1 + fabs(sum)));
        }
    }
    if (worst > 1e-5) printf("%g ", worst);
    check(worst <= 1e-5, "selection", name, "");
}

/// Mamba 2's state space against plain loops in double precision; cut in two, with its states in one place or in three,
/// and by other threads, to the bit.
static void spatial(hub_team *one, hub_team *three, hub_team *scalar) {
    enum { ROWS = 71, HEADS = 4, GROUPS = 2, SIZE = 83, STATES = 6, WIDTH = HEADS * SIZE, EACH = WIDTH + 2 * GROUPS * STATES };
    const char *name = hub_kernels_name(hub_team_kernels(one));
    static float x[ROWS * EACH], steps[ROWS * HEADS], out[4][ROWS * WIDTH], states[3][HEADS * STATES * SIZE];
    float rates[HEADS], biases[HEADS], skips[HEADS];
    for (int i = 0; i < ROWS * EACH; i++) x[i] = real();
    for (int i = 0; i < ROWS * HEADS; i++) steps[i] = 12 * real();
    for (int i = 0; i < HEADS; i++) rates[i] = -1 - real() / 2, biases[i] = real(), skips[i] = real();
    for (int way = 0; way < 4; way++)
        for (int part = 0; part < 2; part++) {
            int cut = way == 1 ? 37 : way == 2 ? 1 : 0, first = part ? cut : 0, rows = part ? ROWS - cut : cut;
            hub_state_row places[ROWS];
            for (int row = first; row < first + rows; row++) {
                int after = way == 0 ? 0 : row % 3, before = way == 0 ? 0 : (row + 2) % 3;
                places[row - first] = (hub_state_row){row ? states[before] : NULL, states[after]};
            }
            hub_space space = {
                .rows = places, .count = (size_t)rows, .heads = HEADS, .groups = GROUPS, .head_size = SIZE,
                .state_size = STATES, .x = x + first * EACH, .steps = steps + first * HEADS, .rates = rates,
                .biases = biases, .skips = skips, .least_step = 0.01f, .most_step = 9, .out = out[way] + first * WIDTH};
            hub_scan_space(way == 3 ? scalar : way == 2 ? three : one, &space);
        }
    for (int way = 1; way < 4; way++)
        check(!memcmp(out[0], out[way], sizeof out[0]), "cut, kept and scalar state space", name, "");
    double worst = 0;
    for (int i = 0; i < WIDTH; i++) {
        int head = i / SIZE, shared = WIDTH + head / (HEADS / GROUPS) * STATES;
        double s[STATES] = {0};
        for (int row = 0; row < ROWS; row++) {
            const float *at = x + row * EACH;
            double step = fmin(9, fmax(0.01, log1p(exp(steps[row * HEADS + head] + biases[head])))), sum = skips[head] * at[i];
            for (int n = 0; n < STATES; n++) {
                s[n] = s[n] * exp(rates[head] * step) + step * at[shared + n] * at[i];
                sum += s[n] * at[shared + GROUPS * STATES + n];
            }
            worst = fmax(worst, fabs(sum - out[0][row * WIDTH + i]) / (1 + fabs(sum)));
        }
    }
    if (worst > 1e-5) printf("%g ", worst);
    check(worst <= 1e-5, "state space", name, "");
}

/// What a window sees of a plane, and convolutions of each channel, against sums in double precision; several threads give
/// the bits of one.
static void planes(hub_team *one, hub_team *three) {
    const uint64_t before_all = state; // what other checks draw stays as it is
    const char *name = hub_kernels_name(hub_team_kernels(one));
    enum { H = 9, W = 11, C = 83, SIDE = 5, AREA = SIDE * SIDE };
    static float x[H * W * C], weights[AREA * C], bias[C], seen[H * W * AREA * C], out[2][H * W * C];
    for (int i = 0; i < H * W * C; i++) x[i] = real();
    for (int i = 0; i < AREA * C; i++) weights[i] = real();
    for (int i = 0; i < C; i++) bias[i] = real();
    for (size_t stride = 1; stride <= 3; stride++)
        for (size_t before = 0; before <= 2; before++) {
            hub_window w = {
                .height = H, .width = W, .channels = C, .side = SIDE, .stride = stride, .top = before, .left = 2 - before};
            w.rows = (H + 2 - SIDE) / stride + 1, w.columns = (W + 2 - SIDE) / stride + 1;
            size_t count = w.rows * w.columns, bytes = count * C * 4;
            hub_gather_windows(three, x, &w, 1, 0, count, seen);
            double worst = 0;
            bool is_right = true;
            for (int kind = 0; kind < 3; kind++) {
                for (int i = 0; i < 2; i++)
                    if (kind == 0) hub_convolve_channels(i ? three : one, x, &w, weights, bias, out[i]);
                    else hub_pool(i ? three : one, kind == 1 ? HUB_LARGEST : HUB_MEAN, x, &w, out[i]);
                check(memcmp(out[0], out[1], bytes) == 0, "planes by several threads", name, "");
                for (size_t place = 0; place < count; place++)
                    for (size_t c = 0; c < C; c++) {
                        double sum = bias[c], all = 0, largest = -1e9, counted = 0;
                        for (size_t k = 0; k < AREA; k++) {
                            const size_t row = place / w.columns * stride + k / SIDE - w.top;
                            const size_t column = place % w.columns * stride + k % SIDE - w.left;
                            const bool is_inside = row < H && column < W;
                            const float v = is_inside ? x[(row * W + column) * C + c] : 0;
                            is_right = is_right && seen[(place * AREA + k) * C + c] == v;
                            sum += (double)v * weights[k * C + c];
                            if (is_inside) all += v, counted++, largest = fmax(largest, v);
                        }
                        const double expected = kind == 0 ? sum : kind == 1 ? largest : all / counted;
                        worst = fmax(worst, fabs(expected - out[0][place * C + c]));
                    }
            }
            check(is_right, "windows", name, "");
            if (worst > 4e-6) printf("%g ", worst);
            check(worst <= 4e-6, "planes", name, "");
        }
    double worst = 0;
    for (int squared = 0; squared < 2; squared++) {
        for (int i = 0; i < 2; i++) hub_sum_places(i ? three : one, x, H, W, C, squared, out[i]);
        check(memcmp(out[0], out[1], C * 4) == 0, "sums of places by several threads", name, "");
        for (int c = 0; c < C; c++) {
            double sum = 0;
            for (int i = 0; i < H * W; i++) sum += squared ? (double)x[i * C + c] * x[i * C + c] : x[i * C + c];
            worst = fmax(worst, fabs(sum - out[0][c]));
        }
    }
    check(worst <= 2e-5, "sums of places", name, "");
    state = before_all;
}

static void count_items(void *context, size_t worker, size_t begin, size_t end) {
    (void)worker;
    for (size_t i = begin; i < end; i++) ((uint8_t *)context)[i]++;
}

static void team_of(size_t threads) {
    hub_team *team = hub_team_create(threads, hub_kernels_best());
    bool right = hub_team_threads(team) == threads;
    static uint8_t hits[1001];
    for (int round = 0; round < 300; round++) {
        size_t count = next() % 1001, grain = next() % 40;
        memset(hits, 0, sizeof hits);
        hub_team_run(team, count, grain, count_items, hits);
        for (size_t i = 0; i < sizeof hits; i++) right = right && hits[i] == (i < count);
    }
    check(right, "every item once", "team", "");
    hub_team_destroy(team);
}

int hub_check_kernels(int *count) {
    hub_team *scalar = hub_team_create(1, hub_kernels_of(HUB_SCALAR));
    for (int variant = 0; variant < HUB_VARIANT_COUNT; variant++) {
        const hub_kernels *kernels = hub_kernels_of((hub_variant)variant);
        if (!kernels) continue;
        hub_team *one = hub_team_create(1, kernels), *three = hub_team_create(3, kernels);
        formats(one, three, scalar);
        attention(one, three, scalar);
        between(one);
        groups(one, three);
        recurrent(one, three);
        selective(one, three);
        spatial(one, three, scalar);
        planes(one, three);
        hub_team_destroy(one);
        hub_team_destroy(three);
    }
    for (size_t threads = 1; threads <= 5; threads++) team_of(threads);
    hub_team_destroy(scalar);
    *count = passed;
    return failed;
}

#ifndef HUB_NO_MAIN
int main(void) {
    int failures = hub_check_kernels(&passed);
    printf("kernels: %d passed, %d failed\n", passed, failures);
    return failures != 0;
}
#endif
