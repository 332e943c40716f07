/// libvips for Swift: its headers, and functions for the macros that the importer cannot translate.
#ifndef DARKROOM_CVIPS_SHIM_H
#define DARKROOM_CVIPS_SHIM_H

#include <dlfcn.h>
#include <gio/gio.h>
#include <pango/pangocairo.h>
#include <string.h>
#include <vips/vips.h>
#include <zlib.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

static inline GType darkroom_type_boolean(void) { return G_TYPE_BOOLEAN; }
static inline GType darkroom_type_int(void) { return G_TYPE_INT; }
static inline GType darkroom_type_double(void) { return G_TYPE_DOUBLE; }
static inline GType darkroom_type_string(void) { return G_TYPE_STRING; }

/// The fundamental type behind `type`: G_TYPE_ENUM for an enumeration, and so on.
static inline GType darkroom_fundamental(GType type) { return G_TYPE_FUNDAMENTAL(type); }
static inline GType darkroom_type_enum(void) { return G_TYPE_ENUM; }
static inline GType darkroom_type_flags(void) { return G_TYPE_FLAGS; }

/// The declared type of a property of `object`; 0 if the property does not exist.
static inline GType darkroom_property_type(void *object, const char *name) {
    GParamSpec *spec = g_object_class_find_property(G_OBJECT_GET_CLASS(object), name);
    return spec ? G_PARAM_SPEC_VALUE_TYPE(spec) : 0;
}

static inline gulong darkroom_on_eval(
    VipsImage *image, void (*handler)(VipsImage *, VipsProgress *, void *), void *context) {
    return g_signal_connect(image, "eval", G_CALLBACK(handler), context);
}

/// Whether the operation is blocked. libvips itself checks only after the loaders of PDF and HEIF have parsed their
/// input.
static inline int darkroom_is_blocked(VipsOperation *operation) {
    return (VIPS_OPERATION_GET_CLASS(operation)->flags & VIPS_OPERATION_BLOCKED) != 0;
}

/// Whether the operation is a loader or a saver.
static inline int darkroom_is_foreign(VipsOperation *operation) { return VIPS_IS_FOREIGN(operation); }

static inline void darkroom_unref_outputs(VipsOperation *operation) {
    vips_object_unref_outputs(VIPS_OBJECT(operation));
}

/// The memory of the image's pixels in bytes, without computing them.
static inline guint64 darkroom_image_bytes(VipsImage *image) { return VIPS_IMAGE_SIZEOF_IMAGE(image); }

static inline int darkroom_getpoint(VipsImage *image, double **vector, int *count, int x, int y) {
    return vips_getpoint(image, vector, count, x, y, NULL);
}

static inline void darkroom_ignore_message(const char *domain, GLogLevelFlags level, const char *text, void *context) {}

/// libvips writes warnings about untrusted bytes to standard error, where a client could flood the log.
static inline void darkroom_silence_warnings(void) {
    g_log_set_handler("VIPS", G_LOG_LEVEL_MASK & ~G_LOG_LEVEL_ERROR, darkroom_ignore_message, NULL);
}

static inline gpointer darkroom_inflater_new(void) {
    return g_zlib_decompressor_new(G_ZLIB_COMPRESSOR_FORMAT_GZIP);
}

/// One step of decompression: 1 = finished, 0 = call again with the rest, -1 = corrupt or truncated.
static inline int darkroom_inflate(
    gpointer inflater, const void *in, gsize in_size, void *out, gsize out_size, gsize *taken, gsize *written) {
    GConverterResult result = g_converter_convert(
        G_CONVERTER(inflater), in, in_size, out, out_size, G_CONVERTER_INPUT_AT_END, taken, written, NULL);
    return result == G_CONVERTER_FINISHED ? 1 : result == G_CONVERTER_CONVERTED ? 0 : -1;
}

/// Bytes after the last pixel of an image in memory that libvips may read and write. The vector code of libvips 8.15
/// and later stores whole vectors, up to 15 bytes too much; libvips gives its own buffers the same 63 bytes.
#define DARKROOM_SPARE_BYTES 63

/// Makes `out` an image in memory like `in`, but `height` rows high; -1 if memory is exhausted. At least
/// DARKROOM_SPARE_BYTES follow the last row.
static inline int darkroom_allocate(VipsImage *in, VipsImage *out, int height) {
    if (vips_image_pipelinev(out, VIPS_DEMAND_STYLE_ANY, in, NULL)) return -1;
    guint64 row = VIPS_IMAGE_SIZEOF_LINE(out);
    guint64 rows = (guint64)height + (DARKROOM_SPARE_BYTES + row - 1) / row;
    if (rows > G_MAXINT) return -1;
    // libvips allocates whole rows.
    out->Ysize = (int)rows;
    int failed = vips_image_write_prepare(out);
    out->Ysize = height;
    return failed;
}

