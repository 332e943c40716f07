#include "CResampling.h"

#include <math.h>
#include <string.h>
#include <vips/vips.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum {
    /// The light of white, which leaves room for the overshoot of sums. The darkest samples differ by five.
    WHITE = 16320,
    WEIGHT_BITS = 14,
    ROUNDING = 1 << (WEIGHT_BITS - 1),
    /// From a sample to that part of WHITE.
    MOST_SHIFT = 6,
    /// Samples that are summed at a time.
    BLOCK = 16,
};

// MARK: The curve

typedef struct {
    int16_t light[256];
    uint8_t sample[WHITE + 1];
} Tables;

static const Tables *make_tables(void) {
    Tables *tables = g_new(Tables, 1);
    for (int i = 0; i < 256; i++) {
        double sample = i / 255.0;
        double light = sample <= 0.04045 ? sample / 12.92 : pow((sample + 0.055) / 1.055, 2.4);
        tables->light[i] = (int16_t)lround(light * WHITE);
    }
    for (int i = 0; i <= WHITE; i++) {
        double light = i / (double)WHITE;
        double sample = light <= 0.0031308 ? light * 12.92 : 1.055 * pow(light, 1 / 2.4) - 0.055;
        tables->sample[i] = (uint8_t)lround(sample * 255);
    }
    return tables;
}

static const Tables *curve(void) {
    static gsize tables = 0;
    if (g_once_init_enter(&tables)) g_once_init_leave(&tables, (gsize)make_tables());
    return (const Tables *)tables;
}

static inline uint8_t encoded(const Tables *tables, int32_t sum) {
    int32_t light = (sum + ROUNDING) >> WEIGHT_BITS;
    return tables->sample[light < 0 ? 0 : light > WHITE ? WHITE : light];
}

// MARK: Sums

/// Two weights for pairs of samples.
static inline int32_t pair(const int16_t *weights) {
    int32_t both;
    memcpy(&both, weights, sizeof both);
    return both;
}

/// Sums rows, `count` samples each, which is a multiple of BLOCK.
static void sum_rows(const int16_t *const *rows, const int16_t *weights, int taps, int16_t *sums, int count) {
    for (int x = 0; x < count; x += BLOCK) {
#ifdef __SSE2__
        __m128i a = _mm_set1_epi32(ROUNDING), b = a, c = a, d = a;
        for (int tap = 0; tap < taps; tap += 2) {
            __m128i weight = _mm_set1_epi32(pair(weights + tap));
            const __m128i *one = (const __m128i *)(rows[tap] + x), *two = (const __m128i *)(rows[tap + 1] + x);
            __m128i p = _mm_loadu_si128(one), q = _mm_loadu_si128(two);
            a = _mm_add_epi32(a, _mm_madd_epi16(_mm_unpacklo_epi16(p, q), weight));
            b = _mm_add_epi32(b, _mm_madd_epi16(_mm_unpackhi_epi16(p, q), weight));
            p = _mm_loadu_si128(one + 1), q = _mm_loadu_si128(two + 1);
            c = _mm_add_epi32(c, _mm_madd_epi16(_mm_unpacklo_epi16(p, q), weight));
            d = _mm_add_epi32(d, _mm_madd_epi16(_mm_unpackhi_epi16(p, q), weight));
        }
        __m128i *out = (__m128i *)(sums + x);
        _mm_storeu_si128(out, _mm_packs_epi32(_mm_srai_epi32(a, WEIGHT_BITS), _mm_srai_epi32(b, WEIGHT_BITS)));
        _mm_storeu_si128(out + 1, _mm_packs_epi32(_mm_srai_epi32(c, WEIGHT_BITS), _mm_srai_epi32(d, WEIGHT_BITS)));
#else
        int32_t sum[BLOCK];
        for (int i = 0; i < BLOCK; i++) sum[i] = ROUNDING;
        for (int tap = 0; tap < taps; tap++)
            for (int i = 0; i < BLOCK; i++) sum[i] += (int32_t)weights[tap] * rows[tap][x + i];
        for (int i = 0; i < BLOCK; i++) sums[x + i] = (int16_t)(sum[i] >> WEIGHT_BITS);
#endif
    }
}

