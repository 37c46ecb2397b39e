// A C interface to simdjson (C++): a document as simdjson's own tape
// (https://github.com/simdjson/simdjson/blob/master/doc/tape.md), nothing copied.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Owned by the document.
typedef struct {
    const uint64_t *words;  ///< the first is the root, the next the document's value
    const uint8_t *strings; ///< each with its length before it, 32 bits
} hub_json_tape;

typedef struct hub_json_document hub_json_document;

/// Parses `length` bytes of UTF-8 JSON; `padded`: the 64 bytes after them may be read, else they are copied. On failure
/// returns NULL and sets `error` to static English text.
hub_json_document *hub_json_parse(const char *bytes, size_t length, bool padded, const char **error);
hub_json_tape hub_json_read(const hub_json_document *document);
void hub_json_free(hub_json_document *document);

#ifdef __cplusplus
}
#endif
