// What an instruction set provides; team.c, multiply.c and attend.c build on it.
#pragma once
#include "floats.h"
#include "include/hub_planes.h"
#include "include/hub_recurrence.h"

enum {
    HUB_BLOCK = 32,       ///< columns of a block of activations
    HUB_CHUNK = 256,      ///< columns whose products are summed before they are added to the total, for float weights
    HUB_CHAINS = 8,       ///< sums in a chunk: column k belongs to sum k % 8, of pairs of bf16 pair k
    HUB_PANEL = 12,       ///< rows of activations that are packed side by side
    HUB_TOKENS = 264,     ///< rows of activations that a tile is multiplied with at once, whole panels
    HUB_RUN = 1024,       ///< columns of a tile that are unpacked at once
    HUB_MOST_LANES = 16,
    HUB_FEW = 3,          ///< rows of 8-bit activations that are read with the weights as they come
    HUB_STRIP = 5120,     ///< outputs that are computed at once, where they lie side by side: short pieces of rows are slow
    HUB_MANY = 36,        ///< rows from which on float weights are turned, two tiles at a time, to be read with packed rows
    HUB_PAIRED = 16,      ///< most tiles that read a chunk of such rows after each other, pairs
    HUB_EIGHT = 8,        ///< tiles that belong together there
    HUB_AHEAD = 16 << 10, ///< bytes that are prefetched, at least: what memory takes to answer, at full speed
};

/// Whether weights are numbers of a float format, multiplied by activations as they are.
static inline bool hub_is_float(hub_format format) { return format <= HUB_BF16 || format == HUB_FP8; }

/// Whether stored rows are columns, with outputs side by side in words.
static inline bool hub_is_turned(hub_format format) { return format == HUB_AWQ || format == HUB_GPTQ; }

/// Whether the columns of a block may have scales of their own, or numbers of bits for which there are no integer products,
/// or whether rows end in the midst of a block: such weights are known one by one, and multiplied in float32.
bool hub_goes_by_column(const hub_matrix *m);

/// Whether weights are known one by one alone, not as integers with a scale for a block.
static inline bool hub_is_single(const hub_matrix *m) { return m->format == HUB_TABLE4 || hub_goes_by_column(m); }

/// The group of scales of a column.
static inline size_t hub_group_at(const hub_matrix *m, size_t column) {
    return m->order ? hub_load_u32((const uint8_t *)m->order + 4 * column) : column / m->group;
}

/// Rows of activations as the tiles read them, in panels of HUB_PANEL rows side by side; the last panel has fewer. What
/// belongs to block `b` of row `i` of a panel has the index b * width + i.
typedef struct {
    size_t width; ///< rows of this panel
    // 8 bits: value = scale * q, in blocks of 32 columns. `negated` is minus the sum of a block's q, `sums` the sum times
    // the scale; the others are those of a block's halves.
    const int8_t *q;
    const float *scales, *sums;
    const int32_t *negated;
    const float *half_sums;
    const int32_t *half_negated;
    const uint16_t *bf16;  ///< pairs of columns: [pair][width][2]
    const float *values;   ///< [column][width]
} hub_panel;

/// One tile: as many outputs as a vector has lanes, for some rows of activations.
typedef struct {
    const hub_matrix *matrix;
    size_t row;             ///< the tile's first output
    const hub_panel *panels;
    size_t count;           ///< rows of activations, at most HUB_TOKENS
    const float *values;    ///< the same rows as they were given, where the panels are empty; otherwise NULL
    size_t stride;          ///< floats from one of them to the next
    size_t tiles;           ///< 1; or more with few rows, of a format with outputs side by side; or pairs with many, of floats
    size_t blocks;          ///< of 32 columns
    size_t block_bytes;     ///< of a block's weights, all rows together
    size_t scale_stride;    ///< bytes of a row's scales, where those lie apart, row by row; otherwise 0
    size_t ahead;           ///< bytes from the tile's weights to those that are prefetched meanwhile, whole tiles
    float *sums;            ///< [tiles][count][lanes]: the result
    void *scratch;          ///< HUB_SCRATCH bytes, 64-byte aligned
} hub_tile;
enum { HUB_SCRATCH = 128 << 10 };

struct hub_kernels {
    const char *name;
    size_t lanes;
    /// Products of quantised weights with 8-bit activations, by format; NULL for those that are multiplied in float32 always.
    void (*const *fast)(const hub_tile *tile);
    /// Products of dequantised weights with float32 activations, by format.
    void (*const *exact)(const hub_tile *tile);
    /// Products of BF16 weights with bf16 activations; NULL where the CPU has none.
    void (*bf16)(const hub_tile *tile);
    /// Adds biases, if there are any, to a tile's products, [rows][lanes], and puts them where they belong.
    void (*finish)(const float *sums, size_t rows, const float *bias, float *out, size_t stride);
    /// Fills row `i` of a panel's 8-bit numbers.
    void (*quantize)(const float *x, size_t columns, const hub_panel *panel, size_t i);
    void (*attend)(const hub_attention *attention, size_t first, size_t rows, size_t kv_head, float *scratch);
    void (*rms_norm)(const float *x, size_t count, const float *weight, float offset, float epsilon, float *out);
    void (*layer_norm)(const float *x, size_t count, const float *weight, const float *bias, float epsilon, float *out);
    void (*affine)(const float *x, size_t count, const float *weight, const float *bias, float *out);
    void (*activate)(hub_activation activation, const float *x, const float *factor, size_t count, float *out);
    void (*add)(float *x, const float *y, float scale, size_t count);
    void (*soft_cap)(float *x, float cap, size_t count);
    /// Some channels of all rows.
    void (*convolve)(const hub_convolution *convolution, size_t begin, size_t end);
    /// A head of all rows; `scratch` has room for a query and a key.
    void (*delta_rule)(const hub_delta *delta, size_t head, float *scratch);
    /// A head of all rows.
    void (*scan_space)(const hub_space *space, size_t head);
    /// Some channels of all rows.
    void (*select)(const hub_selection *selection, size_t begin, size_t end);
    /// Places `begin` to `end` of a convolution of each channel alone, and of a pooling.
    void (*convolve_channels)(
        const float *x, const hub_window *window, const float *weights, const float *bias, size_t begin, size_t end,
        float *out);
    void (*pool)(hub_pooling pooling, const float *x, const hub_window *window, size_t begin, size_t end, float *out);
    /// Sums of channels `begin` to `end` over all places.
    void (*sum_places)(
        const float *x, size_t height, size_t width, size_t channels, bool squared, size_t begin, size_t end, float *out);
};

extern const hub_kernels hub_kernels_scalar;
#if defined(__x86_64__)
extern const hub_kernels hub_kernels_avx2;
/// With products of bf16 numbers where this CPU has them.
const hub_kernels *hub_kernels_avx512_here(void);
void hub_tile_bf16_avx512(const hub_tile *tile);
#elif defined(__aarch64__)
extern const hub_kernels hub_kernels_neon;
/// With the dot product where this CPU has it.
const hub_kernels *hub_kernels_neon_here(void);
#endif

/// Rows of queries that are attended to together, times heads that share keys.
enum { HUB_QUERIES = 8 };