/// Writes one pixel of three bands. Reads one sample beyond the last tap.
static inline void write_colors(
    const Tables *tables, const int16_t *pixels, const int16_t *weights, int taps, VipsPel *out) {
#ifdef __SSE2__
    __m128i sum = _mm_set1_epi32(ROUNDING);
    for (int tap = 0; tap < taps; tap += 2, pixels += 6) {
        __m128i one = _mm_loadl_epi64((const __m128i *)pixels), two = _mm_loadl_epi64((const __m128i *)(pixels + 3));
        __m128i weight = _mm_set1_epi32(pair(weights + tap));
        sum = _mm_add_epi32(sum, _mm_madd_epi16(_mm_unpacklo_epi16(one, two), weight));
    }
    __m128i light = _mm_packs_epi32(_mm_srai_epi32(sum, WEIGHT_BITS), sum);
    light = _mm_max_epi16(_mm_min_epi16(light, _mm_set1_epi16(WHITE)), _mm_setzero_si128());
    out[0] = tables->sample[_mm_extract_epi16(light, 0)];
    out[1] = tables->sample[_mm_extract_epi16(light, 1)];
    out[2] = tables->sample[_mm_extract_epi16(light, 2)];
#else
    int32_t sums[3] = {0};
    for (int tap = 0; tap < taps; tap++, pixels += 3)
        for (int band = 0; band < 3; band++) sums[band] += (int32_t)weights[tap] * pixels[band];
    for (int band = 0; band < 3; band++) out[band] = encoded(tables, sums[band]);
#endif
}

// MARK: Rows in linear light

typedef struct {
    darkroom_light_axis columns, rows;
    /// The factor of squared differences of samples, which gives light, as a fraction of 1 << 16.
    uint16_t detail;
} Reduction;

/// The rows of boxes that the sums need at a time. Rows of the result are mostly asked for from top to bottom.
typedef struct {
    const Tables *tables;
    VipsRegion *source;
    /// The rows from `first` up to `end`, each at its number modulo `rows.taps`.
    int16_t *ring;
    int stride, first, end;
    /// The boxes of each row.
    int left, width;
    const int16_t **taps;
    int16_t *sums;
    uint32_t *box;
    /// The light of a row of pixels, if detail is restored.
    int16_t *pixels;
} Sequence;

static int boxes(int pixels, const darkroom_light_axis *axis) { return (pixels + axis->shrink - 1) / axis->shrink; }

/// Adds the light of `count` boxes, one row of them. With constants for `across` and `bands`, it takes half as long.
static inline __attribute__((always_inline)) void add_boxes(
    const int16_t *table, const VipsPel *samples, uint32_t *sums, int count, int across, int bands) {
    for (int x = 0; x < count; x++, sums += bands)
        for (int i = 0; i < across; i++, samples += bands)
            for (int band = 0; band < bands; band++) sums[band] += table[samples[band]];
}

/// Adds the light of the last box, in which copies of the last pixel follow on the image.
static void add_last_box(
    const int16_t *table, const VipsPel *samples, uint32_t *sums, int pixels, int across, int bands) {
    for (int i = 0; i < across; i++)
        for (int band = 0; band < bands; band++) sums[band] += table[samples[VIPS_MIN(i, pixels - 1) * bands + band]];
}

// MARK: Detail

/// A row of samples with their neighbors on all sides.
typedef struct {
    const VipsPel *samples, *before, *behind, *above, *below;
} Neighborhood;

static inline int mean(int one, int two) { return (one + two + 1) >> 1; }

