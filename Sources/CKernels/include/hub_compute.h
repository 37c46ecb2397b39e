// The engine's arithmetic: products with stored weights, attention over a paged cache, and the operations between.
//
// One rule holds everywhere: the bits of a row of results depend on that row's inputs alone, not on the rows that share
// a call, the number of threads, or which thread computed it. So batched answers equal single ones.
//
// Every weight pointer may be unaligned, because tensors start where the file's header puts them. Nothing here
// allocates except hub_team_create.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// How weights are stored; the rows of hub_formats.def.
typedef enum {
#define HUB_FORMAT(NAME, ggml, block, bytes, halves, minima) HUB_##NAME,
#include "hub_formats.def"
    HUB_FORMAT_COUNT
} hub_format;

typedef struct {
    const char *name;      ///< as llama.cpp and MLX name it: `q4_0`
    int32_t ggml;          ///< the type's number in GGUF; -1 for one that GGUF does not have
    uint32_t block, bytes; ///< weights in a block, and its bytes; 0 for formats whose matrix says both
    bool has_halves;       ///< whether the halves of 32 columns have scales of their own
    bool has_minima;       ///< whether a weight is scale * q + minimum
} hub_format_info;
extern const hub_format_info hub_formats[HUB_FORMAT_COUNT];

/// A matrix of weights, `rows` outputs by `columns` inputs, where it lies in its file.
typedef struct {
    const void *weights;
    /// Bytes from one stored row to the next; a stored row is an output, or, if `transposed`, an input.
    size_t stride;
    size_t rows, columns;
    hub_format format;
    /// GPT-2's layout: stored as [columns][rows]. Only F32, F16 and BF16.
    bool transposed;
    // MLX: weight = scale * q + bias, by groups of `group` columns (a multiple of 8); `bits` bits each in a
    // little-endian stream of bits by row. https://github.com/ml-explore/mlx (quantized.cpp)
    uint8_t bits;
    uint32_t group;
    hub_format scale_format;      ///< F32, F16 or BF16
    const void *scales, *biases;  ///< [rows][columns / group]
    // Without biases: weight = scale * (q - zero), with `zeros` if there are any, otherwise with a zero in the middle. Zeros are
    // words along the rows, [rows * bits / 32][groups], or, with a `zero_stride` of 0, signed bytes [rows][groups] from the
    // middle; `order` may be there as well.
    // https://github.com/vllm-project/compressed-tensors (pack_quantized.py)
    // INT8: signed bytes with such scales, times `factor`.
    // NVFP4_APART: 16 bytes of two neighbouring e2m1 numbers each. `scales` are e4m3, a byte for each 16 columns, times `factor`.
    // https://docs.nvidia.com/deeplearning/cudnn/latest/operations/BlockScaling.html
    float factor;
    // FP8 (e4m3, https://arxiv.org/abs/2209.05433): weight = scale * q. A scale belongs to `group` columns, a multiple of
    // 32 unless it is all of them, and to `scale_rows` outputs. The code of NaN counts as 480.
    size_t first;                 ///< the first output in the stored matrix, whose scales a part of it has
    size_t scale_rows;
    size_t scale_stride;          ///< bytes from the scales of some outputs to those of the next
    size_t group_stride;          ///< bytes from a group's scale to the next one's
    // MXFP4_APART: as safetensors have MXFP4 (https://www.opencompute.org/documents/ocp-microscaling-formats-mx-v1-0-spec-final-pdf):
    // 16 bytes of two neighbouring numbers each; `scales` are exponents, a byte for each block of a row.
    // AWQ and GPTQ: weight = scale * (q - zero). Stored rows are columns: AWQ's words hold eight outputs of a column
    // (https://github.com/casper-hansen/AutoAWQ, packing_utils.py), GPTQ's 32 / `bits` columns of an output
    // (https://github.com/AutoGPTQ/AutoGPTQ, qlinear_cuda_old.py). Outputs are a multiple of 8.
    const void *zeros;            ///< [columns / group] rows of words with the zeros of outputs side by side
    size_t zero_stride;           ///< bytes from a group's zeros to the next one's; without biases from word to word
    uint8_t zero_less;            ///< what zeros are stored less
    const void *order;            ///< [columns]: the group of each as 32 bits; NULL where groups follow each other
    // TABLE4: bitsandbytes' NF4 and FP4 (https://arxiv.org/abs/2305.14314): codes of numbers in a table, the first of two in
    // the upper half of a byte. A scale belongs to `group` weights, counted over the rows of the whole. It
    // is a float32, or, with `nested`, a byte: nested_table[byte] * nested[index / nested_group] + offset.
    const void *table;            ///< [16] float32
    const void *nested, *nested_table; ///< float32; the table has 256
    uint32_t nested_group;
    float offset;
} hub_matrix;

