// Products of rows of activations with matrices, shared out by tiles of outputs.
#include "team.h"

enum { AS_GIVEN = 0, PACKED_Q8 = 1, PACKED_BF16 = 2, PACKED_FLOAT = 4 };

static size_t blocks_of(size_t columns) { return (columns + HUB_BLOCK - 1) / HUB_BLOCK; }

// Bytes of a block of a row in all forms: 8-bit numbers with what belongs to them, bf16, float32.
enum { Q8_BYTES = HUB_BLOCK + 7 * 4, BF16_BYTES = HUB_BLOCK * 2, FLOAT_BYTES = HUB_BLOCK * 4 };

size_t hub_packed_bytes(size_t rows, size_t columns) {
    return rows * blocks_of(columns) * (Q8_BYTES + BF16_BYTES + FLOAT_BYTES);
}

/// Where the panel of some rows lies.
static hub_panel panel_at(const hub_input *input, size_t row) {
    size_t blocks = blocks_of(input->columns), all = input->rows * blocks, from = row * blocks;
    uint8_t *start = input->packed;
    int8_t *q = (int8_t *)start;
    float *floats = (float *)(void *)(start + all * HUB_BLOCK);
    hub_panel panel = {.width = input->rows - row < HUB_PANEL ? input->rows - row : HUB_PANEL};
    panel.q = q + from * HUB_BLOCK;
    panel.scales = floats + from;
    panel.sums = floats + all + from;
    panel.negated = (int32_t *)(void *)(floats + 2 * all + from);
    panel.half_sums = floats + 3 * all + 2 * from;
    panel.half_negated = (int32_t *)(void *)(floats + 5 * all + 2 * from);
    panel.bf16 = (uint16_t *)(void *)(start + all * Q8_BYTES) + from * HUB_BLOCK;
    panel.values = (float *)(void *)(start + all * (Q8_BYTES + BF16_BYTES)) + from * HUB_BLOCK;
    return panel;
}

static void pack_row(const hub_kernels *kernels, const hub_input *input, uint32_t form, size_t row) {
    const float *x = input->values + row * input->stride;
    hub_panel panel = panel_at(input, row / HUB_PANEL * HUB_PANEL);
    size_t i = row % HUB_PANEL, width = panel.width, columns = input->columns;
    if (form == PACKED_Q8) {
        kernels->quantize(x, columns, &panel, i);
    } else if (form == PACKED_BF16) {
        uint16_t *out = (uint16_t *)panel.bf16;
        for (size_t k = 0; k < columns; k++) out[(k / 2 * width + i) * 2 + k % 2] = hub_to_bf16(x[k]);
        if (columns % 2) out[(columns / 2 * width + i) * 2 + 1] = 0;
    } else {
        float *out = (float *)panel.values;
        for (size_t k = 0; k < columns; k++) out[k * width + i] = x[k];
    }
}

/// The float form of four rows of a panel that follow each other.
static void pack_four(const hub_input *input, size_t row) {
    typedef float four __attribute__((ext_vector_type(4)));
    const float *x = input->values + row * input->stride;
    hub_panel panel = panel_at(input, row / HUB_PANEL * HUB_PANEL);
    float *out = (float *)panel.values + row % HUB_PANEL;
    size_t k = 0;
    for (; k + 4 <= input->columns; k += 4) {
        four v[4];
        for (size_t i = 0; i < 4; i++) memcpy(&v[i], x + i * input->stride + k, sizeof v[i]);
        four low01 = __builtin_shufflevector(v[0], v[1], 0, 4, 1, 5), high01 = __builtin_shufflevector(v[0], v[1], 2, 6, 3, 7);
        four low23 = __builtin_shufflevector(v[2], v[3], 0, 4, 1, 5), high23 = __builtin_shufflevector(v[2], v[3], 2, 6, 3, 7);
        four turned[4] = {
            __builtin_shufflevector(low01, low23, 0, 1, 4, 5), __builtin_shufflevector(low01, low23, 2, 3, 6, 7),
            __builtin_shufflevector(high01, high23, 0, 1, 4, 5), __builtin_shufflevector(high01, high23, 2, 3, 6, 7)};
        for (size_t c = 0; c < 4; c++) memcpy(out + (k + c) * panel.width, &turned[c], sizeof turned[c]);
    }
    for (; k < input->columns; k++)
        for (size_t i = 0; i < 4; i++) out[k * panel.width + i] = x[i * input->stride + k];
}

