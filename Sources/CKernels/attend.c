// Attention, shared out by groups of rows of one sequence and heads of keys.
#include "team.h"

size_t hub_page_bytes(hub_cache_format format, size_t kv_heads, size_t head_size) {
    size_t numbers = kv_heads * head_size * HUB_PAGE;
    switch (format) {
    case HUB_CACHE_F32: return numbers * 4;
    case HUB_CACHE_F16: return numbers * 2;
    case HUB_CACHE_Q8: return numbers + kv_heads * HUB_PAGE * 4;
    }
    return 0;
}

/// Where the scales of a Q8 page begin.
static float *page_scales(void *page, size_t kv_heads, size_t head_size) {
    return (float *)(void *)((uint8_t *)page + kv_heads * head_size * HUB_PAGE);
}

static void store(
    hub_cache_format format, void *page, size_t slot, const float *x, size_t kv_heads, size_t head_size, size_t each,
    size_t step) {
    // A head's numbers lie `step` apart from `slot * each` on.
    for (size_t head = 0; head < kv_heads; head++, x += head_size) {
        size_t at = head * head_size * HUB_PAGE + slot * each;
        if (format == HUB_CACHE_F32) {
            float *out = page;
            for (size_t i = 0; i < head_size; i++) out[at + i * step] = x[i];
        } else if (format == HUB_CACHE_F16) {
            uint16_t *out = page;
            for (size_t i = 0; i < head_size; i++) out[at + i * step] = hub_to_f16(x[i]);
        } else {
            int8_t *out = page;
            float largest = 0;
            for (size_t i = 0; i < head_size; i++) largest = __builtin_fmaxf(largest, __builtin_fabsf(x[i]));
            float scale = largest / 127, inverse = largest > 0 ? 127 / largest : 0;
            for (size_t i = 0; i < head_size; i++) out[at + i * step] = (int8_t)__builtin_rintf(x[i] * inverse);
            page_scales(page, kv_heads, head_size)[head * HUB_PAGE + slot] = scale;
        }
    }
}

void hub_store_keys(
    hub_cache_format format, void *page, size_t slot, const float *keys, size_t kv_heads, size_t head_size) {
    store(format, page, slot, keys, kv_heads, head_size, 1, HUB_PAGE);
}

void hub_store_values(
    hub_cache_format format, void *page, size_t slot, const float *values, size_t kv_heads, size_t head_size) {
    store(format, page, slot, values, kv_heads, head_size, head_size, 1);
}

struct attending {
    hub_team *team;
    const hub_kernels *kernels;
    const hub_attention *attention;
    size_t together; // rows that share keys and are computed together
};

static void attend(void *context, size_t worker, size_t begin, size_t end) {
    const struct attending *job = context;
    const hub_attention *a = job->attention;
    float *scratch = hub_team_scratch(job->team, worker);
    for (size_t item = begin; item < end; item++) {
        size_t first = item / a->kv_heads * job->together, head = item % a->kv_heads;
        size_t last = first + job->together < a->count ? first + job->together : a->count;
        while (first < last) {
            size_t rows = 1;
            while (first + rows < last && a->rows[first + rows].keys == a->rows[first].keys) rows++;
            job->kernels->attend(a, first, rows, head, scratch);
            first += rows;
        }
    }
}

void hub_attend(hub_team *team, const hub_attention *a) {
    // As many rows as make whole sets of queries, unless too few would be left to share out.
    size_t group = a->heads / a->kv_heads, together = HUB_QUERIES;
    if (a->count * a->kv_heads < 4 * HUB_QUERIES * hub_team_threads(team))
        together = group < HUB_QUERIES ? HUB_QUERIES / group : 1;
    struct attending job = {team, hub_team_kernels(team), a, together};
    size_t items = (a->count + together - 1) / together * a->kv_heads, seen = 0;
    for (size_t row = 0; row < a->count; row++) seen += a->rows[row].end - a->rows[row].first;
    size_t each = seen * a->heads * a->head_size / (items ? items : 1);
    hub_team_run(team, items, 1 + 16384 / (each ? each : 1), attend, &job);
}

struct listing {
    const float *rows;
    size_t columns, count, stride;
    const uint32_t *index;
    float *out;
};
enum { LISTED = 16 }; // columns that are read together

static void list_distances(void *context, size_t worker, size_t begin, size_t end) {
    (void)worker;
    const struct listing *l = context;
    for (size_t item = begin; item < end; item++) {
        size_t first = item * LISTED, last = first + LISTED < l->columns ? first + LISTED : l->columns;
        for (size_t distance = 0; distance < l->count; distance++) {
            const float *row = l->rows + l->index[distance] * l->columns;
            for (size_t column = first; column < last; column++) l->out[column * l->stride + distance] = row[column];
        }
    }
}

void hub_list_distances(
    hub_team *team, const float *rows, size_t columns, const uint32_t *index, size_t count, float *out, size_t stride) {
    struct listing l = {rows, columns, count, stride, index, out};
    hub_team_run(team, (columns + LISTED - 1) / LISTED, 1 + 1024 / (count ? count : 1), list_distances, &l);
}
