// How fast memory is read: the measure that decoding is held against.
#include "team.h"
#include <time.h>

struct reading {
    const uint8_t *data;
    uint64_t sums[1024][8]; // by worker, a cache line each
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
    for (int j = 0; j < 8; j++) r->sums[worker % 1024][j] += sum[j];
}

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

double hub_read_bandwidth(hub_team *team, const void *data, size_t bytes) {
    static struct reading r;
    r.data = data;
    double start = seconds();
    hub_team_run(team, bytes / 65536, 8, read_pieces, &r);
    double elapsed = seconds() - start;
    // What was read must seem to matter.
    volatile uint64_t sink = r.sums[0][0];
    (void)sink;
    return elapsed > 0 ? (double)(bytes / 65536 * 65536) / elapsed : 0;
}
