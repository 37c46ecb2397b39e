// The program of scripts/fuzz: libFuzzer over the door that HUB_FUZZ_DOOR names, with libFuzzer's main. Without libFuzzer,
// as the usual build links it, it reads the files that it is given.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

// Tests/FuzzDoors/FuzzEntry.swift
bool hub_fuzz_prepare(void);
int hub_fuzz_read(const uint8_t *data, size_t size);
size_t hub_fuzz_mutate(uint8_t *data, size_t size, size_t limit, uint32_t seed);

// libFuzzer's.
__attribute__((weak)) size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t limit);

// Half of the changes are of whole values of JSON: few of libFuzzer's own leave a document that can be parsed.
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t limit, unsigned int seed) {
    size_t changed = seed % 2 ? hub_fuzz_mutate(data, size, limit, seed) : 0;
    return changed ? changed : LLVMFuzzerMutate(data, size, limit);
}

static int read_file(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file) return perror(path), 1;
    uint8_t *data = NULL;
    size_t size = 0, room = 0;
    for (;;) {
        if (size == room) {
            room = room ? room * 2 : 1 << 16;
            data = realloc(data, room);
            if (!data) abort();
        }
        size_t got = fread(data + size, 1, room - size, file);
        if (!got) break;
        size += got;
    }
    fclose(file);
    hub_fuzz_read(data, size);
    free(data);
    return 0;
}

// Called by libFuzzer's main, once and for each input: https://llvm.org/docs/LibFuzzer.html
int LLVMFuzzerInitialize(int *count, char ***words) {
    (void)count, (void)words;
    if (hub_fuzz_prepare()) exit(0);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) { return hub_fuzz_read(data, size); }

// Weak, so that libFuzzer's counts where it is linked.
__attribute__((weak)) int main(int count, char **words) {
    if (hub_fuzz_prepare()) return 0;
    int status = 0;
    for (int at = 1; at < count; at++) status |= read_file(words[at]);
    return status;
}
