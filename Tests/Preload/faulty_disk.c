// For LD_PRELOAD: a file system with a missing feature, for programs under test. FAULTY_DISK names it:
//   symlink   symbolic links cannot be made (FAT, many network shares)
//   flock     there are no locks (NFS without lockd, some FUSE file systems)
//   granted   every lock is granted to everybody (FUSE and network file systems that only pretend)
//   fsync     files and folders cannot be flushed (some FUSE file systems)
//   chmod     modes cannot be changed, not even by the owner (some mounts)
//   crash:N   the program is killed at its Nth step that changes the file of a catalog or of conversations, or one beside it
//   kill:N    the program is killed at its Nth step that changes a name in a cache, or in a trash beside it; if
//             FAULTY_DISK_BELOW is set, whose path has that in it
//   full:N    space cannot be reserved, and after N bytes of files of repositories and conversations the disk is full
//   waits:F   nothing, but the file F is made when the program waits for a catalog that another holds
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

static int lacks(const char *what) {
    const char *said = getenv("FAULTY_DISK");
    return said && strncmp(said, what, strlen(what)) == 0;
}

static int refuse(int number) {
    errno = number;
    return -1;
}

static void cache_step(const char *path);

int symlink(const char *target, const char *path) {
    int (*real)(const char *, const char *) = dlsym(RTLD_NEXT, "symlink");
    if (lacks("symlink")) return refuse(EPERM);
    cache_step(path);
    return real(target, path);
}

int flock(int descriptor, int operation) {
    int (*real)(int, int) = dlsym(RTLD_NEXT, "flock");
    if (lacks("granted")) return 0;
    return lacks("flock") ? refuse(ENOSYS) : real(descriptor, operation);
}

int fsync(int descriptor) {
    int (*real)(int) = dlsym(RTLD_NEXT, "fsync");
    return lacks("fsync") ? refuse(EINVAL) : real(descriptor);
}

int fdatasync(int descriptor) {
    int (*real)(int) = dlsym(RTLD_NEXT, "fdatasync");
    return lacks("fsync") ? refuse(EINVAL) : real(descriptor);
}

int chmod(const char *path, mode_t mode) {
    int (*real)(const char *, mode_t) = dlsym(RTLD_NEXT, "chmod");
    return lacks("chmod") ? refuse(EPERM) : real(path, mode);
}

int fchmod(int descriptor, mode_t mode) {
    int (*real)(int, mode_t) = dlsym(RTLD_NEXT, "fchmod");
    return lacks("chmod") ? refuse(EPERM) : real(descriptor, mode);
}

int fallocate(int descriptor, int mode, off_t offset, off_t length) {
    int (*real)(int, int, off_t, off_t) = dlsym(RTLD_NEXT, "fallocate");
    return lacks("full:") ? refuse(EOPNOTSUPP) : real(descriptor, mode, offset, length);
}

int fallocate64(int descriptor, int mode, off64_t offset, off64_t length) {
    int (*real)(int, int, off64_t, off64_t) = dlsym(RTLD_NEXT, "fallocate64");
    return lacks("full:") ? refuse(EOPNOTSUPP) : real(descriptor, mode, offset, length);
}

// SQLite's way to wait.
int usleep(useconds_t duration) {
    int (*real)(useconds_t) = dlsym(RTLD_NEXT, "usleep");
    if (lacks("waits:")) close(open(getenv("FAULTY_DISK") + 6, O_CREAT | O_WRONLY, 0600));
    return real(duration);
}

static atomic_llong steps;

// Ends the program as kill -9 does, where this is the step to do so.
static void step(const char *path) {
    if (!lacks("crash:") || !(strstr(path, "/catalog.sqlite3") || strstr(path, "/conversations.sqlite3"))) return;
    if (atomic_fetch_add(&steps, 1) + 1 == atoll(getenv("FAULTY_DISK") + 6)) kill(getpid(), SIGKILL);
}

// The same for steps in a cache: a folder named hub, as HF_HOME has it.
static void cache_step(const char *path) {
    const char *below = getenv("FAULTY_DISK_BELOW");
    if (!lacks("kill:") || !strstr(path, below ? below : "/hf/hub")) return;
    if (atomic_fetch_add(&steps, 1) + 1 == atoll(getenv("FAULTY_DISK") + 5)) kill(getpid(), SIGKILL);
}