/// One row as float32.
void hub_widen_row(const hub_matrix *matrix, size_t row, float *out);
/// `count` numbers of F32, F16 or BF16 as float32.
void hub_widen(hub_format format, const void *source, size_t count, float *out);

// --- Instruction sets and threads

/// An instruction set that kernels exist for, in ascending order of speed on one machine.
typedef enum { HUB_SCALAR, HUB_AVX2, HUB_AVX512, HUB_NEON, HUB_VARIANT_COUNT } hub_variant;
typedef struct hub_kernels hub_kernels;
/// The kernels of an instruction set; NULL where this CPU or this build does not have it.
const hub_kernels *hub_kernels_of(hub_variant variant);
/// The fastest kernels that this CPU runs.
const hub_kernels *hub_kernels_best(void);
/// `scalar`, `avx2`, `avx512` (with VNNI), `neon`, …
const char *hub_kernels_name(const hub_kernels *kernels);

/// Number of physical cores this process may run on (SMT siblings count once); at least 1.
size_t hub_physical_cores(void);

/// A fixed team of threads with its kernels and their working memory. One caller at a time; the caller works too.
typedef struct hub_team hub_team;
/// A team of `threads` threads, the caller included; NULL if the threads or the memory cannot be had.
hub_team *hub_team_create(size_t threads, const hub_kernels *kernels);
void hub_team_destroy(hub_team *team);
size_t hub_team_threads(const hub_team *team);
const hub_kernels *hub_team_kernels(const hub_team *team);
/// Calls body(context, worker, begin, end) for pieces of 0..<count, at most `grain` items each, until all are done.
/// `worker` is below hub_team_threads and belongs to one thread during the call.
/// A thread that the system does not run holds nobody up unless it has begun a piece.
void hub_team_run(
    hub_team *team, size_t count, size_t grain, void (*body)(void *context, size_t worker, size_t begin, size_t end),
    void *context);

// --- Products

/// Rows of activations that several matrices read.
typedef struct {
    const float *values;
    size_t stride;         ///< floats between rows
    size_t rows, columns;
    /// Exact: float32 activations and dequantised weights. Otherwise 8-bit activations for quantised weights and bf16
    /// products for BF16 weights where the CPU has them; F32 and F16 weights are computed in float32 in both.
    bool exact;
    /// Scratch for the converted rows, hub_packed_bytes long, 64-byte aligned. The first product that needs it fills it.
    void *packed;
    uint32_t ready;        ///< 0 when `values` are new; hub_multiply maintains it
} hub_input;
/// Bytes of hub_input.packed.
size_t hub_packed_bytes(size_t rows, size_t columns);

/// out[b][r] = sum over k of matrix[r][k] * values[b][k] + bias[r]
typedef struct {
    const hub_matrix *matrix;
    const float *bias;     ///< [matrix.rows], or NULL
    float *out;
    size_t stride;         ///< floats between rows of out
} hub_product;
/// Computes products of one input with several matrices, in one round of the team.
void hub_multiply(hub_team *team, hub_input *input, const hub_product *products, size_t count);

