// The operations of a decoder layer, built on the kernels and called from Swift.
#include "variants.h"
#include <math.h>

struct matmul {
    const hub_kernels *kernels;
    hub_element element;
    const uint8_t *weights;
    size_t rows, columns, batch;
    const float *x;
    float *y;
};

static void matmul_rows(void *context, size_t worker, size_t begin, size_t end) {
    (void)worker;
    const struct matmul *m = context;
    size_t stride = m->columns * hub_element_bytes(m->element);
    m->kernels->rows[m->element](
        m->weights + begin * stride, end - begin, m->columns, m->x, m->columns, m->batch, m->y + begin, m->rows);
}

void hub_matmul(
    hub_pool *pool, const hub_kernels *kernels, hub_element element, const void *weights, size_t rows, size_t columns,
    const float *x, size_t batch, float *y) {
    struct matmul m = {kernels, element, weights, rows, columns, batch, x, y};
    // A piece of 256k multiplications, some 10 us, is worth waking another thread. Larger pieces share the cached
    // vectors, as long as every thread gets several. 12 rows are whole tiles of every instruction set.
    size_t work = columns * batch, grain = work ? 262144 / work : rows, share = rows / (4 * hub_pool_threads(pool));
    if (share > 48) share = 48;
    if (grain < share) grain = share;
    grain = (grain + 11) / 12 * 12;
    hub_pool_run(pool, rows, grain, matmul_rows, &m);
}

struct attention {
    const hub_kernels *kernels;
    const hub_attention_args *a;
};

static void attend(void *context, size_t worker, size_t begin, size_t end) {
    const struct attention *job = context;
    const hub_attention_args *a = job->a;
    float *scores = a->scratch + worker * a->capacity;
    for (size_t item = begin; item < end; item++) {
        size_t query = item / a->heads, head = item % a->heads;
        size_t seen = a->start + query + 1, group = head / (a->heads / a->kv_heads);
        const float *q = a->queries + (query * a->heads + head) * a->head_size;
        const float *keys = a->keys + group * a->capacity * a->head_size;
        const float *values = a->values + group * a->capacity * a->head_size;
        float *out = a->out + (query * a->heads + head) * a->head_size;

        float largest = -INFINITY, total = 0;
        for (size_t t = 0; t < seen; t++) {
            scores[t] = job->kernels->dot(q, keys + t * a->head_size, a->head_size) * a->scale;
            if (scores[t] > largest) largest = scores[t];
        }
        for (size_t t = 0; t < seen; t++) total += scores[t] = expf(scores[t] - largest);
        memset(out, 0, a->head_size * sizeof *out);
        for (size_t t = 0; t < seen; t++)
            job->kernels->add_scaled(scores[t] / total, values + t * a->head_size, out, a->head_size);
    }
}

void hub_attention(hub_pool *pool, const hub_kernels *kernels, const hub_attention_args *arguments) {
    struct attention job = {kernels, arguments};
    size_t work = (arguments->start + arguments->batch) * arguments->head_size;
    hub_pool_run(pool, arguments->batch * arguments->heads, 1 + 131072 / (work ? work : 1), attend, &job);
}

void hub_rms_norm(const float *x, const float *weight, size_t count, size_t batch, float epsilon, float *out) {
    for (size_t b = 0; b < batch; b++, x += count, out += count) {
        double squares = 0;
        for (size_t i = 0; i < count; i++) squares += (double)x[i] * x[i];
        float scale = 1.0f / sqrtf((float)(squares / (double)count) + epsilon);
        for (size_t i = 0; i < count; i++) out[i] = weight[i] * (x[i] * scale);
    }
}

void hub_rope_half(
    float *x, size_t batch, size_t heads, size_t head_size, const float *cosines, const float *sines) {
    size_t half = head_size / 2;
    for (size_t b = 0; b < batch; b++, cosines += half, sines += half)
        for (size_t h = 0; h < heads; h++, x += head_size)
            for (size_t i = 0; i < half; i++) {
                float low = x[i], high = x[i + half];
                x[i] = low * cosines[i] - high * sines[i];
                x[i + half] = high * cosines[i] + low * sines[i];
            }
}

void hub_silu_multiply(float *gate, const float *up, size_t count) {
    for (size_t i = 0; i < count; i++) gate[i] = gate[i] / (1.0f + expf(-gate[i])) * up[i];
}

void hub_add(float *x, const float *y, size_t count) {
    for (size_t i = 0; i < count; i++) x[i] += y[i];
}

double hub_log_sum_exp(const float *x, size_t count) {
    double largest = -INFINITY, total = 0;
    for (size_t i = 0; i < count; i++) if (x[i] > largest) largest = x[i];
    for (size_t i = 0; i < count; i++) total += exp(x[i] - largest);
    return largest + log(total);
}

size_t hub_argmax(const float *x, size_t count) {
    size_t best = 0;
    for (size_t i = 0; i < count; i++) {
        if (isnan(x[i])) return count;
        if (x[i] > x[best]) best = i;
    }
    return best;
}
