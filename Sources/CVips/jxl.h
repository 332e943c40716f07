/// JPEG XL that holds the coefficients of a JPEG, by functions of libjxl 0.7 and later.
///
/// libjxl belongs to libvips or a module of it. Its headers need not be installed: its functions are found by name.
#ifndef DARKROOM_CVIPS_JXL_H
#define DARKROOM_CVIPS_JXL_H

#include <dlfcn.h>
#include <glib.h>
#include <stdint.h>
#include <string.h>

/// Values of libjxl's enumerations.
enum {
    DARKROOM_JXL_SUCCESS = 0,
    DARKROOM_JXL_EFFORT = 0,
    DARKROOM_JXL_IMAGE = 0x1000,
    DARKROOM_JXL_RECONSTRUCTION = 0x2000,
};

#define DARKROOM_JXL_FUNCTIONS(F)                                                                                      \
    F(void *, JxlEncoderCreate, const void *)                                                                          \
    F(void, JxlEncoderDestroy, void *)                                                                                 \
    F(int, JxlEncoderStoreJPEGMetadata, void *, int)                                                                   \
    F(void *, JxlEncoderFrameSettingsCreate, void *, const void *)                                                     \
    F(int, JxlEncoderFrameSettingsSetOption, void *, int, int64_t)                                                     \
    F(int, JxlEncoderAddJPEGFrame, const void *, const uint8_t *, size_t)                                              \
    F(void, JxlEncoderCloseInput, void *)                                                                              \
    F(int, JxlEncoderProcessOutput, void *, uint8_t **, size_t *)                                                      \
    F(void *, JxlDecoderCreate, const void *)                                                                          \
    F(void, JxlDecoderDestroy, void *)                                                                                 \
    F(int, JxlDecoderSubscribeEvents, void *, int)                                                                     \
    F(int, JxlDecoderSetInput, void *, const uint8_t *, size_t)                                                        \
    F(void, JxlDecoderCloseInput, void *)                                                                              \
    F(int, JxlDecoderProcessInput, void *)                                                                             \
    F(int, JxlDecoderSetJPEGBuffer, void *, uint8_t *, size_t)                                                         \
    F(size_t, JxlDecoderReleaseJPEGBuffer, void *)

/// The functions of the loaded libjxl.
typedef struct {
#define DARKROOM_JXL_FIELD(result, name, ...) result (*name)(__VA_ARGS__);
    DARKROOM_JXL_FUNCTIONS(DARKROOM_JXL_FIELD)
#undef DARKROOM_JXL_FIELD
} darkroom_jxl_functions;

/// Returns 0 without libjxl, or if it lacks one of the functions.
static inline int darkroom_jxl_load(darkroom_jxl_functions *jxl) {
    // Not by the name of the library, which differs in each version.
    void *process = dlopen(NULL, RTLD_LAZY);
    int found = process != NULL;
#define DARKROOM_JXL_LOAD(result, name, ...)                                                                           \
    jxl->name = found ? (result(*)(__VA_ARGS__))dlsym(process, #name) : NULL;                                          \
    found = found && jxl->name;
    DARKROOM_JXL_FUNCTIONS(DARKROOM_JXL_LOAD)
#undef DARKROOM_JXL_LOAD
    if (process) dlclose(process);
    return found;
}

static inline int darkroom_jxl_is_loaded(void) {
    darkroom_jxl_functions jxl;
    return darkroom_jxl_load(&jxl);
}

/// Writes up to `capacity` bytes of the file that holds the JPEG to `file`. Returns their number; 0 if libjxl does not
/// take the JPEG, or if the file has more bytes.
static inline size_t darkroom_jxl_encode(
    const darkroom_jxl_functions *jxl, const uint8_t *jpeg, size_t size, int effort, uint8_t *file, size_t capacity) {
    void *encoder = jxl->JxlEncoderCreate(NULL);
    if (!encoder) return 0;
    size_t rest = capacity;
    void *frame = NULL;
    if (jxl->JxlEncoderStoreJPEGMetadata(encoder, 1) == DARKROOM_JXL_SUCCESS)
        frame = jxl->JxlEncoderFrameSettingsCreate(encoder, NULL);
    int done = 0;
    if (frame && jxl->JxlEncoderFrameSettingsSetOption(frame, DARKROOM_JXL_EFFORT, effort) == DARKROOM_JXL_SUCCESS
        && jxl->JxlEncoderAddJPEGFrame(frame, jpeg, size) == DARKROOM_JXL_SUCCESS) {
        jxl->JxlEncoderCloseInput(encoder);
        uint8_t *next = file;
        done = jxl->JxlEncoderProcessOutput(encoder, &next, &rest) == DARKROOM_JXL_SUCCESS;
    }
    jxl->JxlEncoderDestroy(encoder);
    return done ? capacity - rest : 0;
}

/// Whether decoding the file returns the JPEG, byte by byte. `copy` has `size` bytes.
static inline int darkroom_jxl_holds(
    const darkroom_jxl_functions *jxl, const uint8_t *file, size_t file_size, const uint8_t *jpeg, size_t size,
    uint8_t *copy) {
    void *decoder = jxl->JxlDecoderCreate(NULL);
    if (!decoder) return 0;
    int same = 0;
    if (jxl->JxlDecoderSubscribeEvents(decoder, DARKROOM_JXL_RECONSTRUCTION | DARKROOM_JXL_IMAGE)
            == DARKROOM_JXL_SUCCESS
        && jxl->JxlDecoderSetInput(decoder, file, file_size) == DARKROOM_JXL_SUCCESS) {
        jxl->JxlDecoderCloseInput(decoder);
        // A longer JPEG would need more output, which is another status.
        same = jxl->JxlDecoderProcessInput(decoder) == DARKROOM_JXL_RECONSTRUCTION
            && jxl->JxlDecoderSetJPEGBuffer(decoder, copy, size) == DARKROOM_JXL_SUCCESS
            && jxl->JxlDecoderProcessInput(decoder) == DARKROOM_JXL_IMAGE
            && jxl->JxlDecoderReleaseJPEGBuffer(decoder) == 0 && memcmp(copy, jpeg, size) == 0;
    }
    jxl->JxlDecoderDestroy(decoder);
    return same;
}

/// The JPEG as a smaller JPEG XL, from which decoders restore it byte by byte, on the calling thread. NULL if libjxl
/// is not loaded, does not take the JPEG or does not restore it, or if that saves nothing. To be freed by `g_free`.
static inline void *darkroom_jxl_transcode(const void *jpeg, size_t size, int effort, size_t *file_size) {
    darkroom_jxl_functions jxl;
    if (size == 0 || !darkroom_jxl_load(&jxl)) return NULL;
    uint8_t *file = (uint8_t *)g_try_malloc(size), *copy = (uint8_t *)g_try_malloc(size);
    *file_size = file && copy ? darkroom_jxl_encode(&jxl, (const uint8_t *)jpeg, size, effort, file, size) : 0;
    int holds = *file_size > 0 && darkroom_jxl_holds(&jxl, file, *file_size, (const uint8_t *)jpeg, size, copy);
    g_free(copy);
    if (holds) return file;
    g_free(file);
    return NULL;
}

#endif