/// Adds what light lacks: the mean of light is greater than the light of a mean, by about 1.3 times the variance of what
/// was averaged, whatever its brightness. The difference from the mean of the neighbors stands for this variance. No
/// mean of light is greater than the mean of samples.
static void add_detail(const Neighborhood *row, uint16_t detail, int16_t *light, int count) {
    int x = 0;
#ifdef __SSE2__
    const __m128i zero = _mm_setzero_si128(), factor = _mm_set1_epi16((short)detail);
#define SAMPLES(pointer) _mm_loadu_si128((const __m128i *)((pointer) + x))
    for (; x <= count - BLOCK; x += BLOCK) {
        __m128i samples = SAMPLES(row->samples);
        __m128i across = _mm_avg_epu8(SAMPLES(row->before), SAMPLES(row->behind));
        __m128i around = _mm_avg_epu8(across, _mm_avg_epu8(SAMPLES(row->above), SAMPLES(row->below)));
        __m128i difference = _mm_or_si128(_mm_subs_epu8(samples, around), _mm_subs_epu8(around, samples));
        __m128i low = _mm_unpacklo_epi8(difference, zero), high = _mm_unpackhi_epi8(difference, zero);
        low = _mm_mulhi_epu16(_mm_mullo_epi16(low, low), factor);
        high = _mm_mulhi_epu16(_mm_mullo_epi16(high, high), factor);
        __m128i *out = (__m128i *)(light + x);
        low = _mm_adds_epi16(low, _mm_loadu_si128(out)), high = _mm_adds_epi16(high, _mm_loadu_si128(out + 1));
        __m128i most = _mm_slli_epi16(_mm_unpacklo_epi8(samples, zero), MOST_SHIFT);
        _mm_storeu_si128(out, _mm_min_epi16(low, most));
        most = _mm_slli_epi16(_mm_unpackhi_epi8(samples, zero), MOST_SHIFT);
        _mm_storeu_si128(out + 1, _mm_min_epi16(high, most));
    }
#undef SAMPLES
#endif
    for (; x < count; x++) {
        int sample = row->samples[x];
        int difference = sample - mean(mean(row->before[x], row->behind[x]), mean(row->above[x], row->below[x]));
        int missing = (int)((uint32_t)(difference * difference) * detail >> 16);
        light[x] = (int16_t)VIPS_MIN(light[x] + missing, sample << MOST_SHIFT);
    }
}

/// The light of a row of pixels, from `left` on, with the detail that they lack.
static void fill_detailed(const Sequence *sequence, uint16_t detail, int left, int top, int count, int16_t *light) {
    const VipsImage *image = sequence->source->im;
    int bands = image->Bands, samples = count * bands;
    const VipsPel *row = VIPS_REGION_ADDR(sequence->source, left, top);
    const VipsPel *above = VIPS_REGION_ADDR(sequence->source, left, VIPS_MAX(top - 1, 0));
    const VipsPel *below = VIPS_REGION_ADDR(sequence->source, left, VIPS_MIN(top + 1, image->Ysize - 1));
    const int16_t *table = sequence->tables->light;
    for (int i = 0; i < samples; i++) light[i] = table[row[i]];
    // Beyond both ends are copies of the first pixel and the last.
    int start = left == 0 ? bands : 0, end = left + count == image->Xsize ? samples - bands : samples;
    int next = count > 1 ? bands : 0;
    if (start > 0) add_detail(&(Neighborhood){row, row, row + next, above, below}, detail, light, bands);
    if (end > start)
        add_detail(
            &(Neighborhood){row + start, row + start - bands, row + start + bands, above + start, below + start},
            detail, light + start, end - start);
    if (end < samples && count > 1)
        add_detail(
            &(Neighborhood){row + end, row + end - bands, row + end, above + end, below + end}, detail, light + end,
            bands);
}

/// Adds the light of a row of pixels to boxes. Copies of the last pixel follow on the image.
static void add_detailed(const int16_t *light, uint32_t *sums, int width, int pixels, int across, int bands) {
    for (int x = 0; x < width; x++, sums += bands)
        for (int i = x * across; i < (x + 1) * across; i++)
            for (int band = 0; band < bands; band++) sums[band] += light[VIPS_MIN(i, pixels - 1) * bands + band];
}

/// Adds the light of a row of pixels to boxes.
static void add_row(Sequence *sequence, const Reduction *reduction, int row) {
    const VipsImage *image = sequence->source->im;
    const int16_t *table = sequence->tables->light;
    int bands = image->Bands, across = reduction->columns.shrink, width = sequence->width;
    int left = sequence->left * across, pixels = VIPS_MIN(width * across, image->Xsize - left);
    uint32_t *box = sequence->box;
    if (reduction->detail) {
        fill_detailed(sequence, reduction->detail, left, row, pixels, sequence->pixels);
        add_detailed(sequence->pixels, box, width, pixels, across, bands);
        return;
    }
    const VipsPel *samples = VIPS_REGION_ADDR(sequence->source, left, row);
    int whole = pixels / across;
    if (bands == 3 && across == 2)
        add_boxes(table, samples, box, whole, 2, 3);
    else if (bands == 3)
        add_boxes(table, samples, box, whole, across, 3);
    else
        add_boxes(table, samples, box, whole, across, bands);
    if (whole < width)
        add_last_box(
            table, samples + whole * across * bands, box + whole * bands, pixels - whole * across, across, bands);
}

