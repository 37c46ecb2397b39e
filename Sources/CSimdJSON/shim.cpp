#include "CSimdJSON.h"
#include "CPlatform.h"
#include <simdjson.h>

using namespace simdjson;

static_assert(SIMDJSON_PADDING <= 64, "JSONCursor.padding is too small");

struct hub_json_document {
    dom::parser parser;
};

// What a large document is parsed into, before it is: by far the most of it is new memory.
static error_code prepare(dom::parser &parser, size_t length) {
    if (length < (4 << 20)) return SUCCESS;
    if (auto code = parser.allocate(length)) return code;
    if (auto code = parser.doc.allocate(length)) return code;
    // document::allocate makes none of them smaller.
    hub_prefer_large_pages(parser.implementation->structural_indexes.get(), length * sizeof(uint32_t));
    hub_prefer_large_pages(parser.doc.tape.get(), length * sizeof(uint64_t));
    hub_prefer_large_pages(parser.doc.string_buf.get(), length);
    return SUCCESS;
}

extern "C" hub_json_document *hub_json_parse(const char *bytes, size_t length, bool padded,
                                             const char **error) {
    try {
        auto document = new hub_json_document;
        dom::element root;
        auto code = prepare(document->parser, length);
        if (!code) code = document->parser.parse(bytes, length, !padded).get(root);
        if (code) {
            *error = error_message(code);
            delete document;
            return nullptr;
        }
        return document;
    } catch (...) {
        *error = "out of memory";
        return nullptr;
    }
}

extern "C" hub_json_tape hub_json_read(const hub_json_document *document) {
    return {document->parser.doc.tape.get(), document->parser.doc.string_buf.get()};
}

extern "C" void hub_json_free(hub_json_document *document) { delete document; }