/// Whether a matrix of fewer outputs than a vector has lanes is read as it lies, four outputs at a time: routers are such.
static bool goes_by_four(const hub_matrix *matrix) {
    return matrix->rows % 4 == 0 && matrix->columns % HUB_CHAINS == 0 && matrix->format != HUB_FP8;
}

/// How a matrix is multiplied: with 8-bit activations, with bf16, or exactly, where float weights take rows as they are.
static uint32_t form(const hub_kernels *kernels, const hub_matrix *matrix, const hub_input *input) {
    if (!input->exact && kernels->fast[matrix->format] && !hub_goes_by_column(matrix)) return PACKED_Q8;
    const bool is_plain = hub_is_float(matrix->format) && !matrix->transposed;
    // The scalar kernels, which also compute small matrices, read panels alone.
    if (!is_plain || kernels->lanes == 1) return PACKED_FLOAT;
    if (matrix->rows < kernels->lanes) return goes_by_four(matrix) ? AS_GIVEN : PACKED_FLOAT;
    if (!input->exact && matrix->format == HUB_BF16 && kernels->bf16) return PACKED_BF16;
    if (matrix->format == HUB_FP8) return AS_GIVEN;
    return input->columns % HUB_CHAINS == 0 && input->rows < HUB_MANY ? AS_GIVEN : PACKED_FLOAT;
}

struct multiplication {
    hub_team *team;
    const hub_kernels *kernels;
    const hub_group *groups;
    size_t count;
};

/// The forms that a group's products need and its rows do not have yet.
static uint32_t missing(const hub_kernels *kernels, const hub_group *group) {
    uint32_t forms = 0;
    for (size_t index = 0; index < group->count; index++)
        forms |= form(kernels, group->products[index].matrix, group->input);
    return forms & ~group->input->ready;
}

struct packing {
    const struct multiplication *m;
    uint32_t form;
};

/// Packs rows `begin` to `end` of those of all groups that lack a form.
static void pack(void *context, size_t worker, size_t begin, size_t end) {
    (void)worker;
    const struct packing *p = context;
    size_t first = 0;
    for (const hub_group *group = p->m->groups; group < p->m->groups + p->m->count && first < end; group++) {
        if (!(missing(p->m->kernels, group) & p->form)) continue;
        size_t rows = group->input->rows;
        const size_t last = end - first < rows ? end - first : rows;
        for (size_t row = begin > first ? begin - first : 0, count; row < last; row += count) {
            // A panel has fewer rows where it is the last.
            const size_t panel_end = (row / HUB_PANEL + 1) * HUB_PANEL;
            count = p->form == PACKED_FLOAT && row + 4 <= last && row + 4 <= panel_end ? 4 : 1;
            if (count == 4) pack_four(group->input, row);
            else pack_row(p->m->kernels, group->input, p->form, row);
        }
        first += rows;
    }
}

/// Bytes of scales that lie apart, from one row to the next; 0 where they do not lie row by row.
static size_t scale_stride(const hub_matrix *m) {
    switch (m->format) {
    case HUB_MLX: case HUB_INT8: return m->columns / m->group * hub_formats[m->scale_format].bytes;
    case HUB_NVFP4_APART: return m->columns / 16;
    case HUB_MXFP4_APART: return m->columns / HUB_BLOCK;
    default: return 0;
    }
}

/// Whether few rows are multiplied with many tiles at once, in the order of memory.
static bool goes_in_strips(const hub_kernels *kernels, const hub_matrix *matrix, const hub_input *input) {
    return hub_is_turned(matrix->format) && kernels->lanes > 1 && input->rows <= HUB_FEW
        && form(kernels, matrix, input) == PACKED_Q8;
}

