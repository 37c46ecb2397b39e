// Compute kernels of the inference kit: float32 activations, weights as stored in the file.
//
// Every weight pointer may be unaligned, because tensors start where the file's header puts them. Matrices are
// row-major; `x_stride` and `y_stride` count floats. Nothing here allocates except hub_pool_create.
#pragma once
#include <stddef.h>
#include <stdint.h>
#include "hub_scan.h"

/// Hints that memory is about to be read. Any address is allowed.
static inline void hub_prefetch(const void *address) { __builtin_prefetch(address); }

/// How a weight is stored.
typedef enum { HUB_F32, HUB_F16, HUB_BF16, HUB_ELEMENT_COUNT } hub_element;

/// An instruction set that kernels exist for.
typedef enum { HUB_SCALAR, HUB_AVX2, HUB_AVX512, HUB_NEON, HUB_VARIANT_COUNT } hub_variant;

/// y[b][r] = sum over k of weights[r][k] * x[b][k], for `rows` rows and `batch` vectors.
typedef void hub_rows(
    const void *weights, size_t rows, size_t columns, const float *x, size_t x_stride, size_t batch, float *y,
    size_t y_stride);

/// The kernels of one instruction set.
typedef struct {
    const char *name;
    hub_rows *rows[HUB_ELEMENT_COUNT];
    float (*dot)(const float *a, const float *b, size_t count);
    /// y += scale * x
    void (*add_scaled)(float scale, const float *x, float *y, size_t count);
} hub_kernels;

/// The kernels of an instruction set; NULL where this CPU or this build does not have it.
const hub_kernels *hub_kernels_of(hub_variant variant);
/// The fastest kernels that this CPU runs.
const hub_kernels *hub_kernels_best(void);

/// Bytes of one element.
size_t hub_element_bytes(hub_element element);
/// Elements as float32.
void hub_widen(hub_element element, const void *source, size_t count, float *out);

/// Number of physical cores this process may run on (SMT siblings count once); at least 1.
size_t hub_physical_cores(void);

/// A fixed team of threads. One caller at a time; the caller works too.
typedef struct hub_pool hub_pool;
/// A team of `threads` threads, the caller included; NULL if the threads cannot be created.
hub_pool *hub_pool_create(size_t threads);
void hub_pool_destroy(hub_pool *pool);
size_t hub_pool_threads(const hub_pool *pool);
/// Calls body(context, worker, begin, end) for pieces of 0..<count, `grain` items each, until all are done.
/// `worker` is below hub_pool_threads and belongs to one thread during the call.
void hub_pool_run(
    hub_pool *pool, size_t count, size_t grain, void (*body)(void *context, size_t worker, size_t begin, size_t end),
    void *context);

/// y[batch][rows] = x[batch][columns] times the transpose of weights[rows][columns].
void hub_matmul(
    hub_pool *pool, const hub_kernels *kernels, hub_element element, const void *weights, size_t rows, size_t columns,
    const float *x, size_t batch, float *y);

/// Causal attention of `batch` new queries over a cache that already holds their keys and values.
typedef struct {
    const float *queries; ///< [batch][heads][head_size], rotated
    const float *keys;    ///< [kv_heads][capacity][head_size]
    const float *values;  ///< [kv_heads][capacity][head_size]
    float *out;           ///< [batch][heads][head_size]
    float *scratch;       ///< [threads][capacity]
    size_t batch, heads, kv_heads, head_size, capacity;
    size_t start;         ///< position of the first query; query b sees positions 0...start+b
    float scale;
} hub_attention_args;
void hub_attention(hub_pool *pool, const hub_kernels *kernels, const hub_attention_args *arguments);

/// out = x / sqrt(mean(x^2) + epsilon) * weight, row by row (https://arxiv.org/abs/1910.07467).
void hub_rms_norm(const float *x, const float *weight, size_t count, size_t batch, float epsilon, float *out);
/// Rotary embedding, in place, pairing i with i + head_size / 2 as Hugging Face checkpoints do
/// (https://arxiv.org/abs/2104.09864). `cosines` and `sines` are [batch][head_size / 2].
void hub_rope_half(
    float *x, size_t batch, size_t heads, size_t head_size, const float *cosines, const float *sines);
/// gate = silu(gate) * up
void hub_silu_multiply(float *gate, const float *up, size_t count);
/// x += y
void hub_add(float *x, const float *y, size_t count);
/// log(sum(exp(x))), in double precision.
double hub_log_sum_exp(const float *x, size_t count);
/// Index of the largest value, the first of equals; `count` where any value is NaN.
size_t hub_argmax(const float *x, size_t count);
