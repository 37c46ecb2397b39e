// Compares the kernels of one CPU with sums in double precision and with each other, on odd sizes and at odd addresses.
// scripts/portable runs it on an emulated CPU. Says what is wrong, and ends with 1 where anything is.
#include "CKernels.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int faults;

static void expect(int holds, const char *what, const char *kernels, size_t a, size_t b, size_t c) {
    if (holds || faults++ > 20) return;
    printf("%s: %s (%zu, %zu, %zu)\n", kernels, what, a, b, c);
}

static uint32_t bits(void) { // xorshift
    static uint64_t state = 0x9E3779B97F4A7C15u;
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return (uint32_t)(state >> 16);
}

static float number(void) { return (float)((double)bits() / 4294967296.0 * 2 - 1); }

static void fill(float *out, size_t count) {
    for (size_t i = 0; i < count; i++) out[i] = number();
}

// Weights of an element at an odd address; bits of any number but those with the greatest exponents.
static uint8_t *make_weights(hub_element element, size_t count, uint8_t **room) {
    size_t bytes = hub_element_bytes(element);
    uint8_t *at = (*room = malloc(count * bytes + 1)) + 1;
    for (size_t i = 0; i < count; i++) {
        float value = number();
        uint32_t whole;
        memcpy(&whole, &value, 4);
        uint16_t half = element == HUB_F16 ? (uint16_t)(bits() & 0xBFFF) : (uint16_t)(whole >> 16);
        if (element == HUB_F32) memcpy(at + 4 * i, &value, 4);
        else memcpy(at + 2 * i, &half, 2);
    }
    return at;
}

static void rows(const hub_kernels *kernels, hub_element element, size_t n, size_t k, size_t batch) {
    uint8_t *room, *weights = make_weights(element, n * k, &room);
    float *wide = malloc(n * k * sizeof(float)), *x = malloc(batch * k * sizeof(float));
    float *y = malloc(batch * n * sizeof(float)), *alone = malloc(n * sizeof(float));
    hub_widen(element, weights, n * k, wide);
    fill(x, batch * k);
    kernels->rows[element](weights, n, k, x, k, batch, y, n);
    for (size_t b = 0; b < batch; b++) {
        kernels->rows[element](weights, n, k, x + b * k, k, 1, alone, n);
        expect(!memcmp(alone, y + b * n, n * sizeof(float)), "a batch has other bits than its vectors", kernels->name, n, k, batch);
        for (size_t r = 0; r < n; r++) {
            double sum = 0, size = 1e-30;
            for (size_t i = 0; i < k; i++) {
                double term = (double)wide[r * k + i] * x[b * k + i];
                sum += term, size += fabs(term);
            }
            expect(fabs(y[b * n + r] - sum) <= 1e-6 * size, "a sum is wrong", kernels->name, n, k, batch);
        }
    }
    free(room), free(wide), free(x), free(y), free(alone);
}

static void vectors(const hub_kernels *kernels, size_t count) {
    float a[300], b[300], c[300];
    double sum = 0;
    fill(a, count), fill(b, count);
    for (size_t i = 0; i < count; i++) sum += (double)a[i] * b[i], c[i] = b[i] + 0.5f * a[i];
    expect(fabs(kernels->dot(a, b, count) - sum) < 1e-5, "dot is wrong", kernels->name, count, 0, 0);
    kernels->add_scaled(0.5f, a, b, count);
    for (size_t i = 0; i < count; i++) expect(fabsf(b[i] - c[i]) < 1e-6f, "add_scaled is wrong", kernels->name, count, i, 0);
}

// Every float16 there is.
static void halves(const hub_kernels *kernels) {
    for (size_t h = 0; h < 65536; h++) {
        uint16_t weights[16] = {(uint16_t)h};
        float ones[16], wide, sum;
        size_t exponent = h >> 10 & 31, fraction = h & 1023;
        double value = exponent == 31 ? (fraction ? NAN : INFINITY)
            : exponent ? ldexp(1024 + (double)fraction, (int)exponent - 25) : ldexp((double)fraction, -24);
        if (h & 0x8000) value = -value;
        for (int i = 0; i < 16; i++) ones[i] = 1;
        hub_widen(HUB_F16, weights, 1, &wide);
        kernels->rows[HUB_F16](weights, 1, 16, ones, 16, 1, &sum, 1);
        int same = isnan(value) ? isnan(wide) && isnan(sum) : wide == value && sum == value;
        expect(same, "a float16 is read wrong", kernels->name, h, 0, 0);
    }
}

// Whatever the number of threads.
static void pool(const hub_kernels *kernels, size_t threads) {
    enum { N = 77, K = 513, B = 7 };
    hub_pool *pool = hub_pool_create(threads);
    uint8_t *room, *weights = make_weights(HUB_BF16, N * K, &room);
    static float x[B * K], y[B * N], z[B * N];
    fill(x, B * K);
    hub_matmul(pool, kernels, HUB_BF16, weights, N, K, x, B, y);
    kernels->rows[HUB_BF16](weights, N, K, x, K, B, z, N);
    expect(!memcmp(y, z, sizeof y), "threads change the bits", kernels->name, threads, 0, 0);
    hub_pool_destroy(pool);
    free(room);
}

// The first number that is not finite is found wherever it is.
static void scans(void) {
    static const struct { hub_scan_kind kind; size_t bytes; uint32_t fault; } kinds[] = {
        {HUB_SCAN_F16, 2, 0x7C00}, {HUB_SCAN_BF16, 2, 0x7F80}, {HUB_SCAN_F32, 4, 0x7F800000}, {HUB_SCAN_F8_E4M3, 1, 0x7F}};
    static uint8_t room[4 * 4200 + 8];
    for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++)
        for (size_t count = 1; count < 4200; count = count * 3 + 1)
            for (size_t shift = 0; shift < 8; shift++) {
                size_t place = bits() % count, bytes = kinds[kind].bytes;
                memset(room, 0, sizeof room);
                expect(hub_scan_finite(kinds[kind].kind, room + shift, count) == count, "finite numbers", "scan", kind, count, shift);
                memcpy(room + shift + place * bytes, &kinds[kind].fault, bytes);
                expect(hub_scan_finite(kinds[kind].kind, room + shift, count) == place, "NaN or infinity", "scan", kind, count, shift);
            }
}

int main(void) {
    int compared = 0;
    for (int variant = 0; variant < HUB_VARIANT_COUNT; variant++) {
        const hub_kernels *kernels = hub_kernels_of((hub_variant)variant);
        if (!kernels) continue;
        compared++;
        for (int element = 0; element < HUB_ELEMENT_COUNT; element++)
            for (size_t batch = 1; batch <= 13; batch += 3)
                for (size_t n = 1; n <= 13; n += 4)
                    for (size_t k = 1; k < 2100; k = k * 3 + 2) rows(kernels, (hub_element)element, n, k, batch);
        for (size_t count = 0; count < 300; count += 7) vectors(kernels, count);
        halves(kernels);
        for (size_t threads = 1; threads <= 3; threads++) pool(kernels, threads);
    }
    scans();
    printf("%d kernels compared, the best is %s: %d faults\n", compared, hub_kernels_best()->name, faults);
    return faults != 0;
}
