#include "CSimdJSON.h"
#include <simdjson.h>
#include <vector>

using namespace simdjson;

static_assert(SIMDJSON_PADDING <= 64, "JSONCursor.padding is too small");

struct hub_json_document {
    dom::parser parser;
    std::vector<hub_json_node> nodes;
};

namespace {

hub_json_node string_node(std::string_view text) {
    hub_json_node node{HUB_JSON_STRING, static_cast<uint32_t>(text.size()), {}};
    node.value.string = text.data();
    return node;
}

// Recursion is bounded: simdjson refuses documents deeper than 1,024.
void flatten(dom::element element, std::vector<hub_json_node> &out) {
    hub_json_node node{HUB_JSON_NULL, 0, {}};
    switch (element.type()) {
    case dom::element_type::NULL_VALUE: break;
    case dom::element_type::BOOL: node.type = bool(element) ? HUB_JSON_TRUE : HUB_JSON_FALSE; break;
    case dom::element_type::INT64: node.type = HUB_JSON_INT; node.value.integer = int64_t(element); break;
    case dom::element_type::UINT64: node.type = HUB_JSON_UINT; node.value.unsigned_integer = uint64_t(element); break;
    case dom::element_type::DOUBLE: node.type = HUB_JSON_DOUBLE; node.value.number = double(element); break;
    case dom::element_type::STRING: node = string_node(std::string_view(element)); break;
    case dom::element_type::ARRAY: {
        size_t at = out.size();
        node.type = HUB_JSON_ARRAY;
        out.push_back(node);
        uint32_t count = 0;
        for (dom::element child : dom::array(element)) { flatten(child, out); count++; }
        out[at].count = count; // simdjson's own size() saturates at 0xFFFFFF
        return;
    }
    case dom::element_type::OBJECT: {
        size_t at = out.size();
        node.type = HUB_JSON_OBJECT;
        out.push_back(node);
        uint32_t count = 0;
        for (auto field : dom::object(element)) {
            out.push_back(string_node(field.key));
            flatten(field.value, out);
            count++;
        }
        out[at].count = count;
        return;
    }
    }
    out.push_back(node);
}

} // namespace

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
        document->nodes.reserve(length / 12 + 16); // most documents need no more
        flatten(root, document->nodes);
        return document;
    } catch (...) {
        *error = "out of memory";
        return nullptr;
    }
}

extern "C" const hub_json_node *hub_json_nodes(const hub_json_document *document, size_t *count) {
    *count = document->nodes.size();
    return document->nodes.data();
}

extern "C" void hub_json_free(hub_json_document *document) { delete document; }
