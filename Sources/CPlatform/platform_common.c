#include "CPlatform.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int hub_flock(int descriptor, int operation) {
    int result;
    do result = flock(descriptor, operation); while (result == -1 && errno == EINTR);
    return result;
}

int hub_other_process_gets_lock(const char *path, int isFolder) {
    pid_t child = fork();
    if (child == 0) {
        // Nothing but system calls: other threads of the parent may have held any lock.
        int file = open(path, isFolder ? O_RDONLY | O_DIRECTORY : O_RDWR | O_NOFOLLOW | O_NONBLOCK);
        if (file < 0) _exit(2);
        if (flock(file, LOCK_EX | LOCK_NB) == 0) _exit(1);
        _exit(errno == EWOULDBLOCK ? 0 : 2);
    }
    if (child < 0) return -1;
    int status;
    while (waitpid(child, &status, 0) < 0) if (errno != EINTR) return -1;
    return WIFEXITED(status) && WEXITSTATUS(status) < 2 ? WEXITSTATUS(status) : -1;
}

uint64_t hub_open_file_limit(void) {
    struct rlimit limit;
    return getrlimit(RLIMIT_NOFILE, &limit) == 0 ? (uint64_t)limit.rlim_cur : 256;
}

void hub_raise_open_file_limit(uint64_t wanted) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted) return;
    limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : (rlim_t)wanted;
    (void)!setrlimit(RLIMIT_NOFILE, &limit);
}

uint64_t hub_address_space_limit(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return UINT64_MAX;
    return (uint64_t)limit.rlim_cur;
}

int hub_terminal_size(int descriptor, uint16_t *columns, uint16_t *rows) {
    struct winsize size;
    if (ioctl(descriptor, TIOCGWINSZ, &size) != 0) return -1;
    *columns = size.ws_col;
    *rows = size.ws_row;
    return 0;
}

uint64_t hub_thread_nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

size_t hub_page_size(void) { return (size_t)sysconf(_SC_PAGESIZE); }

int hub_resident_pages(int descriptor, off_t offset, size_t length, unsigned char *pages) {
    void *start = mmap(NULL, length, PROT_READ, MAP_SHARED, descriptor, offset);
    if (start == MAP_FAILED) return -1;
    // char * on macOS.
    int result = mincore(start, length, (void *)pages), number = errno;
    munmap(start, length);
    errno = number;
    return result;
}
