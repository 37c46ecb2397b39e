#include "decoder.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct hub_picture_decoder {
    const hub_picture_format *format;
    void *state;
};

static const hub_picture_format *format_of(hub_picture_kind kind) {
    switch (kind) {
    case HUB_PICTURE_JPEG: return &hub_picture_jpeg;
    case HUB_PICTURE_PNG: return &hub_picture_png;
    case HUB_PICTURE_WEBP: return &hub_picture_webp;
    case HUB_PICTURE_GIF: return &hub_picture_gif;
    case HUB_PICTURE_HEIF: return &hub_picture_heif;
    }
    abort();
}

hub_picture_outcome hub_picture_open(
    hub_picture_kind kind, const uint8_t *bytes, size_t count, hub_picture_decoder **decoder, hub_picture_info *info) {
    *info = (hub_picture_info){0};
    *decoder = NULL;
    hub_picture_decoder *opened = calloc(1, sizeof *opened);
    if (!opened) return HUB_PICTURE_NO_MEMORY;
    opened->format = format_of(kind);
    const hub_picture_outcome outcome = opened->format->open(bytes, count, &opened->state, info);
    if (outcome == HUB_PICTURE_DONE) {
        *decoder = opened;
    } else {
        hub_picture_close(opened);
    }
    return outcome;
}

hub_picture_outcome hub_picture_read(
    hub_picture_decoder *decoder, uint8_t *pixels, uint8_t *alpha, hub_picture_info *info) {
    return decoder->format->read(decoder->state, pixels, alpha, info);
}

void hub_picture_close(hub_picture_decoder *decoder) {
    if (!decoder) return;
    if (decoder->state) decoder->format->close(decoder->state);
    free(decoder);
}

hub_picture_outcome hub_picture_fault(hub_picture_info *info, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(info->message, sizeof info->message, format, arguments);
    va_end(arguments);
    return HUB_PICTURE_FAULTY;
}

void hub_picture_split(const uint8_t *rgba, size_t count, uint8_t *pixels, uint8_t *alpha) {
    for (size_t at = 0; at < count; at++) {
        pixels[3 * at] = rgba[4 * at];
        pixels[3 * at + 1] = rgba[4 * at + 1];
        pixels[3 * at + 2] = rgba[4 * at + 2];
    }
    if (!alpha) return;
    for (size_t at = 0; at < count; at++) alpha[at] = rgba[4 * at + 3];
}
