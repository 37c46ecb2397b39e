// Recurrent layers for any instruction set: vectors run over the channels, or over the numbers of a value.
#pragma once

INLINE void convolve_vector(const hub_convolution *c, size_t i, size_t left) {
    vf weights[HUB_MOST_TAPS], inputs[HUB_MOST_TAPS];
    for (size_t tap = 0; tap < c->taps; tap++) weights[tap] = load(c->weights + tap * c->channels + i, left);
    vf bias = c->bias ? load(c->bias + i, left) : (vf)0.0f;
    for (size_t row = 0; row < c->count; row++) {
        const float *before = c->rows[row].before;
        float *after = c->rows[row].after + c->state + i, *x = c->x + row * c->channels + i;
        vf sum = bias;
        for (size_t tap = 0; tap + 1 < c->taps; tap++)
            inputs[tap] = before ? load(before + c->state + tap * c->channels + i, left) : (vf)0.0f;
        inputs[c->taps - 1] = load(x, left);
        for (size_t tap = 0; tap < c->taps; tap++) sum = FMA(weights[tap], inputs[tap], sum);
        for (size_t tap = 0; tap + 1 < c->taps; tap++) store(after + tap * c->channels, inputs[tap + 1], left);
        store(x, c->has_silu ? activated(HUB_SILU, sum) : sum, left);
    }
}

static void convolve(const hub_convolution *c, size_t begin, size_t end) {
    size_t i = begin;
    for (; i + LANES <= end; i += LANES) convolve_vector(c, i, LANES);
    if (i < end) convolve_vector(c, i, end - i);
}

/// A vector of length `length`, as the reference makes it: its squares' sum has 1e-6 added.
INLINE void with_length(const float *x, size_t count, float length, float *out) {
    vf squares = (vf)0.0f;
    EACH_VECTOR(count, {
        vf v = load(x + i, left);
        squares = FMA(v, v, squares);
    });
    float scale = length / sqrtf(total(squares) + 1e-6f);
    EACH_VECTOR(count, { store(out + i, load(x + i, left) * (vf)scale, left); });
}

/// One row of one head.
typedef struct {
    const float *before;
    float *after;
    const float *query, *key, *value;
    float *out;
    size_t size, width; // of keys and values
    float decay, beta;
} delta_row;

/// `n` vectors of a row's value, from the number `column` on: what the state says of the key, and what it learns.
INLINE void delta_columns(const int n, const delta_row *r, size_t column, size_t left) {
    vf sum[4];
    UNROLL for (int i = 0; i < n; i++) sum[i] = (vf)0.0f;
    if (r->before)
        for (size_t k = 0; k < r->size; k++)
            UNROLL for (int i = 0; i < n; i++)
                sum[i] = FMA(load(r->before + k * r->width + column + (size_t)i * LANES, left), (vf)r->key[k], sum[i]);
    vf change[4];
    UNROLL for (int i = 0; i < n; i++) {
        change[i] = FMA((vf)-r->decay, sum[i], load(r->value + column + (size_t)i * LANES, left)) * (vf)r->beta;
        sum[i] = (vf)0.0f;
    }
    for (size_t k = 0; k < r->size; k++)
        UNROLL for (int i = 0; i < n; i++) {
            size_t at = k * r->width + column + (size_t)i * LANES;
            vf s = r->before ? load(r->before + at, left) * (vf)r->decay : (vf)0.0f;
            s = FMA((vf)r->key[k], change[i], s);
            store(r->after + at, s, left);
            sum[i] = FMA(s, (vf)r->query[k], sum[i]);
        }
    UNROLL for (int i = 0; i < n; i++) store(r->out + column + (size_t)i * LANES, sum[i], left);
}

static void delta_rule(const hub_delta *d, size_t head, float *scratch) {
    size_t keys = d->key_heads * d->key_size, stride = 2 * keys + d->value_heads * d->value_size;
    size_t at = d->state + head * d->key_size * d->value_size;
    size_t key_head = d->is_tiled ? head % d->key_heads : head / (d->value_heads / d->key_heads);
    float *query = scratch, *key = scratch + d->key_size;
    for (size_t row = 0; row < d->count; row++) {
        const float *x = d->x + row * stride + key_head * d->key_size;
        with_length(x, d->key_size, 1.0f / sqrtf((float)d->key_size), query);
        with_length(x + keys, d->key_size, 1, key);
        float step = d->steps[row * d->value_heads + head] + d->biases[head];
        float time = step > 20 ? step : log1pf(expf(step));
        delta_row r = {
            .before = d->rows[row].before ? d->rows[row].before + at : NULL, .after = d->rows[row].after + at,
            .query = query, .key = key, .value = d->x + row * stride + 2 * keys + head * d->value_size,
            .out = d->out + (row * d->value_heads + head) * d->value_size, .size = d->key_size, .width = d->value_size,
            .decay = expf(d->rates[head] * time), .beta = 1 / (1 + expf(-d->betas[row * d->value_heads + head])),
        };
        size_t i = 0;
        for (; i + 4 * LANES <= r.width; i += 4 * LANES) delta_columns(4, &r, i, LANES);
        for (; i + LANES <= r.width; i += LANES) delta_columns(1, &r, i, LANES);
        if (i < r.width) delta_columns(1, &r, i, r.width - i);
    }
}

/// log(1 + e^x). The logarithm of 1 + y, of a y up to 1, is twice the inverse hyperbolic tangent of y / (2 + y).
INLINE vf softplus(vf x) {
    vf size = MAX(x, -x), y = exponential(-size), z = y / ((vf)2.0f + y), square = z * z;
    vf sum = (vf)(1.0f / 13);
    sum = FMA(sum, square, (vf)(1.0f / 11));
    sum = FMA(sum, square, (vf)(1.0f / 9));
    sum = FMA(sum, square, (vf)(1.0f / 7));
    sum = FMA(sum, square, (vf)(1.0f / 5));
    sum = FMA(sum, square, (vf)(1.0f / 3));
    sum = FMA(sum, square, (vf)1.0f);
    return FMA((vf)2.0f * z, sum, MAX(x, (vf)0.0f));
}

INLINE void select_vector(const hub_selection *s, size_t i, size_t left) {
    const vf skip = load(s->skips + i, left);
    for (size_t row = 0; row < s->count; row++) {
        const float *before = s->rows[row].before ? s->rows[row].before + s->state + i : NULL;
        float *after = s->rows[row].after + s->state + i;
        const vf x = load(s->x + row * s->channels + i, left), step = softplus(load(s->steps + row * s->channels + i, left));
        const vf added = step * x;
        vf sum = skip * x;
        for (size_t n = 0; n < s->state_size; n++) {
            vf decay = exponential(step * load(s->rates + n * s->channels + i, left));
            vf old = before ? load(before + n * s->channels, left) : (vf)0.0f;
            vf state = FMA(decay, old, added * (vf)s->writes[row * s->state_size + n]);
            store(after + n * s->channels, state, left);
            sum = FMA(state, (vf)s->reads[row * s->state_size + n], sum);
        }
        store(s->out + row * s->channels + i, sum, left);
    }
}

static void select_all(const hub_selection *s, size_t begin, size_t end) {
    size_t i = begin;
    for (; i + LANES <= end; i += LANES) select_vector(s, i, LANES);
    if (i < end) select_vector(s, i, end - i);
}
