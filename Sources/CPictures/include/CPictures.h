// Reading, writing and resizing of pictures: 8-bit samples, rows from the top without padding.
#pragma once
#include <stddef.h>
#include <stdint.h>

/// Formats that a library reads.
typedef enum {
    HUB_PICTURE_JPEG,
    HUB_PICTURE_PNG,
    HUB_PICTURE_WEBP,
    HUB_PICTURE_GIF,  ///< the first frame
    HUB_PICTURE_HEIF, ///< HEIC and AVIF
} hub_picture_kind;

typedef enum {
    HUB_PICTURE_DONE,
    HUB_PICTURE_FAULTY,      ///< the message says what is wrong with the file
    HUB_PICTURE_NO_MEMORY,
    HUB_PICTURE_NO_LIBRARY,  ///< the library of the format is not on this machine
} hub_picture_outcome;

#define HUB_PICTURE_MESSAGE 256

/// A file that is being read: what its header says, and why reading failed.
typedef struct {
    uint32_t width, height;
    int has_alpha;
    char message[HUB_PICTURE_MESSAGE];
} hub_picture_info;

typedef struct hub_picture_decoder hub_picture_decoder;

/// Reads the header and decodes nothing; the bytes must outlive the decoder. On failure the decoder is NULL.
hub_picture_outcome hub_picture_open(
    hub_picture_kind kind, const uint8_t *bytes, size_t count, hub_picture_decoder **decoder, hub_picture_info *info);

/// Decodes to `3 * width * height` bytes of RGB and, unless NULL, `width * height` bytes of alpha; once for a decoder.
hub_picture_outcome hub_picture_read(
    hub_picture_decoder *decoder, uint8_t *pixels, uint8_t *alpha, hub_picture_info *info);

void hub_picture_close(hub_picture_decoder *decoder);

/// Writes a PNG of RGB, or of RGBA if alpha is not NULL. The bytes are to be freed; NULL without memory.
uint8_t *hub_png_write(const uint8_t *pixels, const uint8_t *alpha, uint32_t width, uint32_t height, size_t *count);

/// Writes a PNG of grey in 16 bits. The bytes are to be freed; NULL without memory.
uint8_t *hub_png_write_levels(const uint16_t *levels, uint32_t width, uint32_t height, size_t *count);

/// Turns a picture of pixels of some bytes as EXIF's orientation (2 to 8) says; from 5 on width and height swap.
void hub_picture_turn(
    const uint8_t *source, uint32_t width, uint32_t height, size_t pixel_bytes, int orientation, uint8_t *target);

/// What each output of a resizing pass takes: `taps[i]` inputs from `starts[i]` on.
typedef struct {
    const int32_t *starts, *taps;
    /// `stride` whole numbers for an output, in units of 2^-22, zeros after the last tap.
    const int32_t *weights;
    size_t outputs, stride;
} hub_resize_plan;

/// Resizes rows: `rows` of `width` RGB pixels become rows of `plan->outputs` pixels, each rounded to 8 bits. `end` is the end of
/// the memory that may be read.
void hub_resize_rows(
    const uint8_t *source, const uint8_t *end, size_t width, size_t rows, const hub_resize_plan *plan, uint8_t *target);

/// Resizes columns: outputs `first..<last` of the plan, rows of `bytes` bytes, each rounded to 8 bits. Rows are counted from
/// `source`, `target` is the row of `first`.
void hub_resize_columns(
    const uint8_t *source, size_t bytes, const hub_resize_plan *plan, size_t first, size_t last, uint8_t *target);

/// The same passes by portable code, to compare with.
void hub_resize_rows_portable(
    const uint8_t *source, size_t width, size_t rows, const hub_resize_plan *plan, uint8_t *target);
void hub_resize_columns_portable(
    const uint8_t *source, size_t bytes, const hub_resize_plan *plan, size_t first, size_t last, uint8_t *target);

/// A pass in floats, without rounding: `count` vectors of `inputs * width` become vectors of `outputs * width`.
/// Output i is the sum of `weights[i * stride + k]` times input `indices[i * stride + k]`, k below stride.
void hub_resize_floats(
    const float *source, size_t count, size_t inputs, size_t width, const int32_t *indices, const float *weights,
    size_t outputs, size_t stride, float *target);
