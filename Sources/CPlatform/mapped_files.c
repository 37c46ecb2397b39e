// Which parts of the address space are mapped files, so that one that cannot be read any more does not end the process.
#include "CPlatform.h"
#include "faults.h"
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

// The table is read by the signal handler, so it has no lock: blocks of places are only ever added, and a place says by
// its version whether it is being written. An odd one is; that place is then not the mapping of a live address, since its
// owner writes it before it reads from the file and after it has ended reading.
struct hub_mapping {
    atomic_bool is_taken;
    atomic_bool is_damaged;
    atomic_uint version;
    _Atomic(uintptr_t) start;
    _Atomic(size_t) length;
};

enum { places = 256 };
struct block {
    struct hub_mapping mappings[places];
    _Atomic(struct block *) next;
};
static struct block first;
static size_t page_size;

static void write_place(struct hub_mapping *mapping, uintptr_t start, size_t length) {
    atomic_fetch_add(&mapping->version, 1);
    atomic_store(&mapping->start, start);
    atomic_store(&mapping->length, length);
    atomic_fetch_add(&mapping->version, 1);
}

static struct hub_mapping *take_place(void) {
    struct block *block = &first;
    while (1) {
        for (int i = 0; i < places; i++)
            if (!atomic_exchange(&block->mappings[i].is_taken, true)) return &block->mappings[i];
        struct block *next = atomic_load(&block->next);
        if (!next) {
            struct block *added = calloc(1, sizeof *added);
            if (!added) return NULL;
            // Whoever was quicker has added one; then that one is used.
            if (atomic_compare_exchange_strong(&block->next, &next, added)) next = added;
            else free(added);
        }
        block = next;
    }
}

static void prepare(void) {
    page_size = (size_t)sysconf(_SC_PAGESIZE);
    const int bus = SIGBUS;
    hub_catch_faults(&bus, 1);
}

struct hub_mapping *hub_mapping_add(const void *start, size_t length) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, prepare);
    struct hub_mapping *mapping = take_place();
    if (!mapping) return NULL;
    atomic_store(&mapping->is_damaged, false);
    write_place(mapping, (uintptr_t)start, length);
    return mapping;
}

void hub_mapping_remove(struct hub_mapping *mapping) {
    write_place(mapping, 0, 0);
    atomic_store(&mapping->is_taken, false);
}

int hub_mapping_is_damaged(const struct hub_mapping *mapping) { return atomic_load(&mapping->is_damaged); }

// In the signal handler. mmap is a system call alone, though POSIX does not list it.
int hub_repair_mapping(uintptr_t address) {
    for (struct block *block = &first; block; block = atomic_load(&block->next)) {
        for (int i = 0; i < places; i++) {
            struct hub_mapping *mapping = &block->mappings[i];
            unsigned version = atomic_load(&mapping->version);
            uintptr_t start = atomic_load(&mapping->start);
            size_t length = atomic_load(&mapping->length);
            if (version % 2 == 1 || version != atomic_load(&mapping->version)) continue;
            if (address < start || address - start >= length) continue;
            // Before anything else can be read there.
            atomic_store(&mapping->is_damaged, true);
            // Up to the end: what follows the end of a file is missing as well, and nothing of a damaged one is used.
            uintptr_t page = address - address % page_size;
            void *zeros = mmap(
                (void *)page, start + length - page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
            return zeros != MAP_FAILED;
        }
    }
    return 0;
}
