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
    DARKROOM_HEIF_THREE_DEEP_BANDS = 14,
};

#define DARKROOM_HEIF_FUNCTIONS(F)                                                                                     \
    F(int, heif_get_encoder_descriptors, int, const char *, const void **, int)                                        \
    F(const char *, heif_encoder_descriptor_get_id_name, const void *)                                                 \
    F(void *, heif_context_alloc, void)                                                                                \
    F(void, heif_context_free, void *)                                                                                 \
    F(darkroom_heif_error, heif_context_get_encoder_for_format, void *, int, void **)                                  \
    F(void, heif_encoder_release, void *)                                                                              \
    F(darkroom_heif_error, heif_encoder_set_lossy_quality, void *, int)                                                \
    F(darkroom_heif_error, heif_encoder_set_lossless, void *, int)                                                     \
    F(darkroom_heif_error, heif_encoder_set_parameter_integer, void *, const char *, int)                              \
    F(darkroom_heif_error, heif_encoder_set_parameter_boolean, void *, const char *, int)                              \
    F(darkroom_heif_error, heif_encoder_set_parameter_string, void *, const char *, const char *)                      \
    F(darkroom_heif_error, heif_image_create, int, int, int, int, void **)                                             \
    F(void, heif_image_release, void *)                                                                                \
    F(darkroom_heif_error, heif_image_add_plane, void *, int, int, int, int)                                           \
    F(uint8_t *, heif_image_get_plane, void *, int, int *)                                                             \
    F(void *, heif_nclx_color_profile_alloc, void)                                                                     \
    F(void, heif_nclx_color_profile_free, void *)                                                                      \
    F(darkroom_heif_error, heif_nclx_color_profile_set_color_primaries, void *, uint16_t)                              \
    F(darkroom_heif_error, heif_nclx_color_profile_set_transfer_characteristics, void *, uint16_t)                     \
    F(darkroom_heif_error, heif_nclx_color_profile_set_matrix_coefficients, void *, uint16_t)                          \
    F(darkroom_heif_error, heif_image_set_nclx_color_profile, void *, void *)                                          \
    F(darkroom_heif_error, heif_context_encode_image, void *, void *, void *, void *, void **)                         \
    F(void, heif_image_handle_release, void *)                                                                         \
    F(darkroom_heif_error, heif_context_add_exif_metadata, void *, void *, const void *, int)                          \
    F(darkroom_heif_error, heif_context_add_XMP_metadata, void *, void *, const void *, int)                           \
    F(darkroom_heif_error, heif_context_write, void *, darkroom_heif_writer *, void *)

/// The functions of the loaded libheif.
typedef struct {
    /// To be closed.
    void *library;
#define DARKROOM_HEIF_FIELD(result, name, ...) result (*name)(__VA_ARGS__);
    DARKROOM_HEIF_FUNCTIONS(DARKROOM_HEIF_FIELD)
#undef DARKROOM_HEIF_FIELD
} darkroom_heif_functions;

