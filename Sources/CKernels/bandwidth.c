// How fast memory is read: the measure that decoding is held against.
#include "team.h"
#include <stdatomic.h>
#include <time.h>

struct reading {
    const uint8_t *data;
    _Atomic uint64_t sum; // what was read must seem to matter
};

static void read_pieces(void *context, size_t worker, size_t begin, size_t end) {
    struct reading *r = context;
    uint64_t sum[8] = {0};
    const uint8_t *at = r->data + begin * 65536;
    for (size_t i = 0; i < (end - begin) * 65536; i += 64)
        for (int j = 0; j < 8; j++) {
            uint64_t word;
            memcpy(&word, at + i + 8 * j, sizeof word);
            sum[j] += word;
        }
    (void)worker;
    uint64_t all = 0;
    for (int j = 0; j < 8; j++) all += sum[j];
    atomic_fetch_add_explicit(&r->sum, all, memory_order_relaxed);
}

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

double hub_read_bandwidth(hub_team *team, const void *data, size_t bytes) {
    struct reading r = {.data = data};
    double start = seconds();
    hub_team_run(team, bytes / 65536, 8, read_pieces, &r);
    double elapsed = seconds() - start;
    return elapsed > 0 ? (double)(bytes / 65536 * 65536) / elapsed : 0;
}
