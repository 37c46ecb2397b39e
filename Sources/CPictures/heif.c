// libheif by dlopen: it brings 20 MB of video decoders along, and most machines never see a file for it. What is declared here is
// the stable part of its interface, from libheif/heif.h of version 1.
#include "decoder.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    int code, subcode;
    const char *message;
} heif_error;

enum { COLORSPACE_RGB = 1, CHROMA_INTERLEAVED_RGB = 10, CHROMA_INTERLEAVED_RGBA = 11, CHANNEL_INTERLEAVED = 10 };

static struct {
    void *(*context_alloc)(void);
    void (*context_free)(void *);
    heif_error (*read)(void *context, const void *bytes, size_t count, const void *options);
    heif_error (*primary)(void *context, void **handle);
    int (*width)(const void *handle), (*height)(const void *handle), (*has_alpha)(const void *handle);
    void (*release)(const void *handle);
    heif_error (*decode)(const void *handle, void **image, int colorspace, int chroma, const void *options);
    int (*image_width)(const void *image, int channel), (*image_height)(const void *image, int channel);
    const uint8_t *(*plane)(const void *image, int channel, int *stride);
    void (*release_image)(const void *image);
    /// Absent from old versions.
    void (*limit)(void *context, int side);
    int is_there;
} heif;

static void load(void) {
#if defined(__APPLE__)
    static const char *const names[] = {
        "libheif.1.dylib", "/opt/homebrew/lib/libheif.1.dylib", "/usr/local/lib/libheif.1.dylib"};
#else
    static const char *const names[] = {"libheif.so.1"};
#endif
    void *library = NULL;
    for (size_t at = 0; at < sizeof names / sizeof *names && !library; at++)
        library = dlopen(names[at], RTLD_NOW | RTLD_LOCAL);
    if (!library) return;
    *(void **)&heif.context_alloc = dlsym(library, "heif_context_alloc");
    *(void **)&heif.context_free = dlsym(library, "heif_context_free");
    *(void **)&heif.read = dlsym(library, "heif_context_read_from_memory_without_copy");
    *(void **)&heif.primary = dlsym(library, "heif_context_get_primary_image_handle");
    *(void **)&heif.width = dlsym(library, "heif_image_handle_get_width");
    *(void **)&heif.height = dlsym(library, "heif_image_handle_get_height");
    *(void **)&heif.has_alpha = dlsym(library, "heif_image_handle_has_alpha_channel");
    *(void **)&heif.release = dlsym(library, "heif_image_handle_release");
    *(void **)&heif.decode = dlsym(library, "heif_decode_image");
    *(void **)&heif.image_width = dlsym(library, "heif_image_get_width");
    *(void **)&heif.image_height = dlsym(library, "heif_image_get_height");
    *(void **)&heif.plane = dlsym(library, "heif_image_get_plane_readonly");
    *(void **)&heif.release_image = dlsym(library, "heif_image_release");
    *(void **)&heif.limit = dlsym(library, "heif_context_set_maximum_image_size_limit");
    heif.is_there = heif.context_alloc && heif.context_free && heif.read && heif.primary && heif.width && heif.height
        && heif.has_alpha && heif.release && heif.decode && heif.image_width && heif.image_height && heif.plane
        && heif.release_image;
}

typedef struct {
    void *context, *handle, *image;
} heif_state;

static void close(void *opened) {
    heif_state *state = opened;
    if (state->image) heif.release_image(state->image);
    if (state->handle) heif.release(state->handle);
    if (state->context) heif.context_free(state->context);
    free(state);
}

static hub_picture_outcome fault(hub_picture_info *info, heif_error error) {
    return hub_picture_fault(info, "%s", error.message ? error.message : "its data is damaged");
}

static hub_picture_outcome open(const uint8_t *bytes, size_t count, void **opened, hub_picture_info *info) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    if (!heif.is_there) return HUB_PICTURE_NO_LIBRARY;
    heif_state *state = calloc(1, sizeof *state);
    if (!state) return HUB_PICTURE_NO_MEMORY;
    *opened = state;
    state->context = heif.context_alloc();
    if (!state->context) return HUB_PICTURE_NO_MEMORY;
    // Its square is the most pixels that libheif makes room for, whatever the parts of the file say: 100 million.
    if (heif.limit) heif.limit(state->context, 10000);
    heif_error error = heif.read(state->context, bytes, count, NULL);
    if (!error.code) error = heif.primary(state->context, &state->handle);
    if (error.code) return fault(info, error);
    const int width = heif.width(state->handle), height = heif.height(state->handle);
    if (width <= 0 || height <= 0) return hub_picture_fault(info, "its sides are not given");
    info->width = (uint32_t)width;
    info->height = (uint32_t)height;
    info->has_alpha = heif.has_alpha(state->handle) != 0;
    return HUB_PICTURE_DONE;
}

static hub_picture_outcome read(void *opened, uint8_t *pixels, uint8_t *alpha, hub_picture_info *info) {
    heif_state *state = opened;
    const int chroma = alpha ? CHROMA_INTERLEAVED_RGBA : CHROMA_INTERLEAVED_RGB;
    const heif_error error = heif.decode(state->handle, &state->image, COLORSPACE_RGB, chroma, NULL);
    if (error.code) return fault(info, error);
    int stride = 0;
    const uint8_t *rows = heif.plane(state->image, CHANNEL_INTERLEAVED, &stride);
    // The turned picture's own sides: what the header said need not be true.
    if (!rows || heif.image_width(state->image, CHANNEL_INTERLEAVED) != (int)info->width
        || heif.image_height(state->image, CHANNEL_INTERLEAVED) != (int)info->height)
        return hub_picture_fault(info, "its data is of another size than its header says");
    const size_t width = info->width;
    for (size_t y = 0; y < info->height; y++, rows += stride) {
        if (alpha) hub_picture_split(rows, width, pixels + 3 * width * y, alpha + width * y);
        else memcpy(pixels + 3 * width * y, rows, 3 * width);
    }
    return HUB_PICTURE_DONE;
}

const hub_picture_format hub_picture_heif = {open, read, close};
