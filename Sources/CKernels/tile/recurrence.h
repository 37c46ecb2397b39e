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

/// Some rows of one head, and where their head begins in them.
typedef struct {
    const hub_state_row *rows;
    const float *x, *b;   // a row's, `stride` apart; c lies `apart` behind b
    float *out;           // `width` apart
    size_t count, state, size, stride, apart, width;
    float decay[32], step[32];
} space_rows;

/// `n` states from `k` on and `m` vectors of a head's numbers from `i` on: they stay in registers from row to row.
INLINE void space_block(const int n, const int m, const space_rows *s, size_t k, size_t i, size_t left) {
    vf state[4][4];
    size_t at = s->state + k * s->size + i;
    for (size_t row = 0; row < s->count; row++) {
        const hub_state_row *r = s->rows + row;
        if (row == 0 || r->before != r[-1].after)
            UNROLL for (int a = 0; a < n; a++)
                UNROLL for (int j = 0; j < m; j++)
                    state[a][j] = r->before ? load(r->before + at + (size_t)a * s->size + (size_t)j * LANES, left) : (vf)0.0f;
        const float *x = s->x + row * s->stride + i, *b = s->b + row * s->stride + k, *c = b + s->apart;
        float *out = s->out + row * s->width + i;
        vf value[4], sum[4];
        UNROLL for (int j = 0; j < m; j++) {
            value[j] = load(x + j * LANES, left) * (vf)s->step[row];
            sum[j] = load(out + j * LANES, left);
        }
        UNROLL for (int a = 0; a < n; a++)
            UNROLL for (int j = 0; j < m; j++) {
                state[a][j] = FMA((vf)s->decay[row], state[a][j], value[j] * (vf)b[a]);
                sum[j] = FMA(state[a][j], (vf)c[a], sum[j]);
            }
        UNROLL for (int j = 0; j < m; j++) store(out + j * LANES, sum[j], left);
        if (row + 1 == s->count || r[1].before != r->after || r[1].after != r->after)
            UNROLL for (int a = 0; a < n; a++)
                UNROLL for (int j = 0; j < m; j++)
                    store(r->after + at + (size_t)a * s->size + (size_t)j * LANES, state[a][j], left);
    }
}

INLINE void space_columns(const int m, const space_rows *s, size_t states, size_t i, size_t left) {
    const int n = LANES == 8 ? 2 : 4; // AVX2 has 16 registers
    size_t k = 0;
    for (; k + (size_t)n <= states; k += (size_t)n) space_block(n, m, s, k, i, left);
    for (; k < states; k++) space_block(1, m, s, k, i, left);
}

static void scan_space(const hub_space *s, size_t head) {
    size_t size = s->head_size, width = s->heads * size, stride = width + 2 * s->groups * s->state_size;
    size_t shared = width + head / (s->heads / s->groups) * s->state_size;
    for (size_t row = 0; row < s->count; row += 32) {
        const float *x = s->x + row * stride;
        space_rows r = {
            .rows = s->rows + row, .x = x + head * size, .b = x + shared, .out = s->out + row * width + head * size,
            .count = s->count - row < 32 ? s->count - row : 32, .state = s->state + head * s->state_size * size,
            .size = size, .stride = stride, .apart = s->groups * s->state_size, .width = width,
        };
        for (size_t k = 0; k < r.count; k++) {
            double told = (double)s->steps[(row + k) * s->heads + head] + (double)s->biases[head];
            float step = (float)(told > 20 ? told : log1p(exp(told)));
            if (step < s->least_step) step = s->least_step;
            if (step > s->most_step) step = s->most_step;
            r.step[k] = step;
            r.decay[k] = (float)exp((double)(s->rates[head] * step));
            for (size_t i = 0; i < size; i++) r.out[k * width + i] = s->skips[head] * r.x[k * stride + i];
        }
        size_t i = 0;
        for (; i + 4 * LANES <= size; i += 4 * LANES) space_columns(4, &r, s->state_size, i, LANES);
        for (; i + LANES <= size; i += LANES) space_columns(1, &r, s->state_size, i, LANES);
        if (i < size) space_columns(1, &r, s->state_size, i, size - i);
    }
}
