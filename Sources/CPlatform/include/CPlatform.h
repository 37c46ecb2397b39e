// System calls that Swift cannot call directly: variadic, behind a macro, or different by platform. platform_linux.c
// and platform_darwin.c hold the two implementations. The signal handlers of terminals are here too, because they must
// not be Swift.
#pragma once
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/// flock(2), retried after EINTR. Its name is a struct's too, which makes the call ambiguous in Swift.
int hub_flock(int descriptor, int operation);

/// Allocates `length` bytes so that a later write cannot fail with ENOSPC, and sets the file's size. Falls back to
/// ftruncate where the file system cannot preallocate or gains nothing from it. 0, or -1 with errno.
int hub_preallocate(int descriptor, off_t length);

/// Makes `destination` share all extents of `source` (FICLONE). -1 with errno where the file system cannot.
int hub_reflink(int source, int destination);

/// Whether two files of equal size share all their extents, as clones do (FIEMAP): 1 or 0; 0 too where that is unknown.
int hub_shares_extents(int one, int other);

/// Whether files of the file system that holds `path` may share blocks, as clones do: 1 or 0.
int hub_may_share_extents(const char *path);

/// Calls `each` with each range of the file's first `size` bytes whose blocks other files share (FIEMAP): where it is on
/// the disk, and its bytes. -1 where the file system does not tell, as on macOS.
int hub_shared_extents(int descriptor, uint64_t size, void *context,
                       void (*each)(void *context, uint64_t start, uint64_t length));

/// Makes `target` share the blocks of `source` from an offset on, if their bytes are equal (FIDEDUPERANGE): the number of
/// bytes shared now, at most `length`; -1 with errno where the file system cannot, EILSEQ if the bytes differ. Of 0 bytes it
/// only says whether it can.
int64_t hub_share_blocks(int source, int target, off_t offset, uint64_t length);

/// Renames, unless the new name is taken: then -1 with EEXIST. ENOSYS, EINVAL or ENOTSUP where the system or the file system
/// cannot.
int hub_rename_new(const char *from, const char *to);

/// Swaps two names in one step. Errors as of hub_rename_new.
int hub_swap_names(const char *one, const char *other);

/// 1 if `path` is on an overlay, where a hard link first copies a file of a lower layer.
int hub_is_overlay(const char *path);

/// Data (not necessarily access times) on stable storage: fdatasync, F_FULLFSYNC on macOS.
int hub_sync_data(int descriptor);

/// Data and metadata, or a folder's names, on stable storage: fsync, F_FULLFSYNC on macOS.
int hub_sync_all(int descriptor);

/// open(2) for reading, close-on-exec, without updating the access time where permitted (O_NOATIME). -1 with errno.
int hub_open_unnoticed(const char *path);

/// Hints that `length` bytes from `offset` are about to be read in order.
void hub_read_ahead(int descriptor, off_t offset, off_t length);

/// Asks the kernel to forget what it has of a file in memory, once that is on the disk. Only a hint.
void hub_forget_pages(int descriptor);

/// Which pages of `length` bytes from `offset`, a multiple of the page's size, are in memory (mincore): bit 0 of a byte for
/// each page of hub_page_size. Linux says yes of every page of a file that the caller may not write. 0, or -1 with errno.
int hub_resident_pages(int descriptor, off_t offset, size_t length, unsigned char *pages);

/// Bytes of a page of memory.
size_t hub_page_size(void);

/// Requests large pages for memory that is about to be filled, or for a mapped file where it is not in the page cache yet:
/// fewer page faults and TLB misses. Only a hint.
void hub_prefer_large_pages(void *start, size_t length);

/// A mapped file that may be cut, or fail, while it is read: SIGBUS then puts zeros in the place of what is missing and marks
/// the mapping, instead of ending the process.
typedef struct hub_mapping hub_mapping;

/// Names `length` bytes from `start` as one; NULL without memory. To be removed before they are unmapped.
hub_mapping *hub_mapping_add(const void *start, size_t length);
void hub_mapping_remove(hub_mapping *mapping);

/// Whether zeros stand for bytes that could not be read. Whatever was computed from them is wrong.
int hub_mapping_is_damaged(const hub_mapping *mapping);

/// The arguments of main, for hub_start_again_after_crash. They are not copied.
void hub_remember_arguments(char *const arguments[]);

/// From now on a crash (SIGILL, SIGTRAP, SIGSEGV, SIGBUS, SIGABRT, SIGFPE) starts the program at `path` again in this very
/// process, with a line on stderr. The new one has the arguments, the environment and `descriptor`, a listening socket, and
/// nothing else that is open but the standard streams. After five times within a minute the signal ends the process. Once.
/// 0, or -1 without memory. Does nothing in a program that has not remembered its arguments.
int hub_start_again_after_crash(const char *path, int descriptor);

/// sigwait(3) for a program that may be started again: SIGINT and SIGTERM end that, and what comes while the program is
/// being replaced is left to the new one. For one thread; every thread must block the signals. 0 if it cannot wait.
int hub_wait_for_signal(const sigset_t *signals);