/// How many of `left` tiles make a strip: strips of like size, of whole eights where there are so many.
static size_t strip(size_t left, size_t lanes) {
    const size_t most = HUB_STRIP / lanes, parts = (left + most - 1) / most;
    const size_t tiles = ((left + parts - 1) / parts + HUB_EIGHT - 1) / HUB_EIGHT * HUB_EIGHT;
    return tiles < left ? tiles : left;
}

/// Whether many rows are multiplied with two tiles at once.
static bool goes_in_pairs(const hub_kernels *kernels, const hub_matrix *matrix, const hub_input *input) {
    return hub_is_float(matrix->format) && input->rows >= HUB_MANY && form(kernels, matrix, input) == PACKED_FLOAT
        && matrix->rows >= 2 * kernels->lanes && kernels->lanes > 1;
}

/// How many tiles a thread takes together.
static size_t unit(const hub_kernels *kernels, const hub_matrix *matrix, const hub_input *input) {
    return goes_in_strips(kernels, matrix, input) ? HUB_EIGHT : goes_in_pairs(kernels, matrix, input) ? 2 : 1;
}

/// How many such units there are.
static size_t units(const hub_kernels *kernels, const hub_matrix *matrix, const hub_input *input) {
    const size_t outputs = kernels->lanes * unit(kernels, matrix, input);
    return (matrix->rows + outputs - 1) / outputs;
}

/// A product's tiles `begin` to `end`, with at most HUB_TOKENS rows of activations at a time.
static void multiply_product(
    const struct multiplication *m, const hub_input *input, const hub_product *p, size_t begin, size_t end,
    size_t worker) {
    const hub_matrix *matrix = p->matrix;
    const size_t lanes = m->kernels->lanes, rows = matrix->rows, blocks = blocks_of(input->columns);
    const uint32_t how = form(m->kernels, matrix, input);
    // Fewer outputs than a vector has lanes: one at a time, with the same arithmetic.
    const bool is_small = rows < lanes && how != AS_GIVEN;
    const hub_kernels *kernels = is_small ? &hub_kernels_scalar : m->kernels;
    const bool is_strip = goes_in_strips(kernels, matrix, input), is_pair = goes_in_pairs(kernels, matrix, input);
    void (*kernel)(const hub_tile *) =
        how == PACKED_Q8 ? kernels->fast[matrix->format] : how == PACKED_BF16 ? kernels->bf16 : kernels->exact[matrix->format];
    if (is_small) end = rows;
    hub_panel panels[HUB_TOKENS / HUB_PANEL];
    uint8_t *scratch = hub_team_scratch(m->team, worker);
    const size_t tile_bytes = matrix->transposed || matrix->stride == 0 ? 1 : kernels->lanes * matrix->stride;
    hub_tile t = {
        .matrix = matrix, .panels = panels, .blocks = blocks, .scratch = scratch,
        .block_bytes = blocks ? tile_bytes / blocks : 0, .scale_stride = scale_stride(matrix), .ahead = (HUB_AHEAD + tile_bytes - 1) / tile_bytes * tile_bytes,
        .sums = (float *)(void *)(scratch + HUB_SCRATCH)};
    for (size_t start = 0; start < input->rows; start += HUB_TOKENS) {
        t.count = input->rows - start < HUB_TOKENS ? input->rows - start : HUB_TOKENS;
        t.values = how == AS_GIVEN ? input->values + start * input->stride : NULL;
        t.stride = input->stride;
        for (size_t at = 0; at < t.count; at += HUB_PANEL) panels[at / HUB_PANEL] = panel_at(input, start + at);
        for (size_t tile = begin; tile < end; tile += t.tiles) {
            size_t row = tile * kernels->lanes;
            // The last tile begins earlier; what the one before computes is left to it.
            const size_t outputs = kernels->lanes < rows ? kernels->lanes : rows;
            const size_t skipped = row + outputs > rows ? row + outputs - rows : 0;
            const bool is_whole = skipped == 0 && outputs == kernels->lanes;
            t.row = row - skipped;
            const size_t left = (end < rows / lanes ? end : rows / lanes) - tile; // whole ones
            t.tiles = !is_whole ? 1 : is_strip ? strip(left, lanes) : is_pair && left > 1 ? (left < HUB_PAIRED ? left / 2 * 2 : HUB_PAIRED) : 1;
            kernel(&t);
            float *out = p->out + start * p->stride + t.row;
            const float *bias = p->bias ? p->bias + t.row : NULL;
            for (size_t i = 0; i < t.tiles && is_whole; i++)
                kernels->finish(
                    t.sums + i * t.count * kernels->lanes, t.count, bias ? bias + i * kernels->lanes : NULL,
                    out + i * kernels->lanes, p->stride);
            if (is_whole) continue;
            for (size_t b = 0; b < t.count; b++)
                for (size_t i = skipped; i < outputs; i++)
                    out[b * p->stride + i] = t.sums[b * kernels->lanes + i] + (bias ? bias[i] : 0);
        }
    }
}

