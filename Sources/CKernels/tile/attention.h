// Attention of a few rows and the heads that share one head of keys, for any instruction set.
//
// Pages in order: the scores of a page, its largest, the exponentials, their sum and the sum of the values; then the page
// is merged into what came before. A row's bits do not depend on the rows beside it: positions that it does not see
// add zeros.
#pragma once

/// Vectors that are summed at once for one query, 4 and 8: so many sums that none waits for the one before it.
#define SPREAD(queries) ((queries) == 1 ? 4 : (queries) == 4 ? 2 : 1)

/// Some neighbouring numbers of a page, as float32.
INLINE vf cached(const void *page, hub_cache_format format, size_t at) {
    if (format == HUB_CACHE_F32) {
        vf v;
        memcpy(&v, (const float *)page + at, sizeof v);
        return v;
    }
    return format == HUB_CACHE_F16 ? load_halves((const uint16_t *)page + at) : load_bytes((const int8_t *)page + at);
}

typedef struct {
    const hub_attention *a;
    const float *queries[HUB_QUERIES]; // beyond `count` the first again: products are made of 1, 4 or 8
    float *out[HUB_QUERIES];
    size_t first[HUB_QUERIES], end[HUB_QUERIES]; // visible positions
    size_t heads[HUB_QUERIES];
    size_t origins[HUB_QUERIES];
    size_t count;
    size_t kv_head;
} query_set;

/// The scales of a page's keys; NULL for none.
INLINE const float *key_scales(const query_set *s, const void *page) {
    const hub_attention *a = s->a;
    if (a->format != HUB_CACHE_Q8) return NULL;
    const void *scales = (const uint8_t *)page + a->kv_heads * a->head_size * HUB_PAGE;
    return (const float *)scales + s->kv_head * HUB_PAGE;
}

/// The scores of `n` queries with `m` vectors of a page's positions.
INLINE void vector_scores(
    const int n, const int m, const float *const *queries, size_t size, const void *page, size_t at,
    const hub_cache_format format, const float *scales, float *scores) {
    vf sum[8][4];
    UNROLL for (int i = 0; i < n; i++) UNROLL for (int j = 0; j < m; j++) sum[i][j] = (vf)0.0f;
    for (size_t d = 0; d < size; d++, at += HUB_PAGE) {
        vf k[4];
        UNROLL for (int j = 0; j < m; j++) k[j] = cached(page, format, at + (size_t)j * LANES);
        UNROLL for (int i = 0; i < n; i++)
            UNROLL for (int j = 0; j < m; j++) sum[i][j] = FMA(k[j], (vf)queries[i][d], sum[i][j]);
    }
    UNROLL for (int i = 0; i < n; i++)
        UNROLL for (int j = 0; j < m; j++) {
            if (scales) sum[i][j] *= load(scales + j * LANES, LANES);
            store(scores + i * HUB_PAGE + j * LANES, sum[i][j], LANES);
        }
}

/// The scores of `n` queries with the positions of a page from `low` to `high`, whole vectors of them.
INLINE void scores_of(
    const int n, const query_set *s, const void *page, size_t low, size_t high, const hub_cache_format format,
    float *scores) {
    const int m = SPREAD(n);
    size_t size = s->a->head_size, base = s->kv_head * size * HUB_PAGE, p = low;
    const float *scales = key_scales(s, page);
    for (; p + (size_t)m * LANES <= high; p += (size_t)m * LANES)
        vector_scores(n, m, s->queries, size, page, base + p, format, scales ? scales + p : NULL, scores + p);
    for (; p < high; p += LANES)
        vector_scores(n, 1, s->queries, size, page, base + p, format, scales ? scales + p : NULL, scores + p);
}

