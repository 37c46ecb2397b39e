#include "decoder.h"
#include <stdlib.h>
#include <string.h>
#include <gif_lib.h>

typedef struct {
    GifFileType *gif;
    const uint8_t *bytes;
    size_t left;
    int transparent; ///< the index of the colour that is not seen, or -1
    GifPixelType *row;
} gif_state;

static int take(GifFileType *gif, GifByteType *target, int count) {
    gif_state *state = gif->UserData;
    if (count < 0) return 0;
    const size_t taken = (size_t)count < state->left ? (size_t)count : state->left;
    memcpy(target, state->bytes, taken);
    state->bytes += taken;
    state->left -= taken;
    return (int)taken;
}

static hub_picture_outcome fault(hub_picture_info *info, int code) {
    switch (code) {
    case D_GIF_ERR_NOT_ENOUGH_MEM: return HUB_PICTURE_NO_MEMORY;
    case D_GIF_ERR_READ_FAILED:
    case D_GIF_ERR_EOF_TOO_SOON: return hub_picture_fault(info, "it ends before the picture does");
    default: {
        const char *text = GifErrorString(code);
        return hub_picture_fault(info, "%s", text ? text : "its data is damaged");
    }
    }
}

static void close(void *opened) {
    gif_state *state = opened;
    if (state->gif) DGifCloseFile(state->gif, NULL);
    free(state->row);
    free(state);
}

/// Reads an extension; of a graphic control, which colour is transparent.
static int read_extension(gif_state *state) {
    int code;
    GifByteType *block;
    if (DGifGetExtension(state->gif, &code, &block) == GIF_ERROR) return GIF_ERROR;
    if (code == GRAPHICS_EXT_FUNC_CODE && block && block[0] >= 4) state->transparent = block[1] & 1 ? block[4] : -1;
    while (block) {
        if (DGifGetExtensionNext(state->gif, &block) == GIF_ERROR) return GIF_ERROR;
    }
    return GIF_OK;
}

static hub_picture_outcome open(const uint8_t *bytes, size_t count, void **opened, hub_picture_info *info) {
    gif_state *state = calloc(1, sizeof *state);
    if (!state) return HUB_PICTURE_NO_MEMORY;
    *opened = state;
    *state = (gif_state){.bytes = bytes, .left = count, .transparent = -1};
    int code = 0;
    GifFileType *gif = state->gif = DGifOpen(state, take, &code);
    if (!gif) return fault(info, code);
    for (;;) {
        GifRecordType type;
        if (DGifGetRecordType(gif, &type) == GIF_ERROR) return fault(info, gif->Error);
        if (type == TERMINATE_RECORD_TYPE) return hub_picture_fault(info, "it has no picture in it");
        if (type == EXTENSION_RECORD_TYPE && read_extension(state) == GIF_ERROR) return fault(info, gif->Error);
        if (type == IMAGE_DESC_RECORD_TYPE) break;
    }
    if (DGifGetImageDesc(gif) == GIF_ERROR) return fault(info, gif->Error);
    const GifImageDesc *frame = &gif->Image;
    if (frame->Width <= 0 || frame->Height <= 0) return hub_picture_fault(info, "its first frame is empty");
    // The canvas grows with a frame that does not fit, as Pillow's does.
    const int right = frame->Left + frame->Width, bottom = frame->Top + frame->Height;
    info->width = (uint32_t)(right > gif->SWidth ? right : gif->SWidth);
    info->height = (uint32_t)(bottom > gif->SHeight ? bottom : gif->SHeight);
    info->has_alpha = state->transparent >= 0;
    return HUB_PICTURE_DONE;
}

static void paint(
    const gif_state *state, const GifPixelType *indices, size_t count, uint8_t *pixels, uint8_t *alpha) {
    const ColorMapObject *map = state->gif->Image.ColorMap ? state->gif->Image.ColorMap : state->gif->SColorMap;
    for (size_t at = 0; at < count; at++) {
        const int index = indices[at];
        GifColorType color = {0, 0, 0};
        if (!map) color = (GifColorType){(GifByteType)index, (GifByteType)index, (GifByteType)index};
        else if (index < map->ColorCount) color = map->Colors[index];
        pixels[3 * at] = color.Red;
        pixels[3 * at + 1] = color.Green;
        pixels[3 * at + 2] = color.Blue;
        if (alpha) alpha[at] = index == state->transparent ? 0 : 255;
    }
}

static hub_picture_outcome read(void *opened, uint8_t *pixels, uint8_t *alpha, hub_picture_info *info) {
    static const int first[] = {0, 4, 2, 1}, step[] = {8, 8, 4, 2};
    gif_state *state = opened;
    const GifImageDesc *frame = &state->gif->Image;
    const size_t width = info->width;
    // What the frame leaves free: the transparent colour, or the first.
    state->row = malloc(width);
    if (!state->row) return HUB_PICTURE_NO_MEMORY;
    memset(state->row, state->transparent >= 0 ? state->transparent : 0, width);
    for (size_t y = 0; y < info->height; y++)
        paint(state, state->row, width, pixels + 3 * width * y, alpha ? alpha + width * y : NULL);
    for (int pass = 0; pass < (frame->Interlace ? 4 : 1); pass++) {
        for (int y = frame->Interlace ? first[pass] : 0; y < frame->Height; y += frame->Interlace ? step[pass] : 1) {
            if (DGifGetLine(state->gif, state->row, frame->Width) == GIF_ERROR) return fault(info, state->gif->Error);
            const size_t at = (size_t)(frame->Top + y) * width + (size_t)frame->Left;
            paint(state, state->row, (size_t)frame->Width, pixels + 3 * at, alpha ? alpha + at : NULL);
        }
    }
    return HUB_PICTURE_DONE;
}

const hub_picture_format hub_picture_gif = {open, read, close};