/// The light of a row of boxes.
static void fill_row(Sequence *sequence, const Reduction *reduction, int row) {
    const VipsImage *image = sequence->source->im;
    int bands = image->Bands, across = reduction->columns.shrink, down = reduction->rows.shrink;
    int16_t *light = sequence->ring + (size_t)(row % reduction->rows.taps) * sequence->stride;
    if (across == 1 && down == 1) {
        if (reduction->detail) {
            fill_detailed(sequence, reduction->detail, sequence->left, row, sequence->width, light);
            return;
        }
        const VipsPel *samples = VIPS_REGION_ADDR(sequence->source, sequence->left, row);
        for (int i = 0; i < sequence->width * bands; i++) light[i] = sequence->tables->light[samples[i]];
        return;
    }
    uint32_t *box = sequence->box;
    memset(box, 0, sizeof *box * sequence->width * bands);
    for (int y = row * down; y < (row + 1) * down; y++) add_row(sequence, reduction, VIPS_MIN(y, image->Ysize - 1));
    float share = 1.0f / (across * down);
    for (int i = 0; i < sequence->width * bands; i++) light[i] = (int16_t)(box[i] * share + 0.5f);
}

/// Makes the rows from `top` up to `bottom` of the source readable, as far as the ring lacks them.
static int prepare_rows(Sequence *sequence, const Reduction *reduction, int top, int bottom) {
    const VipsImage *image = sequence->source->im;
    int across = reduction->columns.shrink, down = reduction->rows.shrink;
    int kept = top >= sequence->first && top <= sequence->end ? sequence->end : top;
    if (kept >= bottom) return 0;
    VipsRect rect = {sequence->left * across, kept * down, sequence->width * across, (bottom - kept) * down};
    if (reduction->detail) vips_rect_marginadjust(&rect, 1);
    VipsRect all = {0, 0, image->Xsize, image->Ysize};
    vips_rect_intersectrect(&rect, &all, &rect);
    return vips_region_prepare(sequence->source, &rect);
}

static void fill_ring(Sequence *sequence, const Reduction *reduction, int top) {
    int last = boxes(sequence->source->im->Ysize, &reduction->rows) - 1, taps = reduction->rows.taps;
    if (top < sequence->first || top > sequence->end) sequence->first = sequence->end = top;
    sequence->first = top;
    for (; sequence->end < top + taps && sequence->end <= last; sequence->end++)
        fill_row(sequence, reduction, sequence->end);
    for (int tap = 0; tap < taps; tap++)
        sequence->taps[tap] = sequence->ring + (size_t)(VIPS_MIN(top + tap, last) % taps) * sequence->stride;
}

static void write_row(
    const Sequence *sequence, const Reduction *reduction, int bands, int left, int count, VipsPel *out) {
    const darkroom_light_axis *columns = &reduction->columns;
    for (int x = left; x < left + count; x++, out += bands) {
        const int16_t *pixels = sequence->sums + (columns->starts[x] - sequence->left) * bands;
        const int16_t *weights = columns->weights + (size_t)x * columns->taps;
        if (bands == 3) {
            write_colors(sequence->tables, pixels, weights, columns->taps, out);
        } else {
            int32_t sum = 0;
            for (int tap = 0; tap < columns->taps; tap++) sum += (int32_t)weights[tap] * pixels[tap];
            *out = encoded(sequence->tables, sum);
        }
    }
}

// MARK: The operation

static void release(void *of) {
    Sequence *sequence = of;
    VIPS_UNREF(sequence->source);
    g_free(sequence->ring);
    g_free(sequence->taps);
    g_free(sequence->sums);
    g_free(sequence->box);
    g_free(sequence->pixels);
    g_free(sequence);
}

static int stop(void *sequence, void *image, void *reduction) {
    release(sequence);
    return 0;
}

