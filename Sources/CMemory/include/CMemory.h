/// Memory files, mappings of them that another owner frees by address alone, the pages of loaded code, and files that
/// the system has in memory.
///
/// Functions that return a number return a negative `errno` on failure.
#ifndef DARKROOM_CMEMORY_H
#define DARKROOM_CMEMORY_H

#include <stddef.h>
#include <sys/types.h>

#if defined(__clang__)
#pragma clang assume_nonnull begin
#endif

// files.c

/// Creates an empty memory file, closed on exec, and returns its descriptor (memfd_create(2)). -ENOSYS on systems other
/// than Linux.
int darkroom_memory_file(void);
/// Seals the memory file: no holder of a descriptor can change its bytes or its size. It must not be mapped for
/// writing.
int darkroom_seal(int file);
/// Whether all of these seals are set on the file.
int darkroom_is_sealed(int file);

// blocks.c

/// Maps the first `size` bytes of a file, at least 1, as a block. Writing to it changes a private copy. NULL on
/// failure.
void *_Nullable darkroom_block_map(int file, size_t size);
/// Allocates a block of uninitialized memory. Ends the process if there is none, as memory for Swift objects does.
void *_Nullable darkroom_block_allocate(size_t size);
/// Allocates a block of `size` bytes that begins like `block`, and frees that.
void *_Nullable darkroom_block_reallocate(void *_Nullable block, size_t old_size, size_t size);
/// Unmaps or frees a block.
void darkroom_block_free(void *block);
/// Copies bytes from one block to another.
void darkroom_block_copy(void *target, const void *source, size_t size);

// code.c

/// Unmaps the pages of all loaded code. They stay in the system's memory, and each is mapped again when it is used.
/// Does nothing on systems other than Linux.
void darkroom_release_code(void);

// cached.c

/// Opens a file like open(2), but only if the system has its path in memory (openat2(2) with RESOLVE_CACHED): -EAGAIN
/// otherwise, -ENOSYS on systems that cannot tell.
int darkroom_open_cached(const char *path, int flags);
/// Reads like pread(2), but only what the system has in memory (preadv2(2) with RWF_NOWAIT): -1 with an `errno` such as
/// EAGAIN otherwise. It may read fewer bytes.
ssize_t darkroom_read_cached(int file, void *bytes, size_t count, off_t offset);
/// `darkroom_read_cached` on a thread that does not wait for devices, where it also fails at the end of the file;
/// pread(2) on any other.
ssize_t darkroom_pread(int file, void *bytes, size_t count, off_t offset);
/// Whether this thread waits for devices in `darkroom_pread`. All threads do at first.
void darkroom_wait_for_devices(int waits);

#if defined(__clang__)
#pragma clang assume_nonnull end
#endif

#endif