/// Adds the products of `n` queries and of a page's keys with the vectors of their distances.
///
/// - base: the page's first position.
INLINE void distances_of(
    const int n, const query_set *s, size_t query, const void *page, size_t base, size_t low, size_t high,
    const hub_cache_format format, float *scores) {
    const hub_distances *d = s->a->distances;
    size_t size = s->a->head_size, at = s->kv_head * size * HUB_PAGE;
    const float *scales = key_scales(s, page), *keys[HUB_QUERIES], *queries[HUB_QUERIES];
    for (size_t p = low; p < high; p += LANES) {
        vf sum[HUB_QUERIES];
        UNROLL for (int i = 0; i < n; i++) {
            size_t first = s->heads[query + (size_t)i] * size * d->stride + s->origins[query + (size_t)i] + base + p;
            sum[i] = (vf)0.0f;
            keys[i] = d->with_keys ? d->with_keys + first : NULL;
            queries[i] = d->with_queries ? d->with_queries + first : NULL;
        }
        if (d->with_keys)
            for (size_t j = 0; j < size; j++) {
                vf k = cached(page, format, at + j * HUB_PAGE + p);
                UNROLL for (int i = 0; i < n; i++) sum[i] = FMA(k, load(keys[i] + j * d->stride, LANES), sum[i]);
            }
        if (scales) UNROLL for (int i = 0; i < n; i++) sum[i] *= load(scales + p, LANES);
        if (d->with_queries)
            for (size_t j = 0; j < size; j++)
                UNROLL for (int i = 0; i < n; i++)
                    sum[i] = FMA((vf)s->queries[query + (size_t)i][j], load(queries[i] + j * d->stride, LANES), sum[i]);
        UNROLL for (int i = 0; i < n; i++) {
            float *out = scores + (size_t)i * HUB_PAGE + p;
            store(out, load(out, LANES) + sum[i], LANES);
        }
    }
}

/// The sums of `m` vectors of a page's values, weighted with `n` queries' numbers.
INLINE void vector_values(
    const int n, const int m, const void *page, size_t at, size_t size, size_t low, size_t high,
    const hub_cache_format format, const float *weights, float *out, size_t stride) {
    vf sum[8][4];
    UNROLL for (int i = 0; i < n; i++) UNROLL for (int j = 0; j < m; j++) sum[i][j] = (vf)0.0f;
    for (size_t p = low; p < high; p++) {
        vf v[4];
        UNROLL for (int j = 0; j < m; j++) v[j] = cached(page, format, at + p * size + (size_t)j * LANES);
        UNROLL for (int i = 0; i < n; i++)
            UNROLL for (int j = 0; j < m; j++) sum[i][j] = FMA(v[j], (vf)weights[i * HUB_PAGE + p], sum[i][j]);
    }
    UNROLL for (int i = 0; i < n; i++)
        UNROLL for (int j = 0; j < m; j++) store(out + i * stride + j * LANES, sum[i][j], LANES);
}

/// The sums of the values of a page, weighted with `n` queries' numbers.
INLINE void values_of(
    const int n, const query_set *s, const void *page, size_t low, size_t high, const hub_cache_format format,
    const float *weights, float *out, size_t stride) {
    const int m = SPREAD(n);
    size_t size = s->a->value_size, base = s->kv_head * HUB_PAGE * size, d = 0;
    for (; d + (size_t)m * LANES <= size; d += (size_t)m * LANES)
        vector_values(n, m, page, base + d, size, low, high, format, weights, out + d, stride);
    for (; d + LANES <= size; d += LANES)
        vector_values(n, 1, page, base + d, size, low, high, format, weights, out + d, stride);
    if (d == size) return;
    // A head whose size is not a multiple of a vector: what lies beyond it is not read.
    size_t bytes = format == HUB_CACHE_F32 ? 4 : format == HUB_CACHE_F16 ? 2 : 1;
    vf sum[HUB_QUERIES];
    UNROLL for (int i = 0; i < n; i++) sum[i] = (vf)0.0f;
    for (size_t p = low; p < high; p++) {
        uint8_t padded[LANES * 4] __attribute__((aligned(64))) = {0};
        memcpy(padded, (const uint8_t *)page + (base + p * size + d) * bytes, (size - d) * bytes);
        vf v = cached(padded, format, 0);
        UNROLL for (int i = 0; i < n; i++) sum[i] = FMA(v, (vf)weights[(size_t)i * HUB_PAGE + p], sum[i]);
    }
    UNROLL for (int i = 0; i < n; i++) store(out + (size_t)i * stride + d, sum[i], LANES);
}

