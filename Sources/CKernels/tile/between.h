// The operations between products, for any instruction set. A row's end goes through the same vectors, padded.
#pragma once

INLINE vf load(const float *x, size_t left) {
    vf v = (vf)0.0f;
    memcpy(&v, x, left < LANES ? left * sizeof(float) : sizeof v);
    return v;
}
INLINE void store(float *x, vf v, size_t left) { memcpy(x, &v, left < LANES ? left * sizeof(float) : sizeof v); }
/// Does something to every vector of a row, from `i` on, of which `left` numbers count. Whole ones are apart, for a copy
/// of unknown length is a call.
#define EACH_VECTOR(COUNT, ...)                                                                                        \
    do {                                                                                                               \
        size_t i = 0;                                                                                                  \
        for (; i + LANES <= (COUNT); i += LANES) {                                                                     \
            const size_t left = LANES;                                                                                 \
            __VA_ARGS__                                                                                                \
        }                                                                                                              \
        if (i < (COUNT)) {                                                                                             \
            const size_t left = (COUNT) - i;                                                                           \
            __VA_ARGS__                                                                                                \
        }                                                                                                              \
    } while (0)

/// Limits that keep NaN, which MIN and MAX pass over: a damaged weight must not end as a number. Each is one instruction.
#define AT_MOST(x, limit) ((vf)(limit) < (x) ? (vf)(limit) : (x))
#define AT_LEAST(x, limit) ((vf)(limit) > (x) ? (vf)(limit) : (x))

/// e to the x: Cody and Waite's reduction, a polynomial, and the exponent put in; 1 ulp. Below -87.3 it is 0.
INLINE vf exponential(vf x) {
    vf most = AT_MOST(x, 88.37f), clamped = AT_LEAST(most, -87.33f);
    vf n = ROUND(clamped * (vf)1.44269504f);
    vf r = FMA(n, (vf)-0.693145752f, clamped);
    r = FMA(n, (vf)-1.42860677e-6f, r);
    vf p = (vf)1.9875691500e-4f;
    p = FMA(p, r, (vf)1.3981999507e-3f);
    p = FMA(p, r, (vf)8.3334519073e-3f);
    p = FMA(p, r, (vf)4.1665795894e-2f);
    p = FMA(p, r, (vf)1.6666665459e-1f);
    p = FMA(p, r, (vf)5.0000001201e-1f);
    p = FMA(p, r * r, r + (vf)1.0f);
    vi power = (INTEGERS(n) + 127) << 23;
    vf result = p * (vf)power;
    return x < (vf)-87.33f ? (vf)0.0f : result;
}

INLINE vf tangent(vf x) {
    // Beyond 10 it is 1 in float32.
    vf most = AT_MOST(x, 10.0f);
    vf e = exponential((vf)2.0f * AT_LEAST(most, -10.0f));
    return (e - (vf)1.0f) / (e + (vf)1.0f);
}

/// A rational approximation, odd in x; its error is below 4e-7 (https://gitlab.com/libeigen/eigen, `erf`).
INLINE vf error_function(vf x) {
    vf most = AT_MOST(x, 4.0f), c = AT_LEAST(most, -4.0f), s = c * c;
    vf p = (vf)-2.72614225801306e-10f;
    p = FMA(p, s, (vf)2.77068142495902e-08f);
    p = FMA(p, s, (vf)-2.10102402082508e-06f);
    p = FMA(p, s, (vf)-5.69250639462346e-05f);
    p = FMA(p, s, (vf)-7.34990630326855e-04f);
    p = FMA(p, s, (vf)-2.95459980854025e-03f);
    p = FMA(p, s, (vf)-1.60960333262415e-02f);
    vf q = (vf)-1.45660718464996e-05f;
    q = FMA(q, s, (vf)-2.13374055278905e-04f);
    q = FMA(q, s, (vf)-1.68282697438203e-03f);
    q = FMA(q, s, (vf)-7.37332916720468e-03f);
    q = FMA(q, s, (vf)-1.42647390514189e-02f);
    return c * p / q;
}

INLINE float total(vf v) {
    float sum = 0;
    for (int lane = 0; lane < LANES; lane++) sum += v[lane];
    return sum;
}

static void rms_norm(const float *x, size_t count, const float *weight, float offset, float epsilon, float *out) {
    vf squares = (vf)0.0f;
    EACH_VECTOR(count, {
        vf v = load(x + i, left);
        squares = FMA(v, v, squares);
    });
    float scale = 1.0f / sqrtf(total(squares) / (float)count + epsilon);
    EACH_VECTOR(count, {
        vf v = load(x + i, left) * (vf)scale;
        if (weight) v = v * (load(weight + i, left) + (vf)offset);
        store(out + i, v, left);
    });
}

static void layer_norm(const float *x, size_t count, const float *weight, const float *bias, float epsilon, float *out) {
    vf sum = (vf)0.0f, squares = (vf)0.0f;
    EACH_VECTOR(count, { sum += load(x + i, left); });
    vf mean = (vf)(total(sum) / (float)count);
    EACH_VECTOR(count, {
        vf v = load(x + i, left) - mean;
        for (size_t lane = left; lane < LANES; lane++) v[lane] = 0;
        squares = FMA(v, v, squares);
    });
    vf scale = (vf)(1.0f / sqrtf(total(squares) / (float)count + epsilon));
    EACH_VECTOR(count, {
        vf v = (load(x + i, left) - mean) * scale * load(weight + i, left);
        if (bias) v += load(bias + i, left);
        store(out + i, v, left);
    });
}

