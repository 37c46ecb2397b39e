// libmicrohttpd's variadic calls, cast macros and enumerations. Swift cannot use the first two, and the Swift names of
// the third change with the library's version. https://www.gnu.org/software/libmicrohttpd/manual/libmicrohttpd.html
#pragma once
#include <microhttpd.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>

/// Callbacks of the library, each with `context` first. They live as long as the daemon.
typedef struct {
    void *context;
    void (*opened_or_closed)(
        void *context, struct MHD_Connection *connection, void **state, enum MHD_ConnectionNotificationCode what);
    void *(*arrived)(void *context, const char *target, struct MHD_Connection *connection);
    MHD_AccessHandlerCallback handle;
    MHD_RequestCompletedCallback over;
    /// A request's Content-Length cannot be read. Called before the library answers it.
    void (*misread_length)(void *context);
} hub_mhd_callbacks;

/// Receives the library's log messages: an unreadable Content-Length is reported only there.
static inline void hub_mhd_log(void *callbacks, const char *format, va_list values) {
    (void)values;
    const hub_mhd_callbacks *all = (const hub_mhd_callbacks *)callbacks;
    if (strstr(format, "Content-Length")) all->misread_length(all->context);
}

/// Serves `socket`, which already listens and is closed by MHD_stop_daemon. One thread per connection, with poll,
/// because select cannot watch a descriptor above 1,023. `idle_seconds` 0 means no limit.
static inline struct MHD_Daemon *hub_mhd_start(
    int socket, unsigned int connections, unsigned int idle_seconds, hub_mhd_callbacks *callbacks) {
    void *context = callbacks->context;
    struct MHD_OptionItem options[] = {
        // First, so that it applies to the options that follow.
        {MHD_OPTION_EXTERNAL_LOGGER, (intptr_t)hub_mhd_log, callbacks},
        {MHD_OPTION_LISTEN_SOCKET, socket, NULL},
        {MHD_OPTION_CONNECTION_LIMIT, connections, NULL},
        {MHD_OPTION_CONNECTION_TIMEOUT, idle_seconds, NULL},
        // Room for a request's head of 8 KiB and more. The library overwrites all of it after each answer, so every idle
        // connection has this much.
        {MHD_OPTION_CONNECTION_MEMORY_LIMIT, 12 << 10, NULL},
        // A client may send JSON 1,024 levels deep, which is parsed recursively and needs more than macOS's 512 KiB.
        // Untouched stack takes no memory.
        {MHD_OPTION_THREAD_STACK_SIZE, 4 << 20, NULL},
        {MHD_OPTION_NOTIFY_CONNECTION, (intptr_t)callbacks->opened_or_closed, context},
        {MHD_OPTION_URI_LOG_CALLBACK, (intptr_t)callbacks->arrived, context},
        {MHD_OPTION_NOTIFY_COMPLETED, (intptr_t)callbacks->over, context},
        {MHD_OPTION_END, 0, NULL},
    };
    unsigned int flags = MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL | MHD_USE_ITC |
        MHD_USE_ERROR_LOG;
    return MHD_start_daemon(
        flags, 0, NULL, NULL, callbacks->handle, context, MHD_OPTION_ARRAY, options, MHD_OPTION_END);
}

/// A response with a copy of these bytes.
static inline struct MHD_Response *hub_mhd_bytes(const void *bytes, size_t count) {
    return MHD_create_response_from_buffer(count, (void *)bytes, MHD_RESPMEM_MUST_COPY);
}

static inline int hub_mhd_headers(struct MHD_Connection *connection, MHD_KeyValueIterator each, void *context) {
    return MHD_get_connection_values(connection, MHD_HEADER_KIND, each, context);
}

/// Begins a connection's time of silence anew: the library counts the time in which a handler works.
static inline void hub_mhd_touch(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_TIMEOUT);
    unsigned int seconds = info ? info->connection_timeout : 0;
    if (!seconds) return;
    // Only the step from no limit to one starts the clock.
    MHD_set_connection_option(connection, MHD_CONNECTION_OPTION_TIMEOUT, 0u);
    MHD_set_connection_option(connection, MHD_CONNECTION_OPTION_TIMEOUT, seconds);
}

/// The connection's socket.
static inline int hub_mhd_socket(struct MHD_Connection *connection) {
    return MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
}