static void *start(VipsImage *out, void *in, void *of) {
    const Reduction *reduction = of;
    VipsImage *image = in;
    int samples = boxes(image->Xsize, &reduction->columns) * image->Bands;
    Sequence *sequence = g_new0(Sequence, 1);
    sequence->tables = curve();
    sequence->source = vips_region_new(image);
    // The sums of the last pixels may read boxes beyond the image.
    sequence->stride = VIPS_ROUND_UP(samples + reduction->columns.taps * image->Bands, BLOCK) + BLOCK;
    sequence->ring = g_try_malloc0_n((size_t)sequence->stride * reduction->rows.taps, sizeof(int16_t));
    sequence->taps = g_new(const int16_t *, reduction->rows.taps);
    sequence->sums = g_try_malloc0_n(sequence->stride, sizeof(int16_t));
    sequence->box = g_try_malloc_n(samples, sizeof(uint32_t));
    sequence->pixels = g_try_malloc_n((size_t)image->Xsize * image->Bands, sizeof(int16_t));
    if (sequence->source && sequence->ring && sequence->sums && sequence->box && sequence->pixels) return sequence;
    vips_error("darkroom_light_reduce", "out of memory");
    release(sequence);
    return NULL;
}

static int generate(VipsRegion *out, void *of, void *in, void *by, gboolean *stops) {
    Sequence *sequence = of;
    const Reduction *reduction = by;
    const darkroom_light_axis *columns = &reduction->columns, *rows = &reduction->rows;
    const VipsImage *image = in;
    const VipsRect *rect = &out->valid;
    int across = boxes(image->Xsize, columns), down = boxes(image->Ysize, rows);
    int left = columns->starts[rect->left];
    int right = VIPS_MIN(columns->starts[VIPS_RECT_RIGHT(rect) - 1] + columns->taps, across);
    if (left != sequence->left || right - left != sequence->width) sequence->first = sequence->end = 0;
    sequence->left = left;
    sequence->width = right - left;
    int bottom = VIPS_MIN(rows->starts[VIPS_RECT_BOTTOM(rect) - 1] + rows->taps, down);
    if (prepare_rows(sequence, reduction, rows->starts[rect->top], bottom)) return -1;
    for (int y = rect->top; y < VIPS_RECT_BOTTOM(rect); y++) {
        fill_ring(sequence, reduction, rows->starts[y]);
        sum_rows(
            sequence->taps, rows->weights + (size_t)y * rows->taps, rows->taps, sequence->sums,
            VIPS_ROUND_UP(sequence->width * image->Bands, BLOCK));
        write_row(sequence, reduction, image->Bands, rect->left, rect->width, VIPS_REGION_ADDR(out, rect->left, y));
    }
    return 0;
}

static darkroom_light_axis copied(const darkroom_light_axis *axis) {
    darkroom_light_axis copy = *axis;
    copy.starts = g_memdup2(axis->starts, sizeof(int32_t) * axis->count);
    copy.weights = g_memdup2(axis->weights, sizeof(int16_t) * axis->count * axis->taps);
    return copy;
}

static void free_reduction(void *of) {
    Reduction *reduction = of;
    g_free((void *)reduction->columns.starts);
    g_free((void *)reduction->columns.weights);
    g_free((void *)reduction->rows.starts);
    g_free((void *)reduction->rows.weights);
    g_free(reduction);
}

void *darkroom_light_reduce(
    void *of, const darkroom_light_axis *columns, const darkroom_light_axis *rows, double detail) {
    VipsImage *image = of;
    VipsImage *out = vips_image_new();
    Reduction *reduction = g_new(Reduction, 1);
    *reduction = (Reduction){copied(columns), copied(rows), (uint16_t)lround(detail * WHITE / (255 * 255) * (1 << 16))};
    g_object_set_data_full(G_OBJECT(out), "darkroom-reduction", reduction, free_reduction);
    g_object_set_data_full(G_OBJECT(out), "darkroom-source", g_object_ref(image), g_object_unref);
    if (vips_image_pipelinev(out, VIPS_DEMAND_STYLE_THINSTRIP, image, NULL)) goto failed;
    out->Xsize = columns->count;
    out->Ysize = rows->count;
    if (vips_image_generate(out, start, generate, stop, image, reduction)) goto failed;
    return out;
failed:
    g_object_unref(out);
    return NULL;
}
