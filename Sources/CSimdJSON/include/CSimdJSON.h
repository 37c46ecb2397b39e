// A C face for simdjson (C++): a document as one flat array of nodes in document order.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    HUB_JSON_NULL, HUB_JSON_FALSE, HUB_JSON_TRUE, HUB_JSON_INT, HUB_JSON_UINT, HUB_JSON_DOUBLE,
    HUB_JSON_STRING, ///< in an object the member names are strings too, before their values
    HUB_JSON_ARRAY,  ///< count: how many elements follow
    HUB_JSON_OBJECT, ///< count: how many members follow, each a string and a value
} hub_json_type;

typedef struct {
    hub_json_type type;
    uint32_t count; ///< bytes of a string; elements of an array; members of an object
    union {
        int64_t integer;
        uint64_t unsigned_integer;
        double number;
        const char *string; ///< UTF-8, owned by the document
    } value;
} hub_json_node;

typedef struct hub_json_document hub_json_document;

/// Parses `length` bytes of UTF-8 JSON; `padded` says that 64 bytes behind them may be read, else they are copied. On a fault returns NULL and sets `error` to static English text.
hub_json_document *hub_json_parse(const char *bytes, size_t length, bool padded, const char **error);
const hub_json_node *hub_json_nodes(const hub_json_document *document, size_t *count);
void hub_json_free(hub_json_document *document);

#ifdef __cplusplus
}
#endif