/// Products of one of several inputs: the rows that an expert was chosen for.
typedef struct {
    hub_input *input;
    const hub_product *products;
    size_t count;
} hub_group;
/// The products of all groups, in one round of the team.
void hub_multiply_groups(hub_team *team, const hub_group *groups, size_t count);

// --- Attention over a paged cache

/// How keys and values are cached.
typedef enum { HUB_CACHE_F32, HUB_CACHE_F16, HUB_CACHE_Q8 } hub_cache_format;
/// Positions in a page.
enum { HUB_PAGE = 256 };

/// Bytes of a page of keys, and of a page of values of the same width.
///
/// Keys are stored by dimension, [kv head][head size][HUB_PAGE], so that a vector holds one dimension of neighbouring
/// positions; values by position, [kv head][HUB_PAGE][head size]. Q8 adds a float32 scale for each head and position.
/// Memory of a new page must be zero.
size_t hub_page_bytes(hub_cache_format format, size_t kv_heads, size_t head_size);
/// Stores the keys of one position, [kv_heads][head_size] floats, in a page's slot (position % HUB_PAGE).
void hub_store_keys(
    hub_cache_format format, void *page, size_t slot, const float *keys, size_t kv_heads, size_t head_size);
void hub_store_values(
    hub_cache_format format, void *page, size_t slot, const float *values, size_t kv_heads, size_t head_size);

/// What the distance between a query and a key adds to their score: lists of numbers, one for each distance. A row's
/// `origin + position` is the index of its distance to a position.
typedef struct {
    size_t stride;              ///< floats between lists, each with HUB_BEHIND numbers after the last distance
    const float *biases;        ///< [heads] lists of what is added to scaled scores; NULL for none
    // The numbers of a vector are in as many lists, [heads][head_size]; its product is added before the scale.
    const float *with_queries;  ///< vectors whose product with the query counts; NULL for none
    const float *with_keys;     ///< those with the key; NULL for none
} hub_distances;
enum { HUB_BEHIND = 15 };
/// Makes lists of rows: out[column][distance] = rows[index[distance]][column]. `stride` floats are between lists.
void hub_list_distances(
    hub_team *team, const float *rows, size_t columns, const uint32_t *index, size_t count, float *out, size_t stride);

/// One row's view of its sequence's cache in one layer.
typedef struct {
    const float *queries;       ///< [heads][head_size], rotated
    float *out;                 ///< [heads][value_size]
    const void *const *keys;    ///< page p holds positions p * HUB_PAGE ..< (p + 1) * HUB_PAGE; unread pages may be NULL
    const void *const *values;
    size_t first, end;          ///< sees positions first ..< end, at least one
    size_t origin;              ///< of its distances
} hub_attention_row;

typedef struct {
    const hub_attention_row *rows;
    size_t count;
    size_t heads, kv_heads, head_size, value_size;
    hub_cache_format format;
    float scale;                ///< of the scores
    float cap;                  ///< scores become cap * tanh(score / cap); 0 for none
    const float *sinks;         ///< [heads]: a logit beside the scores whose value is 0; NULL for none
    const float *slopes;        ///< [heads]: ALiBi, slope * (position - (end - 1)) added to a score; NULL for none
    const hub_distances *distances; ///< NULL for none
} hub_attention;
/// Rows that share their pages are computed together; neighbours in `rows` should be of one sequence.
void hub_attend(hub_team *team, const hub_attention *attention);

// --- Between the products. `x` and `out` may be the same.

/// out = x * weight + bias, row by row.
void hub_affine(
    hub_team *team, const float *x, size_t rows, size_t columns, const float *weight, const float *bias, float *out);
/// out = x / sqrt(mean(x²) + epsilon) * (weight + offset), row by row (https://arxiv.org/abs/1910.07467); weight NULL
/// for none. Strides are floats between rows.
void hub_rms_norm(
    hub_team *team, const float *x, size_t x_stride, size_t rows, size_t columns, const float *weight, float offset,
    float epsilon, float *out, size_t out_stride);