/// Computes one rectangle of `in` into the rows of `out` from `top` on. The rectangle is computed in libvips' own
/// memory: what vector code stores behind its rows would damage its neighbors, which may be done already.
static inline int darkroom_render_tile(VipsRegion *source, VipsImage *out, int top, const VipsRect *tile) {
    if (vips_region_prepare(source, tile)) return -1;
    for (int row = 0; row < tile->height; row++)
        memcpy(
            VIPS_IMAGE_ADDR(out, tile->left, top + tile->top + row),
            VIPS_REGION_ADDR(source, tile->left, tile->top + row), VIPS_IMAGE_SIZEOF_PEL(out) * tile->width);
    return 0;
}

/// Computes every row of `in` on the calling thread into the rows of `out` from `top` on; -1 if that fails or
/// `interrupted` returns true.
///
/// libvips' own sinks pass each strip of rows to another thread and back, even with a concurrency of one. An image
/// that libvips wants to compute in squares is not computed in strips: for each, a rotation would read nearly all of
/// its input.
static inline int darkroom_render(
    VipsImage *in, VipsImage *out, int top, int (*interrupted)(const void *), const void *context) {
    VipsRegion *source = vips_region_new(in);
    VipsRegion *target = vips_region_new(out);
    int tiled = in->dhint == VIPS_DEMAND_STYLE_SMALLTILE;
    int across = tiled ? 128 : in->Xsize, down = tiled ? 128 : 16;
    int failed = 0;
    for (int y = 0; y < in->Ysize && !failed; y += down)
        for (int x = 0; x < in->Xsize && !failed; x += across) {
            VipsRect from = {x, y, VIPS_MIN(across, in->Xsize - x), VIPS_MIN(down, in->Ysize - y)};
            VipsRect to = {x, top + y, from.width, from.height};
            failed = (interrupted && interrupted(context))
                || (tiled ? darkroom_render_tile(source, out, top, &from)
                          : vips_region_image(target, &to)
                            || vips_region_prepare_to(source, target, &from, to.left, to.top));
        }
    g_object_unref(target);
    g_object_unref(source);
    return failed ? -1 : 0;
}

/// Whether the pixels are in memory already.
static inline int darkroom_is_rendered(VipsImage *image) {
    return image->dtype == VIPS_IMAGE_SETBUF || image->dtype == VIPS_IMAGE_SETBUF_FOREIGN;
}

/// libheif, which belongs to a module of libvips, so that it may not be linked here; NULL if it is not loaded. To be
/// closed.
static inline void *darkroom_heif(void) {
    void *library = dlopen("libheif.so.1", RTLD_LAZY | RTLD_NOLOAD);
    return library ? library : dlopen("libheif.1.dylib", RTLD_LAZY | RTLD_NOLOAD);
}

/// Whether a function of libheif that takes a compression format returns true for it; true without such a library.
/// libheif has plug-ins for codecs, which libvips loads when it starts.
static inline int darkroom_heif_has(const char *function, int compression) {
    void *library = darkroom_heif();
    if (!library) return 1;
    int (*has)(int) = (int (*)(int))dlsym(library, function);
    int answer = has ? has(compression) != 0 : 1;
    dlclose(library);
    return answer;
}

/// The version of libheif, one byte for each part from the highest on; 0 without such a library.
static inline uint32_t darkroom_heif_version(void) {
    void *library = darkroom_heif();
    if (!library) return 0;
    uint32_t (*version)(void) = (uint32_t (*)(void))dlsym(library, "heif_get_version_number");
    uint32_t number = version ? version() : 0;
    dlclose(library);
    return number;
}

/// The version of libaom, as in its `aom_codec_version`: one byte for each of its three parts; 0 if it is not loaded.
static inline uint32_t darkroom_aom_version(void) {
    void *library = dlopen("libaom.so.3", RTLD_LAZY | RTLD_NOLOAD);
    if (!library) return 0;
    int (*version)(void) = (int (*)(void))dlsym(library, "aom_codec_version");
    uint32_t number = version ? (uint32_t)version() : 0;
    dlclose(library);
    return number;
}

/// A function of this process's libraries, which the headers may not declare; NULL if none exists.
static inline void *darkroom_function(const char *name) {
    void *process = dlopen(NULL, RTLD_LAZY);
    void *function = dlsym(process, name);
    dlclose(process);
    return function;
}

/// The name of the instructions that libvips' vector code runs on this processor, such as `AVX2`; NULL before libvips
/// 8.15, or without vector code.
static inline const char *darkroom_vector_target(void) {
    gint64 (*supported)(void) = (gint64(*)(void))darkroom_function("vips_vector_get_supported_targets");
    const char *(*name)(gint64) = (const char *(*)(gint64))darkroom_function("vips_vector_target_name");
    gint64 targets = supported && name ? supported() : 0;
    // Highway gives the best target the lowest number.
    return targets ? name(targets & -targets) : NULL;
}