/// Returns 0 without libheif, or if it lacks one of the functions.
static inline int darkroom_heif_load(darkroom_heif_functions *heif) {
    heif->library = darkroom_heif();
    if (!heif->library) return 0;
    int found = 1;
#define DARKROOM_HEIF_LOAD(result, name, ...)                                                                          \
    heif->name = (result(*)(__VA_ARGS__))dlsym(heif->library, #name);                                                  \
    found = found && heif->name;
    DARKROOM_HEIF_FUNCTIONS(DARKROOM_HEIF_LOAD)
#undef DARKROOM_HEIF_LOAD
    if (!found) dlclose(heif->library);
    return found;
}

/// Whether libheif can be called, and the encoder that it prefers for AV1 has a lossless mode of 4:4:4, which only
/// libaom has.
static inline int darkroom_avif_has_lossless(void) {
    darkroom_heif_functions heif;
    if (!darkroom_heif_load(&heif)) return 0;
    const void *encoder = NULL;
    int answer = heif.heif_get_encoder_descriptors(DARKROOM_HEIF_AV1, NULL, &encoder, 1) > 0
        && strcmp(heif.heif_encoder_descriptor_get_id_name(encoder), "aom") == 0;
    dlclose(heif.library);
    return answer;
}

typedef struct {
    /// Interleaved samples, row by row.
    const void *samples;
    int width;
    int height;
    /// 3 = red, green and blue; 4 = alpha too.
    int bands;
    /// 1…100, of the colors. An encoder without a lossless mode for alpha encodes it like the colors.
    int quality;
    /// 0…9.
    int effort;
    /// Whether chroma keeps its resolution, as always without loss.
    int keeps_chroma;
    int is_lossless;
    /// Whether the samples are Display P3 instead of sRGB.
    int is_p3;
    /// Whether the samples have 16 bits, three to a pixel, and become 10 bits. Otherwise they have 8.
    int is_deep;
    /// Whether chroma has half of the resolution across only.
    int halves_chroma_once;
    /// EXIF data, none if the size is 0.
    const void *exif;
    int exif_size;
    /// An XMP packet, none if the size is 0.
    const void *xmp;
    int xmp_size;
} darkroom_avif_image;

static inline darkroom_heif_error darkroom_avif_configure(
    const darkroom_heif_functions *heif, void *encoder, const darkroom_avif_image *image) {
    darkroom_heif_error error = heif->heif_encoder_set_lossy_quality(encoder, image->quality);
    if (!error.code) error = heif->heif_encoder_set_lossless(encoder, image->is_lossless);
    if (error.code) return error;
    // As libvips 8.16 does; not every encoder and version has them all.
    heif->heif_encoder_set_parameter_integer(encoder, "speed", 9 - image->effort);
    heif->heif_encoder_set_parameter_integer(encoder, "threads", 1);
    heif->heif_encoder_set_parameter_boolean(encoder, "auto-tiles", 1);
    heif->heif_encoder_set_parameter_boolean(encoder, "enable-intrabc", 0);
    heif->heif_encoder_set_parameter_boolean(encoder, "lossless-alpha", 1);
    int is_full = image->keeps_chroma || image->is_lossless;
    const char *sampling = image->halves_chroma_once ? "422" : is_full ? "444" : "420";
    darkroom_heif_error chroma = heif->heif_encoder_set_parameter_string(encoder, "chroma", sampling);
    // SVT-AV1 has no such parameter, and always halves chroma.
    return image->is_lossless ? chroma : error;
}

/// States the color space by code points (ITU-T H.273), without loss without a matrix: any matrix would round.
static inline darkroom_heif_error darkroom_avif_set_colors(
    const darkroom_heif_functions *heif, const darkroom_avif_image *image, void *pixels) {
    void *colors = heif->heif_nclx_color_profile_alloc();
    darkroom_heif_error error = heif->heif_nclx_color_profile_set_color_primaries(colors, image->is_p3 ? 12 : 1);
    if (!error.code) error = heif->heif_nclx_color_profile_set_transfer_characteristics(colors, 13);
    if (!error.code)
        error = heif->heif_nclx_color_profile_set_matrix_coefficients(colors, image->is_lossless ? 0 : 6);
    if (!error.code) error = heif->heif_image_set_nclx_color_profile(pixels, colors);
    heif->heif_nclx_color_profile_free(colors);
    return error;
}

/// Rounds a row of 16-bit samples to 10 bits, the lower byte of each first.
static inline void darkroom_avif_copy_deep(const uint16_t *samples, size_t count, uint8_t *row) {
    for (size_t i = 0; i < count; i++) {
        uint32_t sample = ((uint32_t)samples[i] * 1023 + 32767) / 65535;
        row[2 * i] = (uint8_t)(sample & 0xff);
        row[2 * i + 1] = (uint8_t)(sample >> 8);
    }
}

/// Copies the samples. `pixels` is to be released, also after an error.
static inline darkroom_heif_error darkroom_avif_copy(
    const darkroom_heif_functions *heif, const darkroom_avif_image *image, void **pixels) {
    int layout = image->is_deep ? DARKROOM_HEIF_THREE_DEEP_BANDS
        : image->bands == 4     ? DARKROOM_HEIF_FOUR_BANDS
                                : DARKROOM_HEIF_THREE_BANDS;
    int width = image->width, height = image->height;
    darkroom_heif_error error = heif->heif_image_create(width, height, DARKROOM_HEIF_RGB, layout, pixels);
    if (!error.code) error = heif->heif_image_add_plane(*pixels, DARKROOM_HEIF_INTERLEAVED, width, height,
        image->is_deep ? 10 : 8);
    if (error.code) return error;
    int stride = 0;
    uint8_t *plane = heif->heif_image_get_plane(*pixels, DARKROOM_HEIF_INTERLEAVED, &stride);
    size_t row = (size_t)width * image->bands;
    for (int y = 0; y < height; y++) {
        uint8_t *target = plane + (size_t)y * stride;
        if (image->is_deep)
            darkroom_avif_copy_deep((const uint16_t *)image->samples + y * row, row, target);
        else
            memcpy(target, (const uint8_t *)image->samples + y * row, row);
    }
    int states_colors = image->is_lossless || image->is_p3 || image->is_deep;
    return states_colors ? darkroom_avif_set_colors(heif, image, *pixels) : error;
}

static inline darkroom_heif_error darkroom_heif_append(void *context, const void *bytes, size_t count, void *file) {
    darkroom_heif_error none = {0, 0, ""};
    g_byte_array_append((GByteArray *)file, (const guint8 *)bytes, (guint)count);
    return none;
}

/// Encodes an image on the calling thread and appends the file to `file`. Returns NULL, or the reason why it cannot,
/// which is to be freed by `g_free`.
static inline char *darkroom_avif_encode(const darkroom_avif_image *image, GByteArray *file) {
    darkroom_heif_functions heif;
    if (!darkroom_heif_load(&heif)) return g_strdup("libheif is not loaded, or lacks a function");
    void *context = heif.heif_context_alloc(), *encoder = NULL, *pixels = NULL, *handle = NULL;
    darkroom_heif_writer writer = {1, darkroom_heif_append};
    darkroom_heif_error error = heif.heif_context_get_encoder_for_format(context, DARKROOM_HEIF_AV1, &encoder);
    if (!error.code) error = darkroom_avif_configure(&heif, encoder, image);
    if (!error.code) error = darkroom_avif_copy(&heif, image, &pixels);
    if (!error.code) error = heif.heif_context_encode_image(context, pixels, encoder, NULL, &handle);
    if (!error.code && image->exif_size > 0)
        error = heif.heif_context_add_exif_metadata(context, handle, image->exif, image->exif_size);
    if (!error.code && image->xmp_size > 0)
        error = heif.heif_context_add_XMP_metadata(context, handle, image->xmp, image->xmp_size);
    if (!error.code) error = heif.heif_context_write(context, &writer, file);
    // The context may own the text.
    char *reason = error.code ? g_strdup(error.message ? error.message : "libheif failed") : NULL;
    if (handle) heif.heif_image_handle_release(handle);
    if (pixels) heif.heif_image_release(pixels);
    if (encoder) heif.heif_encoder_release(encoder);
    heif.heif_context_free(context);
    dlclose(heif.library);
    return reason;
}

#endif