static void affine(const float *x, size_t count, const float *weight, const float *bias, float *out) {
    EACH_VECTOR(count, { store(out + i, FMA(load(x + i, left), load(weight + i, left), load(bias + i, left)), left); });
}

/// From 0 to 6.
INLINE vf six(vf x) {
    vf most = AT_MOST(x, 6.0f);
    return AT_LEAST(most, 0.0f);
}

INLINE vf activated(hub_activation activation, vf x) {
    const vf half = (vf)0.5f, one = (vf)1.0f;
    switch (activation) {
    case HUB_SILU: return x / (one + exponential(-x));
    case HUB_GELU: return half * x * (one + error_function(x * (vf)0.70710678f));
    case HUB_GELU_TANH:
        return half * x * (one + tangent((vf)0.79788456f * FMA((vf)0.044715f * x, x * x, x)));
    case HUB_QUICK_GELU: return x / (one + exponential((vf)-1.702f * x));
    case HUB_RELU: return AT_LEAST(x, 0.0f);
    case HUB_RELU_SQUARED: return AT_LEAST(x, 0.0f) * AT_LEAST(x, 0.0f);
    case HUB_TANH: return tangent(x);
    case HUB_SIGMOID: return one / (one + exponential(-x));
    case HUB_RELU6: return six(x);
    case HUB_HARD_SIGMOID: return six(x + (vf)3.0f) * (vf)(1.0f / 6);
    case HUB_HARD_SWISH: return x * six(x + (vf)3.0f) * (vf)(1.0f / 6);
    case HUB_CLAMPED: x = x > (vf)7.0f ? (vf)7.0f : x; return x / (one + exponential((vf)-1.702f * x));
    }
    return x;
}

static void activate(hub_activation activation, const float *x, const float *factor, size_t count, float *out) {
    EACH_VECTOR(count, {
        vf v = activated(activation, load(x + i, left));
        if (factor) {
            vf f = load(factor + i, left);
            if (activation == HUB_CLAMPED) {
                f = f > (vf)7.0f ? (vf)7.0f : f;
                f = (f < (vf)-7.0f ? (vf)-7.0f : f) + (vf)1.0f;
            }
            v *= f;
        }
        store(out + i, v, left);
    });
}

static void add(float *x, const float *y, float scale, size_t count) {
    EACH_VECTOR(count, { store(x + i, FMA((vf)scale, load(y + i, left), load(x + i, left)), left); });
}

/// Gives a tile's products to the rows of the result.
static void finish(const float *sums, size_t rows, const float *bias, float *out, size_t stride) {
    vf b = bias ? load(bias, LANES) : (vf)0.0f;
    for (size_t row = 0; row < rows; row++)
        store(out + row * stride, load(sums + row * LANES, LANES) + b, LANES);
}

static void soft_cap(float *x, float cap, size_t count) {
    EACH_VECTOR(count, { store(x + i, (vf)cap * tangent(load(x + i, left) / (vf)cap), left); });
}

/// Blocks of 32 columns as 8-bit numbers, the last one padded with zeros.
static void quantize(const float *x, size_t columns, const hub_panel *panel, size_t row) {
    typedef float floats __attribute__((ext_vector_type(HUB_BLOCK)));
    typedef int32_t integers __attribute__((ext_vector_type(HUB_BLOCK)));
    typedef int8_t bytes __attribute__((ext_vector_type(HUB_BLOCK)));
    size_t at = row;
    for (size_t from = 0; from < columns; from += HUB_BLOCK, at += panel->width) {
        size_t count = columns - from < HUB_BLOCK ? columns - from : HUB_BLOCK;
        floats block = (floats)0.0f;
        memcpy(&block, x + from, count < HUB_BLOCK ? count * sizeof(float) : sizeof block);
        // As integers magnitudes have the same order, and NaN is the largest. With NaN or an infinity the scale is NaN
        // or infinite, and the sums are NaN, which the sampler reports.
        float largest = hub_from_bits((uint32_t)__builtin_reduce_max((integers)block & 0x7FFFFFFF));
        float scale = largest / 127, inverse = largest > 0 ? 127 / largest : 0;
        floats rounded = __builtin_elementwise_rint(block * inverse);
        integers q = __builtin_convertvector(rounded == rounded ? rounded : (floats)0.0f, integers);
        int32_t low = __builtin_reduce_add(q.lo), high = __builtin_reduce_add(q.hi);
        bytes narrow = __builtin_convertvector(q, bytes);
        memcpy((int8_t *)panel->q + at * HUB_BLOCK, &narrow, sizeof narrow);
        ((float *)panel->scales)[at] = scale;
        ((float *)panel->sums)[at] = scale * (float)(low + high);
        ((int32_t *)panel->negated)[at] = -(low + high);
        ((float *)panel->half_sums)[2 * at] = scale * (float)low;
        ((float *)panel->half_sums)[2 * at + 1] = scale * (float)high;
        ((int32_t *)panel->half_negated)[2 * at] = -low;
        ((int32_t *)panel->half_negated)[2 * at + 1] = -high;
    }
}
