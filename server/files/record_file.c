/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes and reads files of records with checksums. */
#include "files/record_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "files/regular_file.h"

/* Computes the CRC-32 of IEEE 802.3 over some bytes, continued from `crc`, four bits at a time. */
static uint32_t crc32(uint32_t crc, const uint8_t *bytes, size_t size) {
    static const uint32_t table[16] = {
        0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
        0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c, 0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
    };
    crc = ~crc;
    for (size_t i = 0; i < size; i++) {
        crc ^= bytes[i];
        crc = (crc >> 4) ^ table[crc & 15];
        crc = (crc >> 4) ^ table[crc & 15];
    }
    return ~crc;
}

static void write_word(uint8_t *bytes, uint32_t value) {
    for (int i = 0; i < 4; i++) {
        bytes[i] = (uint8_t)(value >> (8 * i));
    }
}

static uint32_t read_word(const uint8_t *bytes) {
    uint32_t value = 0;
    for (int i = 0; i < 4; i++) {
        value |= (uint32_t)bytes[i] << (8 * i);
    }
    return value;
}

static bool write_all(int file, uint64_t at, const uint8_t *bytes, size_t size) {
    while (size > 0) {
        ssize_t written = pwrite(file, bytes, size, (off_t)at);
        if (written < 0 && errno != EINTR) {
            return false;
        }
        if (written > 0) {
            bytes += written;
            at += (uint64_t)written;
            size -= (size_t)written;
        }
    }
    return true;
}

/* Writes the bytes before the header, so that a header in the file implies that its bytes are there if the system
 * writes in order. The checksum detects all other cases. */
bool record_append(int file, uint64_t *end, const void *bytes, size_t size) {
    uint8_t header[RECORD_HEADER];
    if (size > RECORD_MOST) {
        errno = EFBIG;
        return false;
    }
    write_word(header, (uint32_t)size);
    write_word(header + 4, crc32(crc32(0, header, 4), bytes, size));
    if (write_all(file, *end + RECORD_HEADER, bytes, size) && write_all(file, *end, header, sizeof header)) {
        *end += RECORD_HEADER + size;
        return true;
    }
    int reason = errno;
    if (ftruncate(file, (off_t)*end) != 0) {
        reason = errno;
    }
    errno = reason;
    return false;
}

bool record_reader_open(record_reader *r, const char *path) {
    *r = (record_reader){0};
    r->bytes = (uint8_t *)regular_file_read(path, O_NOFOLLOW, SIZE_MAX / 2, &r->size);
    return r->bytes != NULL;
}

void record_reader_close(record_reader *r) {
    free(r->bytes);
    *r = (record_reader){0};
}

bool record_reader_next(record_reader *r, const uint8_t **bytes, size_t *size) {
    size_t rest = r->size - r->at;
    if (rest < RECORD_HEADER) {
        return false;
    }
    const uint8_t *header = r->bytes + r->at;
    size_t claimed = read_word(header);
    if (claimed > RECORD_MOST || claimed > rest - RECORD_HEADER ||
        read_word(header + 4) != crc32(crc32(0, header, 4), header + RECORD_HEADER, claimed)) {
        return false;
    }
    *bytes = header + RECORD_HEADER;
    *size = claimed;
    r->at += RECORD_HEADER + claimed;
    return true;
}
