// libmicrohttpd's variadic calls, cast macros and enumerations. Swift cannot use the first two as they are, and the
// third get other Swift names when a version of the library changes how it declares them.
// https://www.gnu.org/software/libmicrohttpd/manual/libmicrohttpd.html
#pragma once
#include <microhttpd.h>

typedef void *(*hub_mhd_arrived)(void *context, const char *target, struct MHD_Connection *connection);

/// Serves `socket`, which listens already and is closed by MHD_stop_daemon: one thread for each connection, watching it
/// with poll, for select cannot watch a descriptor above 1,023. `idle_seconds` 0 is for ever.
static inline struct MHD_Daemon *hub_mhd_start(
    int socket, unsigned int connections, unsigned int idle_seconds, hub_mhd_arrived arrived,
    MHD_AccessHandlerCallback handler, MHD_RequestCompletedCallback over, void *context) {
    struct MHD_OptionItem options[] = {
        {MHD_OPTION_LISTEN_SOCKET, socket, NULL},
        {MHD_OPTION_CONNECTION_LIMIT, connections, NULL},
        {MHD_OPTION_CONNECTION_TIMEOUT, idle_seconds, NULL},
        // Room for a request's head of 32 KiB.
        {MHD_OPTION_CONNECTION_MEMORY_LIMIT, 64 << 10, NULL},
        // A client may send JSON 1,024 levels deep, and it is read by recursion: more than macOS's 512 KiB. Only what is
        // touched takes memory.
        {MHD_OPTION_THREAD_STACK_SIZE, 4 << 20, NULL},
        {MHD_OPTION_URI_LOG_CALLBACK, (intptr_t)arrived, context},
        {MHD_OPTION_NOTIFY_COMPLETED, (intptr_t)over, context},
        {MHD_OPTION_END, 0, NULL},
    };
    unsigned int flags = MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL | MHD_USE_ITC;
    return MHD_start_daemon(flags, 0, NULL, NULL, handler, context, MHD_OPTION_ARRAY, options, MHD_OPTION_END);
}

/// A response with a copy of these bytes.
static inline struct MHD_Response *hub_mhd_bytes(const void *bytes, size_t count) {
    return MHD_create_response_from_buffer(count, (void *)bytes, MHD_RESPMEM_MUST_COPY);
}

static inline const char *hub_mhd_header(struct MHD_Connection *connection, const char *name) {
    return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

static inline int hub_mhd_headers(struct MHD_Connection *connection, MHD_KeyValueIterator each, void *context) {
    return MHD_get_connection_values(connection, MHD_HEADER_KIND, each, context);
}

static const enum MHD_Result hub_mhd_yes = MHD_YES;
static const enum MHD_Result hub_mhd_no = MHD_NO;
static const uint64_t hub_mhd_size_unknown = MHD_SIZE_UNKNOWN;
static const ssize_t hub_mhd_end_of_stream = MHD_CONTENT_READER_END_OF_STREAM;
static const ssize_t hub_mhd_end_with_error = MHD_CONTENT_READER_END_WITH_ERROR;
