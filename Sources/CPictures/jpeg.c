#include "decoder.h"
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <jpeglib.h>
#include <jerror.h>

/// A progressive file of a few kilobytes may name many scans, each of which walks the whole picture.
#define MOST_SCANS 500

typedef struct {
    struct jpeg_decompress_struct jpeg;
    struct jpeg_error_mgr errors;
    struct jpeg_source_mgr source;
    struct jpeg_progress_mgr progress;
    jmp_buf escape;
    hub_picture_info *info;
    hub_picture_outcome outcome;
    uint8_t *row;
} jpeg_state;

static void fail(j_common_ptr jpeg) {
    jpeg_state *state = jpeg->client_data;
    state->outcome = jpeg->err->msg_code == JERR_OUT_OF_MEMORY ? HUB_PICTURE_NO_MEMORY : HUB_PICTURE_FAULTY;
    char text[JMSG_LENGTH_MAX];
    jpeg->err->format_message(jpeg, text);
    hub_picture_fault(state->info, "%s", text);
    longjmp(state->escape, 1);
}

// Warnings after which the rest of the picture is grey or noise are failures; the others, such as bytes between segments,
// change nothing.
static void warn(j_common_ptr jpeg, int level) {
    if (level >= 0) return;
    switch (jpeg->err->msg_code) {
    case JWRN_ARITH_BAD_CODE:
    case JWRN_HIT_MARKER:
    case JWRN_HUFF_BAD_CODE:
    case JWRN_JPEG_EOF:
    case JWRN_MUST_RESYNC: fail(jpeg);
    default: break;
    }
}

static void say_nothing(j_common_ptr jpeg) { (void)jpeg; }

static void count_scans(j_common_ptr jpeg) {
    if (!jpeg->is_decompressor || ((j_decompress_ptr)jpeg)->input_scan_number <= MOST_SCANS) return;
    jpeg_state *state = jpeg->client_data;
    state->outcome = hub_picture_fault(state->info, "it has more than %d scans", MOST_SCANS);
    longjmp(state->escape, 1);
}

static void start_source(j_decompress_ptr jpeg) { (void)jpeg; }

static boolean fill_source(j_decompress_ptr jpeg) {
    jpeg_state *state = jpeg->client_data;
    state->outcome = hub_picture_fault(state->info, "it ends before the picture does");
    longjmp(state->escape, 1);
}

static void skip_source(j_decompress_ptr jpeg, long count) {
    if (count <= 0) return;
    if ((size_t)count > jpeg->src->bytes_in_buffer) fill_source(jpeg);
    jpeg->src->next_input_byte += count;
    jpeg->src->bytes_in_buffer -= (size_t)count;
}

static void close(void *opened) {
    jpeg_state *state = opened;
    jpeg_destroy_decompress(&state->jpeg);
    free(state->row);
    free(state);
}

static hub_picture_outcome open(const uint8_t *bytes, size_t count, void **opened, hub_picture_info *info) {
    jpeg_state *state = calloc(1, sizeof *state);
    if (!state) return HUB_PICTURE_NO_MEMORY;
    *opened = state;
    state->info = info;
    struct jpeg_decompress_struct *jpeg = &state->jpeg;
    jpeg->err = jpeg_std_error(&state->errors);
    jpeg->client_data = state;
    state->errors.error_exit = fail;
    state->errors.emit_message = warn;
    state->errors.output_message = say_nothing;
    if (setjmp(state->escape)) return state->outcome;
    jpeg_create_decompress(jpeg);
    state->source = (struct jpeg_source_mgr){
        .next_input_byte = bytes, .bytes_in_buffer = count, .init_source = start_source,
        .fill_input_buffer = fill_source, .skip_input_data = skip_source,
        .resync_to_restart = jpeg_resync_to_restart, .term_source = start_source,
    };
    jpeg->src = &state->source;
    state->progress.progress_monitor = count_scans;
    jpeg->progress = &state->progress;
    jpeg_read_header(jpeg, TRUE);
    switch (jpeg->num_components) {
    case 1: jpeg->out_color_space = JCS_GRAYSCALE; break;
    case 3: jpeg->out_color_space = JCS_RGB; break;
    case 4: jpeg->out_color_space = JCS_CMYK; break;
    default: return hub_picture_fault(info, "it has %d colours", jpeg->num_components);
    }
    info->width = jpeg->image_width;
    info->height = jpeg->image_height;
    return HUB_PICTURE_DONE;
}

// a * b / 255, rounded.
static uint8_t multiplied(unsigned a, unsigned b) {
    const unsigned product = a * b + 128;
    return (uint8_t)((product + (product >> 8)) >> 8);
}

// Programs that write CMYK write it inverted, as Adobe's do, whatever the file says of itself.
static void convert_cmyk(const uint8_t *row, size_t width, uint8_t *pixels) {
    for (size_t x = 0; x < width; x++) {
        const unsigned white = row[4 * x + 3];
        for (size_t c = 0; c < 3; c++) pixels[3 * x + c] = (uint8_t)(white - multiplied(255u - row[4 * x + c], white));
    }
}

static void convert_grey(const uint8_t *row, size_t width, uint8_t *pixels) {
    for (size_t x = 0; x < width; x++) pixels[3 * x] = pixels[3 * x + 1] = pixels[3 * x + 2] = row[x];
}

static hub_picture_outcome read(void *opened, uint8_t *pixels, uint8_t *alpha, hub_picture_info *info) {
    (void)alpha;
    jpeg_state *state = opened;
    struct jpeg_decompress_struct *jpeg = &state->jpeg;
    state->info = info;
    if (setjmp(state->escape)) return state->outcome;
    const size_t width = info->width, stride = 3 * width;
    if (!jpeg_start_decompress(jpeg)) return hub_picture_fault(info, "it ends before the picture does");
    if (jpeg->num_components != 3) {
        state->row = malloc(width * (size_t)jpeg->num_components);
        if (!state->row) return HUB_PICTURE_NO_MEMORY;
    }
    while (jpeg->output_scanline < jpeg->output_height) {
        uint8_t *target = pixels + stride * jpeg->output_scanline;
        if (jpeg->num_components == 3) {
            // As many rows as the library makes at a time.
            JSAMPROW rows[8];
            JDIMENSION count = jpeg->output_height - jpeg->output_scanline;
            if (count > 8) count = 8;
            for (JDIMENSION y = 0; y < count; y++) rows[y] = target + stride * y;
            jpeg_read_scanlines(jpeg, rows, count);
        } else {
            JSAMPROW row = state->row;
            if (jpeg_read_scanlines(jpeg, &row, 1) != 1) break;
            (jpeg->num_components == 4 ? convert_cmyk : convert_grey)(row, width, target);
        }
    }
    return HUB_PICTURE_DONE;
}

const hub_picture_format hub_picture_jpeg = {open, read, close};
