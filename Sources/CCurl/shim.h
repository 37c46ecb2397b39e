// libcurl's option calls are variadic, which Swift cannot call, so there is one typed function per kind of value.
// https://curl.se/libcurl/c/curl_easy_setopt.html
#pragma once
#include <curl/curl.h>
#include <sys/socket.h>

typedef size_t (*hub_curl_data_callback)(char *data, size_t size, size_t count, void *context);
typedef int (*hub_curl_seek_callback)(void *context, curl_off_t offset, int origin);

static inline CURLcode hub_curl_set_long(CURL *handle, CURLoption option, long value) {
    return curl_easy_setopt(handle, option, value);
}
static inline CURLcode hub_curl_set_offset(CURL *handle, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(handle, option, value);
}
static inline CURLcode hub_curl_set_string(CURL *handle, CURLoption option, const char *value) {
    return curl_easy_setopt(handle, option, value);
}
static inline CURLcode hub_curl_set_pointer(CURL *handle, CURLoption option, void *value) {
    return curl_easy_setopt(handle, option, value);
}
static inline CURLcode hub_curl_set_list(CURL *handle, CURLoption option, struct curl_slist *value) {
    return curl_easy_setopt(handle, option, value);
}
static inline CURLcode hub_curl_set_data_callback(CURL *handle, CURLoption option, hub_curl_data_callback value) {
    return curl_easy_setopt(handle, option, value);
}
static inline CURLcode hub_curl_set_seek_callback(CURL *handle, hub_curl_seek_callback value) {
    return curl_easy_setopt(handle, CURLOPT_SEEKFUNCTION, value);
}
static inline CURLcode hub_curl_get_long(CURL *handle, CURLINFO info, long *value) {
    return curl_easy_getinfo(handle, info, value);
}
static inline CURLcode hub_curl_get_string(CURL *handle, CURLINFO info, const char **value) {
    return curl_easy_getinfo(handle, info, value);
}
static inline CURLcode hub_curl_get_pointer(CURL *handle, CURLINFO info, void **value) {
    return curl_easy_getinfo(handle, info, value);
}
static inline CURLMcode hub_curl_multi_set_long(CURLM *handle, CURLMoption option, long value) {
    return curl_multi_setopt(handle, option, value);
}
static inline int hub_curl_limit_buffer(void *bytes, curl_socket_t socket, curlsocktype purpose) {
    int size = (int)(long)bytes;
    (void)purpose;
    // Only a hint: a system that refuses keeps its own size.
    (void)setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
    return CURL_SOCKOPT_OK;
}
/// Sets the receive buffer of a transfer's sockets, in bytes.
static inline CURLcode hub_curl_set_receive_buffer(CURL *handle, long bytes) {
    curl_easy_setopt(handle, CURLOPT_SOCKOPTDATA, (void *)bytes);
    return curl_easy_setopt(handle, CURLOPT_SOCKOPTFUNCTION, hub_curl_limit_buffer);
}
/// The result of a finished transfer, which is a member of a union that Swift does not import.
static inline CURLcode hub_curl_message_result(CURLMsg *message) { return message->data.result; }
/// The file and the folder of certificates that libcurl was built with; NULL for none.
static inline const char *hub_curl_certificate_file(void) { return curl_version_info(CURLVERSION_NOW)->cainfo; }
static inline const char *hub_curl_certificate_folder(void) { return curl_version_info(CURLVERSION_NOW)->capath; }
