// Convolutions of pictures, shared out by places; sums over all places by channels. The order in which numbers are added
// is that of the places, whoever computes them.
#include "team.h"

struct windowing {
    const hub_kernels *kernels;
    const float *x, *weights, *bias;
    const hub_window *window;
    hub_pooling pooling;
    size_t groups, first;
    float *out;
};

/// Places of so many operations that are worth a piece.
static size_t places(size_t each) { return 1 + 16384 / (each ? each : 1); }

/// One place's window. A line of it is in the plane from `begin` to `end`; what is before and behind is 0.
static void gather_window(const struct windowing *job, size_t place, float *out) {
    const hub_window *w = job->window;
    const size_t part = w->channels / job->groups, line = w->side * part, area = w->side * line;
    const size_t row = place / w->columns * w->stride, column = place % w->columns * w->stride;
    for (size_t y = 0; y < w->side; y++) {
        // Below 0 it wraps around, and is not below the height either.
        const size_t from = row + y - w->top;
        for (size_t x = 0; x < w->side; x++) {
            const size_t at = column + x - w->left;
            const bool is_inside = from < w->height && at < w->width;
            const float *source = is_inside ? job->x + (from * w->width + at) * w->channels : NULL;
            float *target = out + y * line + x * part;
            for (size_t group = 0; group < job->groups; group++, target += area)
                if (source) memcpy(target, source + group * part, part * sizeof(float));
                else memset(target, 0, part * sizeof(float));
        }
    }
}

static void gather(void *context, size_t worker, size_t begin, size_t end) {
    (void)worker;
    const struct windowing *job = context;
    const size_t each = job->window->side * job->window->side * job->window->channels;
    for (size_t i = begin; i < end; i++) gather_window(job, job->first + i, job->out + i * each);
}

void hub_gather_windows(
    hub_team *team, const float *x, const hub_window *window, size_t groups, size_t first, size_t count, float *out) {
    struct windowing job = {.x = x, .window = window, .groups = groups, .first = first, .out = out};
    hub_team_run(team, count, places(window->side * window->side * window->channels), gather, &job);
}

static void convolve(void *context, size_t worker, size_t begin, size_t end) {
    (void)worker;
    const struct windowing *job = context;
    job->kernels->convolve_channels(job->x, job->window, job->weights, job->bias, begin, end, job->out);
}

void hub_convolve_channels(
    hub_team *team, const float *x, const hub_window *window, const float *weights, const float *bias, float *out) {
    struct windowing job = {
        .kernels = hub_team_kernels(team), .x = x, .weights = weights, .bias = bias, .window = window, .out = out};
    hub_team_run(
        team, window->rows * window->columns, places(window->side * window->side * window->channels), convolve, &job);
}

static void pool(void *context, size_t worker, size_t begin, size_t end) {
    (void)worker;
    const struct windowing *job = context;
    job->kernels->pool(job->pooling, job->x, job->window, begin, end, job->out);
}

void hub_pool(hub_team *team, hub_pooling pooling, const float *x, const hub_window *window, float *out) {
    struct windowing job = {
        .kernels = hub_team_kernels(team), .x = x, .window = window, .pooling = pooling, .out = out};
    hub_team_run(
        team, window->rows * window->columns, places(window->side * window->side * window->channels), pool, &job);
}

struct summing {
    const hub_kernels *kernels;
    const float *x;
    size_t height, width, channels;
    bool squared;
    float *out;
};
enum { SUMMED = 64 }; // channels of an item

static void sum(void *context, size_t worker, size_t begin, size_t end) {
    (void)worker;
    const struct summing *job = context;
    const size_t first = begin * SUMMED, last = end * SUMMED;
    job->kernels->sum_places(
        job->x, job->height, job->width, job->channels, job->squared, first,
        last < job->channels ? last : job->channels, job->out);
}

void hub_sum_places(
    hub_team *team, const float *x, size_t height, size_t width, size_t channels, bool squared, float *out) {
    struct summing job = {hub_team_kernels(team), x, height, width, channels, squared, out};
    hub_team_run(team, (channels + SUMMED - 1) / SUMMED, places(SUMMED * height * width), sum, &job);
}