#define BY_FORMAT(CALL)                                                                                                \
    switch (s->a->format) {                                                                                            \
    case HUB_CACHE_F32: CALL(HUB_CACHE_F32); break;                                                                    \
    case HUB_CACHE_F16: CALL(HUB_CACHE_F16); break;                                                                    \
    case HUB_CACHE_Q8: CALL(HUB_CACHE_Q8); break;                                                                      \
    }

static void page_scores(const query_set *s, const void *page, size_t low, size_t high, float *scores) {
#define CALL(FORMAT)                                                                                                   \
    if (s->count > 4) scores_of(8, s, page, low, high, FORMAT, scores);                                                \
    else if (s->count > 1) scores_of(4, s, page, low, high, FORMAT, scores);                                           \
    else scores_of(1, s, page, low, high, FORMAT, scores)
    BY_FORMAT(CALL)
#undef CALL
}

static void page_distances(const query_set *s, const void *page, size_t base, size_t low, size_t high, float *scores) {
    size_t i = 0;
#define CALL(FORMAT)                                                                                                   \
    for (i = 0; i + 4 <= s->count; i += 4)                                                                             \
        distances_of(4, s, i, page, base, low, high, FORMAT, scores + i * HUB_PAGE);                                   \
    for (; i < s->count; i++) distances_of(1, s, i, page, base, low, high, FORMAT, scores + i * HUB_PAGE)
    BY_FORMAT(CALL)
#undef CALL
}

static void page_values(
    const query_set *s, const void *page, size_t low, size_t high, const float *weights, float *out, size_t stride) {
#define CALL(FORMAT)                                                                                                   \
    if (s->count > 4) values_of(8, s, page, low, high, FORMAT, weights, out, stride);                                  \
    else if (s->count > 1) values_of(4, s, page, low, high, FORMAT, weights, out, stride);                             \
    else values_of(1, s, page, low, high, FORMAT, weights, out, stride)
    BY_FORMAT(CALL)
#undef CALL
}

/// Scores to exponentials, in place, zero where a query does not see.
///
/// - returns: whether it sees any position of the page; then its largest score and the sum of the exponentials.
static bool exponentials(
    const query_set *s, size_t query, size_t page, size_t low, size_t high, float *scores, float *largest, float *sum) {
    const hub_attention *a = s->a;
    size_t base = page * HUB_PAGE;
    size_t from = s->first[query] > base ? s->first[query] - base : 0;
    size_t to = s->end[query] > base ? s->end[query] - base : 0;
    if (to > HUB_PAGE) to = HUB_PAGE;
    if (from >= to) {
        memset(scores + low, 0, (high - low) * sizeof(float));
        return false;
    }
    const float *biases = a->distances ? a->distances->biases : NULL;
    if (biases) biases += s->heads[query] * a->distances->stride + s->origins[query] + base;
    vf most = (vf)-INFINITY;
    for (size_t p = low; p < high; p += LANES) {
        vf v = load(scores + p, LANES) * (vf)a->scale;
        if (a->cap != 0) v = (vf)a->cap * tangent(v / (vf)a->cap);
        if (biases) v += load(biases + p, LANES);
        if (a->slopes || p < from || p + LANES > to)
            for (size_t lane = 0; lane < LANES; lane++) {
                size_t position = p + lane;
                if (position < from || position >= to) v[lane] = -INFINITY;
                else if (a->slopes)
                    v[lane] += a->slopes[s->heads[query]] * -(float)(s->end[query] - 1 - base - position);
            }
        store(scores + p, v, LANES);
        most = MAX(most, v);
    }
    *largest = -INFINITY;
    for (int lane = 0; lane < LANES; lane++) if (most[lane] > *largest) *largest = most[lane];
    vf together = (vf)0.0f;
    for (size_t p = low; p < high; p += LANES) {
        vf v = exponential(load(scores + p, LANES) - (vf)*largest);
        // NaN scores stay: the sampler reports them.
        store(scores + p, v, LANES);
        together += v;
    }
    *sum = total(together);
    return true;
}

