#ifdef __linux__
#define _GNU_SOURCE
#include "CPlatform.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <malloc.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/sysinfo.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

void hub_share_heap(void) {
#ifdef __GLIBC__
    mallopt(M_ARENA_MAX, 1);
#endif
}

int hub_preallocate(int descriptor, off_t length) {
    if (length == 0) return ftruncate(descriptor, 0);
    struct statfs info;
    // On tmpfs, reserving clears every page that is about to be written: a second pass over the whole file.
    if (fstatfs(descriptor, &info) == 0 && info.f_type == TMPFS_MAGIC) return ftruncate(descriptor, length);
    int result;
    do result = fallocate(descriptor, 0, 0, length); while (result == -1 && errno == EINTR);
    if (result == 0) return ftruncate(descriptor, length);
    if (errno == EOPNOTSUPP || errno == ENOSYS || errno == EINVAL) return ftruncate(descriptor, length);
    return -1;
}

int hub_reflink(int source, int destination) { return ioctl(destination, FICLONE, source); }

enum { EXTENTS = 256 };

// The extents of a file from an offset on; NULL where the file system does not tell.
static struct fiemap *extents(int descriptor, uint64_t start, uint32_t flags) {
    struct fiemap *map = calloc(1, sizeof *map + EXTENTS * sizeof(struct fiemap_extent));
    if (!map) return NULL;
    map->fm_start = start;
    map->fm_length = FIEMAP_MAX_OFFSET - start;
    map->fm_flags = flags;
    map->fm_extent_count = EXTENTS;
    if (ioctl(descriptor, FS_IOC_FIEMAP, map) == 0) return map;
    free(map);
    return NULL;
}

int hub_shares_extents(int one, int other) {
    uint64_t start = 0;
    for (;;) {
        struct fiemap *first = extents(one, start, FIEMAP_FLAG_SYNC);
        struct fiemap *second = extents(other, start, FIEMAP_FLAG_SYNC);
        int result = first && second && first->fm_mapped_extents == second->fm_mapped_extents
            && (first->fm_mapped_extents > 0 || start > 0);
        int isEnd = 1;
        for (uint32_t at = 0; result && at < first->fm_mapped_extents; at++) {
            struct fiemap_extent *left = &first->fm_extents[at], *right = &second->fm_extents[at];
            result = left->fe_flags & FIEMAP_EXTENT_SHARED && left->fe_logical == right->fe_logical
                && left->fe_physical == right->fe_physical && left->fe_length == right->fe_length;
            start = left->fe_logical + left->fe_length;
            isEnd = (left->fe_flags & FIEMAP_EXTENT_LAST) != 0;
        }
        free(first);
        free(second);
        if (!result || isEnd) return result;
    }
}

int hub_may_share_extents(const char *path) {
    struct statfs info;
    if (statfs(path, &info) != 0) return 0;
    // These have no shared blocks, and are what most caches are on.
    return info.f_type != EXT4_SUPER_MAGIC && info.f_type != TMPFS_MAGIC;
}

int hub_shared_extents(int descriptor, uint64_t size, void *context,
                       void (*each)(void *context, uint64_t start, uint64_t length)) {
    uint64_t start = 0;
    for (;;) {
        // Without flushing: what was not written yet shares nothing.
        struct fiemap *map = extents(descriptor, start, 0);
        if (!map) return -1;
        uint64_t before = start;
        int is_end = map->fm_mapped_extents == 0;
        for (uint32_t at = 0; at < map->fm_mapped_extents && !is_end; at++) {
            struct fiemap_extent *extent = &map->fm_extents[at];
            start = extent->fe_logical + extent->fe_length;
            is_end = (extent->fe_flags & FIEMAP_EXTENT_LAST) != 0 || start >= size;
            if (!(extent->fe_flags & FIEMAP_EXTENT_SHARED) || extent->fe_logical >= size) continue;
            uint64_t length = (start < size ? start : size) - extent->fe_logical, place = extent->fe_physical;
            // A compressed extent is shorter on the disk than its length says, which would reach into the next one: each
            // gets room of its own. On btrfs it has 128 KiB at most.
            if (extent->fe_flags & FIEMAP_EXTENT_ENCODED) place = 1ull << 63 | place >> 12 << 20;
            each(context, place, length);
        }
        free(map);
        // A file system that gives only empty extents would keep this loop forever.
        if (is_end || start <= before) return 0;
    }
}

int64_t hub_share_blocks(int source, int target, off_t offset, uint64_t length) {
    union {
        struct file_dedupe_range range;
        char room[sizeof(struct file_dedupe_range) + sizeof(struct file_dedupe_range_info)];
    } call;
    memset(&call, 0, sizeof call);
    call.range.src_offset = (uint64_t)offset;
    call.range.src_length = length;
    call.range.dest_count = 1;
    call.range.info[0].dest_fd = target;
    call.range.info[0].dest_offset = (uint64_t)offset;
    if (ioctl(source, FIDEDUPERANGE, &call) != 0) return -1;
    int status = call.range.info[0].status;
    if (status == FILE_DEDUPE_RANGE_SAME) return (int64_t)call.range.info[0].bytes_deduped;
    errno = status == FILE_DEDUPE_RANGE_DIFFERS ? EILSEQ : -status;
    return -1;
}

int hub_rename_new(const char *from, const char *to) {
    return renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE);
}

int hub_swap_names(const char *one, const char *other) {
    return renameat2(AT_FDCWD, one, AT_FDCWD, other, RENAME_EXCHANGE);
}

