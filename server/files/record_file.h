/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes and reads files of records: each record is its size and a CRC-32 of size and bytes, both 4 bytes
 * little-endian, and the bytes.
 *
 * A reader stops at the first record that is cut off or changed, so that it reports a prefix of what was written.
 */
#ifndef SERVER_STORAGE_RECORD_FILE_H
#define SERVER_STORAGE_RECORD_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of the header before each record, and the largest number of bytes of a record. */
enum { RECORD_HEADER = 8, RECORD_MOST = 128 << 20 };

/* Writes a record at the offset *end and advances *end to its end. On failure returns false with errno: EFBIG for more
 * than RECORD_MOST bytes. The file then has *end bytes as before. */
bool record_append(int file, uint64_t *end, const void *bytes, size_t size);

typedef struct record_reader {
    uint8_t *bytes;
    size_t size, at;
} record_reader;

/* Reads a regular file into memory. Returns false with errno. */
bool record_reader_open(record_reader *r, const char *path);
void record_reader_close(record_reader *r);

/* Reads the next record. Returns false at the end of the file, where `at` equals `size`, and at a damaged record, where
 * it is less. The bytes are valid until the reader is closed. */
bool record_reader_next(record_reader *r, const uint8_t **bytes, size_t *size);

#endif
