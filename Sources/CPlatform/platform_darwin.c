#ifdef __APPLE__
#include "CPlatform.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <mach/mach.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/param.h>
#include <sys/resource.h>
#include <sys/sysctl.h>
#include <time.h>
#include <unistd.h>

void hub_share_heap(void) {}

int hub_preallocate(int descriptor, off_t length) {
    fstore_t store = {F_ALLOCATEALL, F_PEOFPOSMODE, 0, length, 0};
    if (fcntl(descriptor, F_PREALLOCATE, &store) == -1 && (errno == ENOSPC || errno == EDQUOT)) return -1;
    return ftruncate(descriptor, length);
}

// clonefile(2) works on paths and creates the destination; it cannot clone into an open file.
int hub_reflink(int source, int destination) {
    (void)source, (void)destination;
    errno = ENOTSUP;
    return -1;
}

// fsync(2) on macOS says so itself: only F_FULLFSYNC asks the drive to flush.
int hub_sync_all(int descriptor) {
    return fcntl(descriptor, F_FULLFSYNC) == 0 ? 0 : fsync(descriptor);
}

int64_t hub_share_blocks(int source, int target, off_t offset, uint64_t length) {
    (void)source, (void)target, (void)offset, (void)length;
    errno = ENOTSUP;
    return -1;
}

int hub_rename_new(const char *from, const char *to) { return renamex_np(from, to, RENAME_EXCL); }

int hub_swap_names(const char *one, const char *other) { return renamex_np(one, other, RENAME_SWAP); }

int hub_is_overlay(const char *path) { return (void)path, 0; }

// APFS does not tell which files are clones of each other.
int hub_shares_extents(int one, int other) { return (void)one, (void)other, 0; }

int hub_may_share_extents(const char *path) { return (void)path, 0; }

int hub_shared_extents(int descriptor, uint64_t size, void *context,
                       void (*each)(void *context, uint64_t start, uint64_t length)) {
    return (void)descriptor, (void)size, (void)context, (void)each, -1;
}

int hub_sync_data(int descriptor) { return hub_sync_all(descriptor); }

int hub_open_unnoticed(const char *path) {
    int descriptor;
    do descriptor = open(path, O_RDONLY | O_CLOEXEC); while (descriptor < 0 && errno == EINTR);
    return descriptor;
}

void hub_read_ahead(int descriptor, off_t offset, off_t length) {
    struct radvisory advice = {offset, length < INT_MAX ? (int)length : INT_MAX};
    fcntl(descriptor, F_RDADVISE, &advice);
}

void hub_forget_pages(int descriptor) { fcntl(descriptor, F_NOCACHE, 1); }

void hub_prefer_large_pages(void *start, size_t length) { (void)start, (void)length; }

// statfs, because macOS's statvfs(3) cuts the number of blocks to 32 bits: 16 TiB of 4 KiB blocks.
int hub_disk_space(const char *path, uint64_t *available, uint64_t *total) {
    struct statfs info;
    if (statfs(path, &info) != 0) return -1;
    *available = info.f_bavail * info.f_bsize;
    *total = info.f_blocks * info.f_bsize;
    return 0;
}

// macOS's CLOCK_MONOTONIC counts sleep too: every timeout would expire on waking.
uint64_t hub_monotonic_nanoseconds(void) { return clock_gettime_nsec_np(CLOCK_UPTIME_RAW); }

int hub_processors(void) { return (int)sysconf(_SC_NPROCESSORS_ONLN); }

int hub_is_network_file_system(const char *path) {
    struct statfs info;
    if (statfs(path, &info) != 0) return -1;
    return (info.f_flags & MNT_LOCAL) ? 0 : 1;
}

int hub_keeps_access_times(const char *path) {
    struct statfs info;
    if (statfs(path, &info) != 0) return -1;
    return info.f_flags & (MNT_NOATIME | MNT_RDONLY) ? 0 : 1;
}

int hub_memory(uint64_t *total, uint64_t *available) {
    size_t size = sizeof *total;
    if (sysctlbyname("hw.memsize", total, &size, NULL, 0) != 0) return -1;
    vm_statistics64_data_t stats;
    mach_msg_type_number_t count = HOST_VM_INFO64_COUNT;
    mach_port_t host = mach_host_self();
    kern_return_t result = host_statistics64(host, HOST_VM_INFO64, (host_info64_t)&stats, &count);
    mach_port_deallocate(mach_task_self(), host);
    if (result != KERN_SUCCESS) return -1;
    // Purgeable pages are among the inactive ones.
    *available = ((uint64_t)stats.free_count + stats.inactive_count) * vm_kernel_page_size;
    return 0;
}

uint64_t hub_peak_resident_bytes(void) {
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? (uint64_t)usage.ru_maxrss : 0; // bytes on macOS
}
#endif