/// The descriptor that this program was started again with; -1 if it was not.
int hub_started_again_with(void);

/// The number of processors this process may run on.
int hub_processors(void);

/// Bytes available to this user, and the total, of the file system that holds `path`. 0, or -1 with errno.
int hub_disk_space(const char *path, uint64_t *available, uint64_t *total);

/// 1 if `path` is on a network file system, 0 if not, -1 with errno if unknown.
int hub_is_network_file_system(const char *path);

/// 1 if the mount of `path` records access times, 0 if not (`noatime`, read-only), -1 with errno if unknown.
int hub_keeps_access_times(const char *path);

/// Calls `each` with device, inode and path of every file that a process has mapped; a file may come several times. The
/// device can be another than stat(2) says (btrfs, overlayfs); the path is the process's own. Linux only. 0, or -1 with errno.
int hub_mapped_files(int process, void *context,
                     void (*each)(void *context, uint64_t device, uint64_t inode, const char *path));

/// Bytes of physical memory, and how many are available without swapping. 0, or -1 with errno.
int hub_memory(uint64_t *total, uint64_t *available);

/// Width and height of the terminal in character cells. 0, or -1 if the descriptor is not a terminal.
int hub_terminal_size(int descriptor, uint16_t *columns, uint16_t *rows);

/// Turns echo off and writes a prompt, until hub_secret_end. SIGHUP, SIGQUIT and SIGTSTP restore the terminal too, and
/// echo is off again after a stop; SIGINT and SIGTERM are the caller's. One at a time. 0, or -1 with errno.
int hub_secret_begin(int descriptor, const char *prompt);

/// Restores the terminal, on a new line. From any thread, any number of times, but not from a signal handler.
void hub_secret_end(void);

/// Saves the terminal's mode before a full-screen program takes it. It is restored when the process ends by exit,
/// SIGHUP, SIGQUIT or a fault, whose previous handler then runs. SIGWINCH writes "w" to `wake`, a non-blocking pipe.
/// One at a time. 0, or -1 with errno.
int hub_terminal_guard_begin(int descriptor, int wake);

/// The bytes written to the terminal when it is restored: at most 256.
void hub_terminal_guard_leaving(const char *text, size_t length);

/// Restores the terminal now, as those signals do. From any thread or signal handler; a second call does nothing.
void hub_terminal_guard_give_back(void);

/// Call when the program takes the terminal again: it will be restored as before.
void hub_terminal_guard_take_again(void);

/// Ends what hub_terminal_guard_begin began, once the program has left the terminal by itself.
void hub_terminal_guard_end(void);

/// Nanoseconds since an arbitrary moment. On macOS sleep does not count.
uint64_t hub_monotonic_nanoseconds(void);
/// Nanoseconds that this thread has been running on a processor.
uint64_t hub_thread_nanoseconds(void);

/// Whether another process gets the exclusive lock of a file, a folder if `isFolder`, now: 1 or 0; -1 if it cannot be asked.
int hub_other_process_gets_lock(const char *path, int isFolder);

/// The number of files this process may have open at once.
uint64_t hub_open_file_limit(void);

/// Raises that limit, as far as this process may.
void hub_raise_open_file_limit(uint64_t wanted);

/// The address space this process may use, in bytes (ulimit -v); UINT64_MAX if unlimited.
uint64_t hub_address_space_limit(void);

/// Limits all threads to one heap: glibc reserves 64 MiB of addresses for each of its heaps.
void hub_share_heap(void);

/// Starts a program in a session of its own, without this one's standard streams; 0, or the errno. Nobody waits for it.
int hub_start_apart(const char *path, char *const arguments[], char *const environment[]);

/// Starts a program in a session and process group of its own, with pipes to its standard streams: `ours` are this side's
/// ends, the first one not blocking. 0, or the errno. To be waited for.
int hub_start_piped(
    const char *path, char *const arguments[], char *const environment[], pid_t *process, int ours[3]);

/// Whether a child has exited; it is still to be waited for.
int hub_has_exited(pid_t process);

/// Runs `entry(context)` on a new, detached thread with a stack of that size; 0, or the errno.
int hub_thread_start(size_t stack_bytes, void *(*entry)(void *), void *context);

#ifdef __linux__
/// The Secret Service through libsecret. Whether the library is there; the others may be called only then.
int hub_keyring_is_there(void);
/// A call that another thread may cancel; to be ended.
void *hub_keyring_begin(void);
void hub_keyring_cancel(void *call);
void hub_keyring_end(void *call);
/// Stores, finds (`found` is not called if there is none) and removes a text. They block, and return -1 with a message.
int hub_keyring_store(
    void *call, const char *item, const char *label, const char *text, char *message, size_t size);
int hub_keyring_lookup(
    void *call, const char *item, void (*found)(void *, const char *), void *context, char *message, size_t size);
int hub_keyring_clear(void *call, const char *item, char *message, size_t size);
#endif

/// This process's peak resident set in bytes.
uint64_t hub_peak_resident_bytes(void);

#ifdef __cplusplus
}
#endif