static void multiply_units(void *context, size_t worker, size_t begin, size_t end) {
    const struct multiplication *m = context;
    size_t lanes = m->kernels->lanes, first = 0;
    for (const hub_group *group = m->groups; group < m->groups + m->count && first < end; group++)
        for (size_t index = 0; index < group->count && first < end; index++) {
            const hub_matrix *matrix = group->products[index].matrix;
            const size_t each = unit(m->kernels, matrix, group->input), count = units(m->kernels, matrix, group->input);
            const size_t tiles = (matrix->rows + lanes - 1) / lanes;
            size_t from = (begin > first ? begin - first : 0) * each, to = (end - first < count ? end - first : count) * each;
            if (to > tiles) to = tiles;
            if (from < to && group->input->rows > 0)
                multiply_product(m, group->input, &group->products[index], from, to, worker);
            first += count;
        }
}

void hub_multiply_groups(hub_team *team, const hub_group *groups, size_t count) {
    const hub_kernels *kernels = hub_team_kernels(team);
    struct multiplication m = {team, kernels, groups, count};
    for (uint32_t form = PACKED_Q8; form <= PACKED_FLOAT; form <<= 1) {
        size_t rows = 0;
        for (size_t index = 0; index < count; index++)
            if (missing(kernels, &groups[index]) & form) rows += groups[index].input->rows;
        struct packing p = {&m, form};
        hub_team_run(team, rows, rows < 8 ? rows : 4, pack, &p);
        for (size_t index = 0; index < count; index++)
            if (missing(kernels, &groups[index]) & form) groups[index].input->ready |= form;
    }
    size_t all = 0, work = 0, least = 1;
    for (size_t index = 0; index < count; index++)
        for (size_t i = 0; i < groups[index].count; i++) {
            const hub_matrix *matrix = groups[index].products[i].matrix;
            const hub_input *input = groups[index].input;
            all += units(kernels, matrix, input);
            work += matrix->rows * matrix->columns * input->rows;
            if (goes_in_strips(kernels, matrix, input)) least = HUB_STRIP / HUB_EIGHT / kernels->lanes;
            if (goes_in_pairs(kernels, matrix, input)) least = HUB_PAIRED / 4;
        }
    if (work == 0) return;
    const size_t share = (all + hub_team_threads(team) - 1) / hub_team_threads(team);
    if (least > share) least = share;
    // A piece of at least some 64k multiplications is worth an exchange.
    size_t each = work / all, grain = each ? 65536 / each : all;
    hub_team_run(team, all, grain > least ? grain : least, multiply_units, &m);
}

void hub_multiply(hub_team *team, hub_input *input, const hub_product *products, size_t count) {
    hub_group group = {input, products, count};
    hub_multiply_groups(team, &group, 1);
}
