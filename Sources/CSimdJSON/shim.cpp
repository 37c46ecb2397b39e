#include "CSimdJSON.h"
#include <simdjson.h>

using namespace simdjson;

static_assert(SIMDJSON_PADDING <= 64, "JSONCursor.padding is too small");

struct hub_json_document {
    dom::parser parser;
};

extern "C" hub_json_document *hub_json_parse(const char *bytes, size_t length, bool padded,
                                             const char **error) {
    try {
        auto document = new hub_json_document;
        dom::element root;
        auto code = document->parser.parse(bytes, length, !padded).get(root);
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
