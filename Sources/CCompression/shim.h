/// The decoders of HTTP's content codings for Swift, behind one interface: zlib, Brotli and Zstandard.
#ifndef DARKROOM_CCOMPRESSION_SHIM_H
#define DARKROOM_CCOMPRESSION_SHIM_H

#include <brotli/decode.h>
#include <stdint.h>
#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>

typedef enum { DARKROOM_GZIP, DARKROOM_ZLIB, DARKROOM_DEFLATE, DARKROOM_BROTLI, DARKROOM_ZSTD } darkroom_coding;

typedef struct {
    darkroom_coding coding;
    z_stream zlib;
    BrotliDecoderState *brotli;
    ZSTD_DStream *zstd;
    /// The bytes taken of the current frame's magic number, which has four.
    int zstd_magic;
} darkroom_decoder;

static inline void darkroom_decoder_free(darkroom_decoder *decoder) {
    switch (decoder->coding) {
        case DARKROOM_BROTLI: BrotliDecoderDestroyInstance(decoder->brotli); break;
        case DARKROOM_ZSTD: ZSTD_freeDStream(decoder->zstd); break;
        default: inflateEnd(&decoder->zlib);
    }
    free(decoder);
}

/// NULL if memory is exhausted.
static inline darkroom_decoder *darkroom_decoder_new(darkroom_coding coding) {
    darkroom_decoder *decoder = calloc(1, sizeof *decoder);
    if (!decoder) return NULL;
    decoder->coding = coding;
    int made = 0;
    switch (coding) {
        case DARKROOM_BROTLI:
            decoder->brotli = BrotliDecoderCreateInstance(NULL, NULL, NULL);
            made = decoder->brotli != NULL;
            break;
        case DARKROOM_ZSTD:
            decoder->zstd = ZSTD_createDStream();
            // RFC 9659 §3: windows of at most 8 MiB.
            made = decoder->zstd && !ZSTD_isError(ZSTD_DCtx_setParameter(decoder->zstd, ZSTD_d_windowLogMax, 23));
            break;
        case DARKROOM_GZIP: made = inflateInit2(&decoder->zlib, 16 + MAX_WBITS) == Z_OK; break;
        case DARKROOM_ZLIB: made = inflateInit2(&decoder->zlib, MAX_WBITS) == Z_OK; break;
        case DARKROOM_DEFLATE: made = inflateInit2(&decoder->zlib, -MAX_WBITS) == Z_OK; break;
    }
    if (made) return decoder;
    darkroom_decoder_free(decoder);
    return NULL;
}

/// Decodes up to `*in_size` bytes into at most `*out_size` bytes and sets both to what was used. 1 = the data ended,
/// 0 = call again with more input or room, -1 = corrupt.
static inline int darkroom_decode(
    darkroom_decoder *decoder, const void *in, size_t *in_size, void *out, size_t *out_size) {
    switch (decoder->coding) {
        case DARKROOM_BROTLI: {
            size_t in_left = *in_size, out_left = *out_size;
            const uint8_t *next = in;
            uint8_t *room = out;
            BrotliDecoderResult result = BrotliDecoderDecompressStream(
                decoder->brotli, &in_left, &next, &out_left, &room, NULL);
            *in_size -= in_left;
            *out_size -= out_left;
            return result == BROTLI_DECODER_RESULT_SUCCESS ? 1 : result == BROTLI_DECODER_RESULT_ERROR ? -1 : 0;
        }
        case DARKROOM_ZSTD: {
            ZSTD_inBuffer input = {in, 0, 0};
            ZSTD_outBuffer output = {out, *out_size, 0};
            // Byte by byte, libzstd does not recognize the formats before 1.0, which RFC 8878 leaves out.
            for (; decoder->zstd_magic < 4 && input.size < *in_size; decoder->zstd_magic++) {
                input.size++;
                if (ZSTD_isError(ZSTD_decompressStream(decoder->zstd, &output, &input))) return -1;
            }
            input.size = *in_size;
            size_t result = ZSTD_decompressStream(decoder->zstd, &output, &input);
            *in_size = input.pos;
            *out_size = output.pos;
            if (result == 0) decoder->zstd_magic = 0;
            return ZSTD_isError(result) ? -1 : result == 0;
        }
        default: {
            z_stream *zlib = &decoder->zlib;
            zlib->next_in = (Bytef *)in;
            zlib->avail_in = (uInt)*in_size;
            zlib->next_out = out;
            zlib->avail_out = (uInt)*out_size;
            int result = inflate(zlib, Z_NO_FLUSH);
            *in_size -= zlib->avail_in;
            *out_size -= zlib->avail_out;
            return result == Z_STREAM_END ? 1 : result == Z_OK || result == Z_BUF_ERROR ? 0 : -1;
        }
    }
}

/// Prepares for another gzip member or Zstandard frame after the end of one.
static inline int darkroom_decoder_reset(darkroom_decoder *decoder) {
    switch (decoder->coding) {
        case DARKROOM_GZIP: return inflateReset(&decoder->zlib) == Z_OK;
        case DARKROOM_ZSTD: return 1;
        default: return 0;
    }
}
#endif