/// Whether the client has closed its side of a connection, or has lost it.
static inline int hub_mhd_is_gone(int socket) {
    struct pollfd client = {socket, POLLIN, 0};
#ifdef __linux__
    client.events |= 0x2000; // POLLRDHUP, which needs _GNU_SOURCE
    return poll(&client, 1, 0) > 0 && (client.revents & (0x2000 | POLLHUP | POLLERR | POLLNVAL)) != 0;
#else
    char byte;
    if (poll(&client, 1, 0) <= 0) return 0;
    return (client.revents & (POLLHUP | POLLERR | POLLNVAL)) != 0 ||
        recv(socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
#endif
}

/// Bytes that a connection has received in all; -1 if the system does not say.
static inline int hub_received_bytes(int socket, uint64_t *bytes) {
#if defined(__linux__)
    // Its place in the kernel's struct tcp_info, which glibc's ends before.
    enum { place = 128 };
    unsigned char info[place + sizeof *bytes];
    socklen_t size = sizeof info;
    if (getsockopt(socket, IPPROTO_TCP, TCP_INFO, info, &size) != 0 || size < sizeof info) return -1;
    memcpy(bytes, info + place, sizeof *bytes);
    return 0;
#elif defined(TCP_CONNECTION_INFO)
    struct tcp_connection_info info;
    socklen_t size = sizeof info;
    if (getsockopt(socket, IPPROTO_TCP, TCP_CONNECTION_INFO, &info, &size) != 0) return -1;
    *bytes = info.tcpi_rxbytes;
    return 0;
#else
    (void)socket, (void)bytes;
    return -1;
#endif
}

#if defined(__linux__)
// Declared only where all extensions of GNU are asked for.
extern int pthread_getattr_np(pthread_t thread, pthread_attr_t *attributes);
#endif

/// Gives back the stack that this thread has used below its caller: an idle connection keeps its thread. After requests
/// with a body, for reading deep JSON takes much, and otherwise after the first, second, fourth, eighth ... request: a busy
/// connection needs the stack again at once.
///
/// Not inlined, so that its frame, which begins at the frame's address, is small.
__attribute__((noinline)) static void hub_trim_stack(bool had_body) {
#if defined(__linux__)
    static _Thread_local unsigned requests;
    requests++;
    if (!had_body && (requests & (requests - 1))) return;
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
    void *bottom;
    size_t size;
    int status = pthread_attr_getstack(&attributes, &bottom, &size);
    pthread_attr_destroy(&attributes);
    const uintptr_t page = 4096, margin = 1024, start = ((uintptr_t)bottom + page - 1) & ~(page - 1);
    const uintptr_t end = ((uintptr_t)__builtin_frame_address(0) - margin) & ~(page - 1);
    if (status == 0 && end > start) (void)!madvise((void *)start, end - start, MADV_DONTNEED);
#else
    (void)had_body;
#endif
}

/// The client's numeric address; empty if there is none.
static inline void hub_mhd_client(struct MHD_Connection *connection, char *text, size_t room) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    const struct sockaddr *address = info ? info->client_addr : NULL;
    socklen_t size = address && address->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
    if (!address || getnameinfo(address, size, text, (socklen_t)room, NULL, 0, NI_NUMERICHOST) != 0) *text = 0;
}

/// Sends bytes past the library and ends the connection.
static inline void hub_mhd_end_with(int socket, const void *bytes, size_t count) {
#ifdef MSG_NOSIGNAL
    int flags = MSG_NOSIGNAL;
#else
    int flags = 0; // libmicrohttpd has set SO_NOSIGPIPE
#endif
    // A failed send means the client has gone.
    (void)!send(socket, bytes, count, flags);
    shutdown(socket, SHUT_RDWR);
}

static const enum MHD_Result hub_mhd_yes = MHD_YES;
static const enum MHD_Result hub_mhd_no = MHD_NO;
static const uint64_t hub_mhd_size_unknown = MHD_SIZE_UNKNOWN;
static const ssize_t hub_mhd_end_of_stream = MHD_CONTENT_READER_END_OF_STREAM;
static const ssize_t hub_mhd_end_with_error = MHD_CONTENT_READER_END_WITH_ERROR;
static const enum MHD_ConnectionNotificationCode hub_mhd_opened = MHD_CONNECTION_NOTIFY_STARTED;