static void attend(const hub_attention *a, size_t first, size_t rows, size_t kv_head, float *scratch) {
    size_t group = a->heads / a->kv_heads, stride = (a->value_size + LANES - 1) / LANES * LANES;
    for (size_t start = 0; start < rows * group; start += HUB_QUERIES) {
        query_set s = {.a = a, .kv_head = kv_head};
        size_t low = SIZE_MAX, high = 0;
        for (size_t i = start; i < rows * group && s.count < HUB_QUERIES; i++, s.count++) {
            const hub_attention_row *row = &a->rows[first + i / group];
            size_t head = kv_head * group + i % group;
            s.queries[s.count] = row->queries + head * a->head_size;
            s.out[s.count] = row->out + head * a->value_size;
            s.first[s.count] = row->first;
            s.end[s.count] = row->end;
            s.heads[s.count] = head;
            s.origins[s.count] = row->origin;
            if (row->first < low) low = row->first;
            if (row->end > high) high = row->end;
        }
        for (size_t i = s.count; i < HUB_QUERIES; i++) s.queries[i] = s.queries[0];
        float *scores = scratch, *values = scores + HUB_QUERIES * HUB_PAGE, *sums = values + HUB_QUERIES * stride;
        float largest[HUB_QUERIES], weight[HUB_QUERIES];
        for (size_t i = 0; i < s.count; i++) {
            largest[i] = a->sinks ? a->sinks[s.heads[i]] : -INFINITY;
            weight[i] = a->sinks ? 1 : 0;
            memset(sums + i * stride, 0, stride * sizeof(float));
        }
        const hub_attention_row *row = &a->rows[first];
        for (size_t page = low / HUB_PAGE; page * HUB_PAGE < high; page++) {
            size_t base = page * HUB_PAGE, from = low > base ? low - base : 0, to = high - base;
            if (to > HUB_PAGE) to = HUB_PAGE;
            size_t whole = from / LANES * LANES, end = (to + LANES - 1) / LANES * LANES;
            page_scores(&s, row->keys[page], whole, end, scores);
            if (a->distances && (a->distances->with_queries || a->distances->with_keys))
                page_distances(&s, row->keys[page], base, whole, end, scores);
            float most[HUB_QUERIES], sum[HUB_QUERIES];
            bool sees[HUB_QUERIES];
            for (size_t i = 0; i < s.count; i++)
                sees[i] = exponentials(&s, i, page, whole, end, scores + i * HUB_PAGE, &most[i], &sum[i]);
            if (a->format == HUB_CACHE_Q8) {
                const float *scales = (const float *)(const void *)((const uint8_t *)row->values[page]
                    + a->kv_heads * a->value_size * HUB_PAGE) + kv_head * HUB_PAGE;
                for (size_t i = 0; i < s.count; i++)
                    for (size_t p = whole; p < end; p++) scores[i * HUB_PAGE + p] *= scales[p];
            }
            page_values(&s, row->values[page], from, to, scores, values, stride);
            for (size_t i = 0; i < s.count; i++) {
                if (!sees[i]) continue;
                float now = most[i] > largest[i] ? most[i] : largest[i];
                float before = largest[i] == -INFINITY ? 0 : expf(largest[i] - now), here = expf(most[i] - now);
                weight[i] = weight[i] * before + sum[i] * here;
                for (size_t d = 0; d < stride; d += LANES)
                    store(
                        sums + i * stride + d,
                        FMA((vf)here, load(values + i * stride + d, LANES),
                            (vf)before * load(sums + i * stride + d, LANES)), LANES);
                largest[i] = now;
            }
        }
        for (size_t i = 0; i < s.count; i++)
            for (size_t d = 0; d < a->value_size; d++) s.out[i][d] = sums[i * stride + d] / weight[i];
    }
}