int hub_is_overlay(const char *path) {
    struct statfs info;
    return statfs(path, &info) == 0 && info.f_type == 0x794c7630; // OVERLAYFS_SUPER_MAGIC
}

int hub_sync_data(int descriptor) { return fdatasync(descriptor); }

int hub_sync_all(int descriptor) { return fsync(descriptor); }

int hub_open_unnoticed(const char *path) {
    int flags = O_RDONLY | O_CLOEXEC | O_NOATIME;
    for (;;) {
        int descriptor = open(path, flags);
        if (descriptor >= 0) return descriptor;
        // open(2): only the owner may use O_NOATIME.
        if (errno == EPERM && (flags & O_NOATIME)) flags &= ~O_NOATIME;
        else if (errno != EINTR) return -1;
    }
}

void hub_read_ahead(int descriptor, off_t offset, off_t length) {
    if (offset == 0) posix_fadvise(descriptor, 0, 0, POSIX_FADV_SEQUENTIAL);
    posix_fadvise(descriptor, offset, length, POSIX_FADV_WILLNEED);
}

void hub_forget_pages(int descriptor) { posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED); }

void hub_prefer_large_pages(void *start, size_t length) {
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t begin = ((uintptr_t)start + page - 1) / page * page, end = ((uintptr_t)start + length) / page * page;
    if (begin < end) madvise((void *)begin, end - begin, MADV_HUGEPAGE);
}

int hub_disk_space(const char *path, uint64_t *available, uint64_t *total) {
    struct statvfs info;
    if (statvfs(path, &info) != 0) return -1;
    *available = (uint64_t)info.f_bavail * info.f_frsize;
    *total = (uint64_t)info.f_blocks * info.f_frsize;
    return 0;
}

uint64_t hub_monotonic_nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

int hub_processors(void) {
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) return CPU_COUNT(&allowed);
    return (int)sysconf(_SC_NPROCESSORS_ONLN);
}

int hub_is_network_file_system(const char *path) {
    struct statfs info;
    if (statfs(path, &info) != 0) return -1;
    switch ((unsigned long)info.f_type) { // statfs(2) lists the magic numbers
    case 0x6969:     // NFS
    case 0xFF534D42: // CIFS
    case 0xFE534D42: // SMB2
    case 0x517B:     // SMB
    case 0x01021997: // 9P
    case 0x00C36400: // Ceph
    case 0x0BD00BD0: // Lustre
    case 0x47504653: // GPFS
    case 0x19830326: // BeeGFS
    case 0x6B414653: // AFS
    case 0x5346414F: // OpenAFS
        return 1;
    default: return 0;
    }
}

int hub_keeps_access_times(const char *path) {
    // The flags of the path's mount, bind mounts included. statfs(2), since 2.6.36
    struct statfs info;
    if (statfs(path, &info) != 0) return -1;
    return info.f_flags & (ST_NOATIME | ST_RDONLY) ? 0 : 1;
}

int hub_mapped_files(int process, void *context,
                     void (*each)(void *context, uint64_t device, uint64_t inode, const char *path)) {
    char name[64];
    snprintf(name, sizeof name, "/proc/%d/maps", process);
    FILE *file = fopen(name, "re");
    if (!file) return -1;
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    errno = 0;
    while ((length = getline(&line, &room, file)) > 0) {
        unsigned major, minor;
        unsigned long long inode;
        int path = 0; // proc_pid_maps(5): address perms offset dev inode pathname
        if (sscanf(line, "%*s %*s %*s %x:%x %llu %n", &major, &minor, &inode, &path) < 3 || inode == 0) continue;
        if (line[length - 1] == '\n') line[length - 1] = 0;
        each(context, makedev(major, minor), inode, line + path);
    }
    int number = ferror(file) ? errno : 0;
    free(line);
    fclose(file);
    errno = number;
    return number ? -1 : 0;
}

// Where /proc is not mounted. These figures leave out the reclaimable page cache.
static int memory_without_proc(uint64_t *total, uint64_t *available) {
    struct sysinfo info;
    if (sysinfo(&info)) return -1;
    *total = (uint64_t)info.totalram * info.mem_unit;
    *available = (uint64_t)(info.freeram + info.bufferram) * info.mem_unit;
    return 0;
}

int hub_memory(uint64_t *total, uint64_t *available) {
    // https://docs.kernel.org/filesystems/proc.html: MemAvailable is the memory available without swapping.
    FILE *file = fopen("/proc/meminfo", "re");
    if (!file) return memory_without_proc(total, available);
    char line[256];
    unsigned long long value;
    *total = *available = 0;
    while (fgets(line, sizeof line, file)) {
        if (sscanf(line, "MemTotal: %llu kB", &value) == 1) *total = value * 1024;
        else if (sscanf(line, "MemAvailable: %llu kB", &value) == 1) *available = value * 1024;
    }
    fclose(file);
    return *total ? 0 : -1;
}

uint64_t hub_peak_resident_bytes(void) {
    // What getrusage says begins with the peak of the process that started this one: execve(2) keeps it.
    FILE *file = fopen("/proc/self/status", "re");
    if (file) {
        char line[256];
        unsigned long long value = 0;
        while (!value && fgets(line, sizeof line, file)) sscanf(line, "VmHWM: %llu kB", &value);
        fclose(file);
        if (value) return value * 1024;
    }
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? (uint64_t)usage.ru_maxrss * 1024 : 0; // kilobytes on Linux
}
#endif
