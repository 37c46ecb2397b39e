#include "decoder.h"
#include <stdlib.h>
#include <string.h>
#include <webp/decode.h>

typedef struct {
    const uint8_t *bytes;
    size_t count;
    /// The first frame of an animation, or the whole picture.
    uint32_t x, y, width, height;
    int has_alpha, is_frame;
    uint8_t *rgba;
} webp_state;

static uint32_t number(const uint8_t *bytes, int count) {
    uint32_t value = 0;
    for (int at = count - 1; at >= 0; at--) value = value << 8 | bytes[at];
    return value;
}

static const char *fault(VP8StatusCode status) {
    switch (status) {
    case VP8_STATUS_NOT_ENOUGH_DATA:
    case VP8_STATUS_SUSPENDED: return "it ends before the picture does";
    case VP8_STATUS_UNSUPPORTED_FEATURE: return "it uses a feature that libwebp does not know";
    default: return "its data is damaged";
    }
}

/// Finds the first frame of an animation: https://developers.google.com/speed/webp/docs/riff_container
static hub_picture_outcome find_frame(webp_state *state, hub_picture_info *info) {
    for (size_t at = 12; at + 8 <= state->count;) {
        const size_t size = number(state->bytes + at + 4, 4);
        if (size > state->count - at - 8) break;
        if (memcmp(state->bytes + at, "ANMF", 4)) {
            at += 8 + size + size % 2;
            continue;
        }
        if (size < 24) break;
        const uint8_t *frame = state->bytes + at + 8;
        state->x = 2 * number(frame, 3);
        state->y = 2 * number(frame + 3, 3);
        state->width = 1 + number(frame + 6, 3);
        state->height = 1 + number(frame + 9, 3);
        state->bytes = frame + 16;
        state->count = size - 16;
        state->is_frame = 1;
        if (state->x + state->width > info->width || state->y + state->height > info->height)
            return hub_picture_fault(info, "its first frame is larger than the picture");
        return HUB_PICTURE_DONE;
    }
    return hub_picture_fault(info, "its first frame is missing or ends early");
}

static hub_picture_outcome open(const uint8_t *bytes, size_t count, void **opened, hub_picture_info *info) {
    webp_state *state = calloc(1, sizeof *state);
    if (!state) return HUB_PICTURE_NO_MEMORY;
    *opened = state;
    WebPBitstreamFeatures features;
    const VP8StatusCode status = WebPGetFeatures(bytes, count, &features);
    if (status != VP8_STATUS_OK) return hub_picture_fault(info, "%s", fault(status));
    info->width = (uint32_t)features.width;
    info->height = (uint32_t)features.height;
    info->has_alpha = features.has_alpha;
    *state = (webp_state){
        .bytes = bytes, .count = count, .width = info->width, .height = info->height, .has_alpha = features.has_alpha,
    };
    return features.has_animation ? find_frame(state, info) : HUB_PICTURE_DONE;
}

static void close(void *opened) {
    webp_state *state = opened;
    free(state->rgba);
    free(state);
}

static hub_picture_outcome read(void *opened, uint8_t *pixels, uint8_t *alpha, hub_picture_info *info) {
    webp_state *state = opened;
    const size_t width = info->width, pixel_bytes = state->has_alpha || state->is_frame ? 4 : 3;
    const size_t stride = pixel_bytes * state->width, size = stride * state->height;
    WebPDecoderConfig config;
    if (!WebPInitDecoderConfig(&config)) return hub_picture_fault(info, "libwebp is of another version than its header");
    VP8StatusCode status = WebPGetFeatures(state->bytes, state->count, &config.input);
    if (status != VP8_STATUS_OK) return hub_picture_fault(info, "%s", fault(status));
    if ((uint32_t)config.input.width != state->width || (uint32_t)config.input.height != state->height)
        return hub_picture_fault(info, "its parts are of different sizes");
    if (pixel_bytes == 4 && !(state->rgba = malloc(size))) return HUB_PICTURE_NO_MEMORY;
    config.output.colorspace = pixel_bytes == 4 ? MODE_RGBA : MODE_RGB;
    config.output.is_external_memory = 1;
    config.output.u.RGBA.rgba = pixel_bytes == 4 ? state->rgba : pixels;
    config.output.u.RGBA.stride = (int)stride;
    config.output.u.RGBA.size = size;
    status = WebPDecode(state->bytes, state->count, &config);
    WebPFreeDecBuffer(&config.output);
    if (status == VP8_STATUS_OUT_OF_MEMORY) return HUB_PICTURE_NO_MEMORY;
    if (status != VP8_STATUS_OK) return hub_picture_fault(info, "%s", fault(status));
    if (pixel_bytes == 3) return HUB_PICTURE_DONE;
    if (state->is_frame) {
        // What the frame leaves free is transparent black.
        memset(pixels, 0, 3 * width * info->height);
        if (alpha) memset(alpha, 0, width * info->height);
    }
    for (size_t y = 0; y < state->height; y++) {
        const size_t at = (state->y + y) * width + state->x;
        hub_picture_split(state->rgba + y * stride, state->width, pixels + 3 * at, alpha ? alpha + at : NULL);
    }
    return HUB_PICTURE_DONE;
}

const hub_picture_format hub_picture_webp = {open, read, close};
