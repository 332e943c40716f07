#define _GNU_SOURCE
#include "CMemory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/// The header before the first byte of a block. With it, a block can be freed by its address alone.
struct header {
    /// The start of the mapping, or of the allocation.
    void *start;
    /// The length of the mapping; 0 for an allocation.
    size_t mapped;
};

_Static_assert(sizeof(struct header) <= 16, "a block after the header stays aligned");
#define HEADER_BYTES 16

static struct header *header_of(void *block) { return (struct header *)((char *)block - HEADER_BYTES); }

void *darkroom_block_map(int file, size_t size) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (size == 0 || size > SIZE_MAX - 2 * page) return NULL;
    size_t mapped = page + (size + page - 1) / page * page;
    char *start = mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (start == MAP_FAILED) return NULL;
    char *block = start + page;
    // Writable but private: a buffer that is changed gets pages of its own, and the file stays as it is.
    if (mmap(block, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, file, 0) == MAP_FAILED) {
        munmap(start, mapped);
        return NULL;
    }
    *header_of(block) = (struct header){start, mapped};
    return block;
}

void *darkroom_block_allocate(size_t size) {
    char *start = size <= SIZE_MAX - HEADER_BYTES ? malloc(HEADER_BYTES + size) : NULL;
    if (!start) abort();
    char *block = start + HEADER_BYTES;
    *header_of(block) = (struct header){start, 0};
    return block;
}

void *darkroom_block_reallocate(void *block, size_t old_size, size_t size) {
    void *other = darkroom_block_allocate(size);
    if (!block) return other;
    memcpy(other, block, old_size < size ? old_size : size);
    darkroom_block_free(block);
    return other;
}

void darkroom_block_free(void *block) {
    struct header header = *header_of(block);
    if (header.mapped) munmap(header.start, header.mapped);
    else free(header.start);
}

void darkroom_block_copy(void *target, const void *source, size_t size) { memcpy(target, source, size); }