/// Whether a library of this name is loaded in this process.
static inline int darkroom_is_loaded(const char *name) {
    void *library = dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
    if (library) dlclose(library);
    return library != NULL;
}

/// Reads the settings and lists of fonts. Unlike a font map of Pango, this starts no thread.
static inline void darkroom_load_fonts(void) {
    // Fontconfig is a library of Pango's. Its headers need not be installed.
    int (*initialize)(void) = (int (*)(void))darkroom_function("FcInit");
    if (initialize) initialize();
}

/// Sets for each character whether an installed font has it. Starts no thread either; -1 if fontconfig is not in use.
static inline int darkroom_find_characters(const uint32_t *characters, int count, uint8_t *found) {
    // As in fontconfig.h.
    typedef struct { int count, capacity; void **fonts; } FontSet;
    void *(*pattern)(void) = (void *(*)(void))darkroom_function("FcPatternCreate");
    void *(*objects)(void) = (void *(*)(void))darkroom_function("FcObjectSetCreate");
    int (*add)(void *, const char *) = (int (*)(void *, const char *))darkroom_function("FcObjectSetAdd");
    FontSet *(*list)(void *, void *, void *) = (FontSet * (*)(void *, void *, void *)) darkroom_function("FcFontList");
    int (*get)(void *, const char *, int, void **) =
        (int (*)(void *, const char *, int, void **))darkroom_function("FcPatternGetCharSet");
    int (*has)(void *, uint32_t) = (int (*)(void *, uint32_t))darkroom_function("FcCharSetHasChar");
    void (*free_pattern)(void *) = (void (*)(void *))darkroom_function("FcPatternDestroy");
    void (*free_objects)(void *) = (void (*)(void *))darkroom_function("FcObjectSetDestroy");
    void (*free_list)(FontSet *) = (void (*)(FontSet *))darkroom_function("FcFontSetDestroy");
    if (!pattern || !objects || !add || !list || !get || !has || !free_pattern || !free_objects || !free_list) return -1;
    void *all = pattern(), *properties = objects();
    add(properties, "charset");
    FontSet *set = list(NULL, all, properties);
    for (int index = 0; index < count; index++) {
        found[index] = 0;
        for (int font = 0; set && font < set->count && !found[index]; font++) {
            void *charset = NULL;
            found[index] = get(set->fonts[font], "charset", 0, &charset) == 0 && has(charset, characters[index]);
        }
    }
    if (set) free_list(set);
    free_objects(properties);
    free_pattern(all);
    return 0;
}

/// Calls back with the name of each family of fonts.
static inline void darkroom_list_fonts(void (*add)(const char *, void *), void *context) {
    PangoFontFamily **families = NULL;
    int count = 0;
    pango_font_map_list_families(pango_cairo_font_map_get_default(), &families, &count);
    for (int index = 0; index < count; index++) add(pango_font_family_get_name(families[index]), context);
    g_free(families);
}

/// Lays out plain text at 72 dots per inch, as libvips' own `text` does; -1 if no fonts are installed.
static inline int darkroom_measure_text(
    const char *text, const char *font, int width, int *across, int *down, int *top, int *missing) {
    PangoFontMap *map = pango_cairo_font_map_get_default();
    PangoFontFamily **families = NULL;
    int count = 0;
    pango_font_map_list_families(map, &families, &count);
    g_free(families);
    if (count == 0) return -1;
    PangoContext *context = pango_font_map_create_context(map);
    pango_cairo_context_set_resolution(context, 72);
    PangoLayout *layout = pango_layout_new(context);
    PangoFontDescription *description = pango_font_description_from_string(font);
    pango_layout_set_font_description(layout, description);
    pango_font_description_free(description);
    pango_layout_set_width(layout, width < 0 ? -1 : width * PANGO_SCALE);
    pango_layout_set_wrap(layout, PANGO_WRAP_WORD_CHAR);
    pango_layout_set_text(layout, text, -1);
    pango_layout_get_pixel_size(layout, across, down);
    PangoRectangle ink;
    pango_layout_get_pixel_extents(layout, &ink, NULL);
    *top = ink.y;
    *missing = pango_layout_get_unknown_glyphs_count(layout);
    g_object_unref(layout);
    g_object_unref(context);
    return 0;
}

/// glibc gives every thread an arena of its own and never returns their memory; two are enough here.
static inline void darkroom_limit_malloc_arenas(int arenas) {
#ifdef __GLIBC__
    mallopt(M_ARENA_MAX, arenas);
#else
    (void)arenas;
#endif
}

/// glibc keeps freed memory for later use; this returns it to the system. Takes about 0.2 ms per MiB.
static inline void darkroom_return_freed_pages(void) {
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

#include "heif.h"
#include "jxl.h"

#endif