/// out = (x - mean) / sqrt(variance + epsilon) * weight + bias (https://arxiv.org/abs/1607.06450); bias NULL for none.
void hub_layer_norm(
    hub_team *team, const float *x, size_t x_stride, size_t rows, size_t columns, const float *weight,
    const float *bias, float epsilon, float *out, size_t out_stride);

/// Which coordinates a rotary embedding pairs: i with i + rotated / 2 (Hugging Face), or 2i with 2i + 1 (GGUF's Llama).
typedef enum { HUB_ROTATE_HALVES, HUB_ROTATE_ADJACENT } hub_rotation;
/// Rotary embedding, in place (https://arxiv.org/abs/2104.09864), of the first `rotated` coordinates of each head.
/// `cosines` and `sines` are [rows][rotated / 2]; x is [rows][heads][head_size] with `stride` floats between rows.
void hub_rotate(
    hub_team *team, hub_rotation rotation, float *x, size_t stride, size_t rows, size_t heads, size_t head_size,
    size_t rotated, const float *cosines, const float *sines);

typedef enum {
    HUB_SILU, HUB_GELU, HUB_GELU_TANH, HUB_QUICK_GELU, HUB_RELU, HUB_RELU_SQUARED, HUB_TANH, HUB_SIGMOID,
    HUB_RELU6, HUB_HARD_SIGMOID, HUB_HARD_SWISH, HUB_CLAMPED
} hub_activation;
/// HUB_RELU6 is x from 0 to 6, HUB_HARD_SIGMOID a sixth of that of x + 3, HUB_HARD_SWISH x times it
/// (https://arxiv.org/abs/1905.02244).
/// HUB_CLAMPED is gpt-oss's: the quick GELU of x, which is at most 7, times one more than the factor, which is from -7 to 7.
/// out = activation(x), times `factor` unless that is NULL. Each row has `columns` floats, `stride` between rows of
/// both x and factor; out is dense.
void hub_activate(
    hub_team *team, hub_activation activation, const float *x, const float *factor, size_t stride, size_t rows,
    size_t columns, float *out);
/// x = positive * x² + beta * x above 0, otherwise (exp(min(x, largest)) - 1 - x) * negative + beta * x
/// (https://arxiv.org/abs/2411.13010)
typedef struct { float positive, negative, beta, largest; } hub_xielu;
void hub_apply_xielu(hub_team *team, hub_xielu xielu, float *x, size_t count);
/// x = max(0, x - cutoff), where the cutoff is so many standard deviations above the mean of a row.
void hub_cut(hub_team *team, float *x, size_t rows, size_t columns, double deviations);
/// x = x * y
void hub_times(hub_team *team, float *x, const float *y, size_t count);
/// x = x + scale * y
void hub_add(hub_team *team, float *x, const float *y, float scale, size_t count);
/// Splits rows of `2 * columns` numbers: the even ones and the odd ones.
void hub_split(hub_team *team, const float *x, size_t rows, size_t columns, float *even, float *odd);
/// Adds results of experts to rows: out[row] += weights[row][i] * results[places[row][i] - first], for the `used` places
/// of a row that are in first ..< end, in their order.
void hub_combine(
    hub_team *team, const float *results, size_t first, size_t end, const uint32_t *places, const float *weights,
    size_t used, float *out, size_t rows, size_t columns);
/// x = min(max(x, -limit), limit)
void hub_clamp(float *x, float limit, size_t count);
/// x = x * scale
void hub_scale(hub_team *team, float *x, float scale, size_t count);
/// x = cap * tanh(x / cap)
void hub_soft_cap(hub_team *team, float *x, float cap, size_t count);

// --- On one row of logits

/// log(sum(exp(x))), in double precision.
double hub_log_sum_exp(const float *x, size_t count);
/// Index of the largest value, the first of equals; `count` where any value is NaN.
size_t hub_argmax(const float *x, size_t count);
/// Bytes per second that `threads` threads read from memory, by reading `bytes` bytes at `data` once.
double hub_read_bandwidth(hub_team *team, const void *data, size_t bytes);