static int name_of(int descriptor, char *path, size_t size) {
    char name[64];
    snprintf(name, sizeof name, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(name, path, size - 1);
    if (length < 0) return -1;
    path[length] = 0;
    return 0;
}

static void step_at(int descriptor) {
    char path[4096];
    if (lacks("crash:") && name_of(descriptor, path, sizeof path) == 0) step(path);
}

static void cache_step_at(int descriptor, const char *name) {
    char path[8192];
    if (!lacks("kill:")) return;
    if (*name == '/' || descriptor == AT_FDCWD) return cache_step(name);
    if (name_of(descriptor, path, 4096) != 0) return;
    strcat(path, "/");
    cache_step(strncat(path, name, 4000));
}

int unlinkat(int descriptor, const char *name, int flags) {
    int (*real)(int, const char *, int) = dlsym(RTLD_NEXT, "unlinkat");
    cache_step_at(descriptor, name);
    return real(descriptor, name, flags);
}

int mkdirat(int descriptor, const char *name, mode_t mode) {
    int (*real)(int, const char *, mode_t) = dlsym(RTLD_NEXT, "mkdirat");
    cache_step_at(descriptor, name);
    return real(descriptor, name, mode);
}

int linkat(int from_folder, const char *from, int folder, const char *to, int flags) {
    int (*real)(int, const char *, int, const char *, int) = dlsym(RTLD_NEXT, "linkat");
    cache_step_at(folder, to);
    return real(from_folder, from, folder, to, flags);
}

int renameat(int from_folder, const char *from, int folder, const char *to) {
    int (*real)(int, const char *, int, const char *) = dlsym(RTLD_NEXT, "renameat");
    cache_step_at(from_folder, from);
    return real(from_folder, from, folder, to);
}

int renameat2(int from_folder, const char *from, int folder, const char *to, unsigned flags) {
    int (*real)(int, const char *, int, const char *, unsigned) = dlsym(RTLD_NEXT, "renameat2");
    cache_step_at(from_folder, from);
    return real(from_folder, from, folder, to, flags);
}

int unlink(const char *path) {
    int (*real)(const char *) = dlsym(RTLD_NEXT, "unlink");
    step(path);
    cache_step(path);
    return real(path);
}

int rmdir(const char *path) {
    int (*real)(const char *) = dlsym(RTLD_NEXT, "rmdir");
    cache_step(path);
    return real(path);
}

int mkdir(const char *path, mode_t mode) {
    int (*real)(const char *, mode_t) = dlsym(RTLD_NEXT, "mkdir");
    cache_step(path);
    return real(path, mode);
}

int link(const char *from, const char *to) {
    int (*real)(const char *, const char *) = dlsym(RTLD_NEXT, "link");
    cache_step(to);
    return real(from, to);
}

int rename(const char *from, const char *to) {
    int (*real)(const char *, const char *) = dlsym(RTLD_NEXT, "rename");
    step(from);
    cache_step(from);
    return real(from, to);
}

int ftruncate64(int descriptor, off64_t length) {
    int (*real)(int, off64_t) = dlsym(RTLD_NEXT, "ftruncate64");
    step_at(descriptor);
    return real(descriptor, length);
}

static atomic_llong written;

// Whether so many more bytes of such a file have no room.
static int is_full(int descriptor, size_t count) {
    if (!lacks("full:")) return 0;
    char path[4096];
    if (name_of(descriptor, path, sizeof path) != 0) return 0;
    if (!strstr(path, "/models--") && !strstr(path, "/conversations.sqlite3")) return 0;
    return atomic_fetch_add(&written, (long long)count) + (long long)count > atoll(getenv("FAULTY_DISK") + 5);
}

ssize_t pwrite(int descriptor, const void *bytes, size_t count, off_t offset) {
    ssize_t (*real)(int, const void *, size_t, off_t) = dlsym(RTLD_NEXT, "pwrite");
    step_at(descriptor);
    return is_full(descriptor, count) ? refuse(ENOSPC) : real(descriptor, bytes, count, offset);
}

ssize_t pwrite64(int descriptor, const void *bytes, size_t count, off64_t offset) {
    ssize_t (*real)(int, const void *, size_t, off64_t) = dlsym(RTLD_NEXT, "pwrite64");
    step_at(descriptor);
    return is_full(descriptor, count) ? refuse(ENOSPC) : real(descriptor, bytes, count, offset);
}
