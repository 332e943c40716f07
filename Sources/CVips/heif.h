/// AVIF with options that libvips' `heifsave` does not have, by functions of libheif 1.15 and later.
///
/// libheif's headers need not be installed: its functions are found by name, and of its types only these are known.
#ifndef DARKROOM_CVIPS_HEIF_H
#define DARKROOM_CVIPS_HEIF_H

#include <dlfcn.h>
#include <glib.h>
#include <stdint.h>
#include <string.h>

typedef struct {
    int code;
    int subcode;
    const char *message;
} darkroom_heif_error;

typedef struct {
    int version;
    darkroom_heif_error (*write)(void *context, const void *bytes, size_t count, void *file);
} darkroom_heif_writer;

/// Values of libheif's enumerations.
enum {
    DARKROOM_HEIF_AV1 = 4,
    DARKROOM_HEIF_RGB = 1,
    DARKROOM_HEIF_INTERLEAVED = 10,
    DARKROOM_HEIF_THREE_BANDS = 10,
    DARKROOM_HEIF_FOUR_BANDS = 11,
};

/// Declares a function of the library; `missing` becomes 1 if it does not exist.
#define DARKROOM_HEIF_FUNCTION(result, name, ...)                                                                      \
    result (*name)(__VA_ARGS__) = (result(*)(__VA_ARGS__))dlsym(library, #name);                                       \
    if (!name) missing = 1

/// Whether the encoder that libheif prefers for AV1 has a lossless mode; false without libheif.
static inline int darkroom_avif_has_lossless(void) {
    void *library = darkroom_heif();
    if (!library) return 0;
    int missing = 0;
    DARKROOM_HEIF_FUNCTION(int, heif_get_encoder_descriptors, int, const char *, const void **, int);
    DARKROOM_HEIF_FUNCTION(int, heif_encoder_descriptor_supports_lossless_compression, const void *);
    const void *encoder = NULL;
    int answer = !missing && heif_get_encoder_descriptors(DARKROOM_HEIF_AV1, NULL, &encoder, 1) > 0
        && heif_encoder_descriptor_supports_lossless_compression(encoder) != 0;
    dlclose(library);
    return answer;
}

typedef struct {
    /// Interleaved samples of 8 bits, row by row.
    const void *samples;
    int width;
    int height;
    /// 3 = red, green and blue; 4 = alpha too.
    int bands;
    /// 1…100, of the colors and of alpha. An encoder without a quality of alpha encodes it like the colors.
    int quality;
    int alpha_quality;
    /// 0…9.
    int effort;
    /// Whether chroma keeps its resolution, as always without loss.
    int keeps_chroma;
    int is_lossless;
    /// EXIF data, none if the size is 0.
    const void *exif;
    int exif_size;
} darkroom_avif_image;

static inline darkroom_heif_error darkroom_heif_append(void *context, const void *bytes, size_t count, void *file) {
    darkroom_heif_error none = {0, 0, ""};
    g_byte_array_append((GByteArray *)file, (const guint8 *)bytes, (guint)count);
    return none;
}

/// Encodes an image on the calling thread and appends the file to `file`. Returns NULL, or the reason why it cannot,
/// which is to be freed by `g_free`.
static inline char *darkroom_avif_encode(const darkroom_avif_image *image, GByteArray *file) {
    void *library = darkroom_heif();
    if (!library) return g_strdup("libheif is not loaded");
    int missing = 0;
    typedef darkroom_heif_error Error;
    DARKROOM_HEIF_FUNCTION(void *, heif_context_alloc, void);
    DARKROOM_HEIF_FUNCTION(void, heif_context_free, void *);
    DARKROOM_HEIF_FUNCTION(Error, heif_context_get_encoder_for_format, void *, int, void **);
    DARKROOM_HEIF_FUNCTION(void, heif_encoder_release, void *);
    DARKROOM_HEIF_FUNCTION(Error, heif_encoder_set_lossy_quality, void *, int);
    DARKROOM_HEIF_FUNCTION(Error, heif_encoder_set_lossless, void *, int);
    DARKROOM_HEIF_FUNCTION(Error, heif_encoder_set_parameter_integer, void *, const char *, int);
    DARKROOM_HEIF_FUNCTION(Error, heif_encoder_set_parameter_boolean, void *, const char *, int);
    DARKROOM_HEIF_FUNCTION(Error, heif_encoder_set_parameter_string, void *, const char *, const char *);
    DARKROOM_HEIF_FUNCTION(Error, heif_image_create, int, int, int, int, void **);
    DARKROOM_HEIF_FUNCTION(void, heif_image_release, void *);
    DARKROOM_HEIF_FUNCTION(Error, heif_image_add_plane, void *, int, int, int, int);
    DARKROOM_HEIF_FUNCTION(uint8_t *, heif_image_get_plane, void *, int, int *);
    DARKROOM_HEIF_FUNCTION(void *, heif_nclx_color_profile_alloc, void);
    DARKROOM_HEIF_FUNCTION(void, heif_nclx_color_profile_free, void *);
    DARKROOM_HEIF_FUNCTION(Error, heif_nclx_color_profile_set_color_primaries, void *, uint16_t);
    DARKROOM_HEIF_FUNCTION(Error, heif_nclx_color_profile_set_transfer_characteristics, void *, uint16_t);
    DARKROOM_HEIF_FUNCTION(Error, heif_nclx_color_profile_set_matrix_coefficients, void *, uint16_t);
    DARKROOM_HEIF_FUNCTION(Error, heif_image_set_nclx_color_profile, void *, void *);
    DARKROOM_HEIF_FUNCTION(Error, heif_context_encode_image, void *, void *, void *, void *, void **);
    DARKROOM_HEIF_FUNCTION(void, heif_image_handle_release, void *);
    DARKROOM_HEIF_FUNCTION(Error, heif_context_add_exif_metadata, void *, void *, const void *, int);
    DARKROOM_HEIF_FUNCTION(Error, heif_context_write, void *, darkroom_heif_writer *, void *);
    if (missing) {
        dlclose(library);
        return g_strdup("libheif has no such functions");
    }

    void *context = heif_context_alloc(), *encoder = NULL, *pixels = NULL, *colors = NULL, *handle = NULL;
    Error error = heif_context_get_encoder_for_format(context, DARKROOM_HEIF_AV1, &encoder);
    if (!error.code) error = heif_encoder_set_lossy_quality(encoder, image->quality);
    if (!error.code) error = heif_encoder_set_lossless(encoder, image->is_lossless);
    if (!error.code) {
        // As libvips 8.16 does; not every encoder and version has them all.
        heif_encoder_set_parameter_integer(encoder, "speed", 9 - image->effort);
        heif_encoder_set_parameter_integer(encoder, "threads", 1);
        heif_encoder_set_parameter_boolean(encoder, "auto-tiles", 1);
        heif_encoder_set_parameter_boolean(encoder, "enable-intrabc", 0);
        if (!image->is_lossless) heif_encoder_set_parameter_integer(encoder, "alpha-quality", image->alpha_quality);
        int full = image->keeps_chroma || image->is_lossless;
        error = heif_encoder_set_parameter_string(encoder, "chroma", full ? "444" : "420");
    }
    int layout = image->bands == 4 ? DARKROOM_HEIF_FOUR_BANDS : DARKROOM_HEIF_THREE_BANDS;
    if (!error.code) error = heif_image_create(image->width, image->height, DARKROOM_HEIF_RGB, layout, &pixels);
    if (!error.code) error = heif_image_add_plane(pixels, DARKROOM_HEIF_INTERLEAVED, image->width, image->height, 8);
    if (!error.code) {
        int stride = 0;
        uint8_t *plane = heif_image_get_plane(pixels, DARKROOM_HEIF_INTERLEAVED, &stride);
        size_t row = (size_t)image->width * image->bands;
        for (int y = 0; y < image->height; y++)
            memcpy(plane + (size_t)y * stride, (const uint8_t *)image->samples + y * row, row);
    }
    if (!error.code && image->is_lossless) {
        // sRGB without a matrix (ITU-T H.273): any other one rounds.
        colors = heif_nclx_color_profile_alloc();
        error = heif_nclx_color_profile_set_color_primaries(colors, 1);
        if (!error.code) error = heif_nclx_color_profile_set_transfer_characteristics(colors, 13);
        if (!error.code) error = heif_nclx_color_profile_set_matrix_coefficients(colors, 0);
        if (!error.code) error = heif_image_set_nclx_color_profile(pixels, colors);
    }
    if (!error.code) error = heif_context_encode_image(context, pixels, encoder, NULL, &handle);
    if (!error.code && image->exif_size > 0)
        error = heif_context_add_exif_metadata(context, handle, image->exif, image->exif_size);
    darkroom_heif_writer writer = {1, darkroom_heif_append};
    if (!error.code) error = heif_context_write(context, &writer, file);
    // The context may own the text.
    char *reason = error.code ? g_strdup(error.message ? error.message : "libheif failed") : NULL;
    if (handle) heif_image_handle_release(handle);
    if (colors) heif_nclx_color_profile_free(colors);
    if (pixels) heif_image_release(pixels);
    if (encoder) heif_encoder_release(encoder);
    heif_context_free(context);
    dlclose(library);
    return reason;
}

#endif
