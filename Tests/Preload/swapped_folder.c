// For LD_PRELOAD: somebody who can write in a cache, and who always wins the race. SWAP_FOLDER is a folder of the cache and
// SWAP_LINK a symbolic link beside the cache. Every look at the folder finds the folder. While a call changes something in
// the cache the two have changed places, and from the first change on while a folder is opened too.
// SWAP_ROOT is what the paths of the calls in question begin with, SWAP_MARK a file that is made at the first swap.
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int has_begun;

static int exchange(void) {
    return renameat2(AT_FDCWD, getenv("SWAP_FOLDER"), AT_FDCWD, getenv("SWAP_LINK"), RENAME_EXCHANGE);
}

// Whether a path, or the folder of a descriptor, is of the places that hub deletes in.
static int is_ours(int descriptor, const char *name) {
    char path[4096], link[64];
    if (*name != '/' && descriptor != AT_FDCWD) {
        snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
        ssize_t length = readlink(link, path, sizeof path - 1);
        if (length < 0) return 0;
        path[length] = 0;
        name = path;
    }
    return strncmp(name, getenv("SWAP_ROOT"), strlen(getenv("SWAP_ROOT"))) == 0;
}

// Returns whether they have changed places, with the lock held.
static int swap(int descriptor, const char *name) {
    if (!is_ours(descriptor, name)) return 0;
    pthread_mutex_lock(&lock);
    if (exchange() == 0) {
        close(open(getenv("SWAP_MARK"), O_CREAT | O_WRONLY, 0600));
        return 1;
    }
    pthread_mutex_unlock(&lock);
    return 0;
}

static void swap_back(int swapped) {
    if (!swapped) return;
    int number = errno;
    exchange();
    pthread_mutex_unlock(&lock);
    errno = number;
}

#define REAL(result, name, ...) static result (*real)(__VA_ARGS__); if (!real) real = dlsym(RTLD_NEXT, name)
#define CHANGE(descriptor, path, call) \
    has_begun = has_begun || is_ours(descriptor, path); \
    int swapped = swap(descriptor, path); \
    int result = call; \
    swap_back(swapped); \
    return result

int unlink(const char *path) {
    REAL(int, "unlink", const char *);
    CHANGE(AT_FDCWD, path, real(path));
}

int rmdir(const char *path) {
    REAL(int, "rmdir", const char *);
    CHANGE(AT_FDCWD, path, real(path));
}

int unlinkat(int descriptor, const char *name, int flags) {
    REAL(int, "unlinkat", int, const char *, int);
    CHANGE(descriptor, name, real(descriptor, name, flags));
}

int rename(const char *from, const char *to) {
    REAL(int, "rename", const char *, const char *);
    CHANGE(AT_FDCWD, to, real(from, to));
}

int renameat(int from_folder, const char *from, int folder, const char *to) {
    REAL(int, "renameat", int, const char *, int, const char *);
    CHANGE(folder, to, real(from_folder, from, folder, to));
}

DIR *opendir(const char *path) {
    REAL(DIR *, "opendir", const char *);
    int swapped = has_begun && swap(AT_FDCWD, path);
    DIR *result = real(path);
    swap_back(swapped);
    return result;
}

// The mode of a file that is made comes last.
#define OPEN(function) \
    int function(const char *path, int flags, ...) { \
        REAL(int, #function, const char *, int, ...); \
        va_list more; \
        va_start(more, flags); \
        mode_t mode = va_arg(more, mode_t); \
        va_end(more); \
        int swapped = has_begun && flags & O_DIRECTORY && swap(AT_FDCWD, path); \
        int result = real(path, flags, mode); \
        swap_back(swapped); \
        return result; \
    }
OPEN(open)
OPEN(open64)

#define OPENAT(function) \
    int function(int folder, const char *path, int flags, ...) { \
        REAL(int, #function, int, const char *, int, ...); \
        va_list more; \
        va_start(more, flags); \
        mode_t mode = va_arg(more, mode_t); \
        va_end(more); \
        int swapped = has_begun && flags & O_DIRECTORY && swap(folder, path); \
        int result = real(folder, path, flags, mode); \
        swap_back(swapped); \
        return result; \
    }
OPENAT(openat)
OPENAT(openat64)
