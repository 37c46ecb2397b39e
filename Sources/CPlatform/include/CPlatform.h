// System calls that Swift cannot call as they are: variadic ones, ones behind a macro, ones that differ by platform.
// platform_linux.c and platform_darwin.c hold the two implementations. And one that must not be in Swift: the handler of
// signals that come while a secret is typed.
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/// flock(2), retried after EINTR. Its name is a struct's too, which makes the call ambiguous in Swift.
int hub_flock(int descriptor, int operation);

/// Makes `length` bytes of the file real so that a later write cannot fail for want of space, and sets its size.
/// Falls back to ftruncate where the file system cannot preallocate, or gains nothing by it. 0, or -1 with errno.
int hub_preallocate(int descriptor, off_t length);

/// Makes `destination` share all extents of `source` (FICLONE). -1 with errno where the file system cannot.
int hub_reflink(int source, int destination);

/// Data (not necessarily access times) on stable storage: fdatasync, F_FULLFSYNC on macOS.
int hub_sync_data(int descriptor);

/// Data and metadata, or a folder's names, on stable storage: fsync, F_FULLFSYNC on macOS.
int hub_sync_all(int descriptor);

/// open(2) for reading, close-on-exec, without noting the time of access where that may be asked for (O_NOATIME). -1
/// with errno.
int hub_open_unnoticed(const char *path);

/// Says that `length` bytes from `offset` on are about to be read, in order. Only a hint.
void hub_read_ahead(int descriptor, off_t offset, off_t length);

/// Asks for large pages behind memory that is about to be filled: a table of some megabytes is then there after a few faults
/// instead of thousands, and is gone through with fewer looks at the page table. Only a hint.
void hub_prefer_large_pages(void *start, size_t length);

/// How many processors this process may run on.
int hub_processors(void);

/// Bytes available to this user, and the total, of the file system that holds `path`. 0, or -1 with errno.
int hub_disk_space(const char *path, uint64_t *available, uint64_t *total);

/// 1 where `path` lies on a network file system, 0 where not, -1 with errno where that is unknown.
int hub_is_network_file_system(const char *path);

/// 1 where the mount that `path` lies on notes when files are read, 0 where not (`noatime`, read-only), -1 with errno
/// where that is unknown.
int hub_keeps_access_times(const char *path);

/// Calls `each` with device, inode and path of every file that a process has mapped; a file may come several times. The
/// device can be another than stat(2) says (btrfs, overlayfs); the path is the process's own. Linux only. 0, or -1 with errno.
int hub_mapped_files(int process, void *context,
                     void (*each)(void *context, uint64_t device, uint64_t inode, const char *path));

/// Bytes of physical memory, and how many of them can be had without swapping. 0, or -1 with errno.
int hub_memory(uint64_t *total, uint64_t *available);

/// Width and height of the terminal in character cells. 0, or -1 where the descriptor is no terminal.
int hub_terminal_size(int descriptor, uint16_t *columns, uint16_t *rows);

/// Stops the terminal from showing what is typed and writes a prompt there, until hub_secret_end. The terminal is given
/// back as it was by SIGHUP, SIGQUIT and SIGTSTP too, and hidden again when a stop is over; SIGINT and SIGTERM are the
/// caller's. One at a time. 0, or -1 with errno.
int hub_secret_begin(int descriptor, const char *prompt);

/// Gives the terminal back as it was, on a new line. From any thread, any number of times, but not from a handler.
void hub_secret_end(void);

/// Remembers the terminal's mode before a full-screen program takes it. From now on it is given back when the process
/// ends by exit, by SIGHUP or SIGQUIT, or by a fault of its own, which then does what it did before. SIGWINCH writes "w"
/// to `wake`, a pipe that does not block. One at a time. 0, or -1 with errno.
int hub_terminal_guard_begin(int descriptor, int wake);

/// What is to be written to the terminal when it is given back: at most 256 bytes.
void hub_terminal_guard_leaving(const char *text, size_t length);

/// Gives the terminal back now, as those signals do. From any thread, and from a handler; the second time does nothing.
void hub_terminal_guard_give_back(void);

/// After it was given back: the program takes the terminal again, and it is to be given back as before.
void hub_terminal_guard_take_again(void);

/// Ends what hub_terminal_guard_begin began, once the program has left the terminal by itself.
void hub_terminal_guard_end(void);

/// Nanoseconds since some moment, without those that the machine slept on macOS.
uint64_t hub_monotonic_nanoseconds(void);
/// Nanoseconds that this thread has been running on a processor.
uint64_t hub_thread_nanoseconds(void);

/// How many files this process may have open at once.
uint64_t hub_open_file_limit(void);

/// How much address space this process may use in all (ulimit -v); UINT64_MAX where nothing limits it.
uint64_t hub_address_space_limit(void);

/// Keeps all threads to one heap: glibc reserves 64 MiB of addresses for each of its heaps.
void hub_share_heap(void);

/// Runs `entry(context)` on a new, detached thread with a stack of that size; 0, or the errno.
int hub_thread_start(size_t stack_bytes, void *(*entry)(void *), void *context);

/// This process's peak resident set in bytes.
uint64_t hub_peak_resident_bytes(void);

#ifdef __cplusplus
}
#endif
