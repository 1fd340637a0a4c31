/* SPDX-License-Identifier: BSD-2-Clause */
/* Computes and recognizes the digests that identify models. */
#include "models/digest.h"

#include <mbedtls/md.h>
#include <stdio.h>
#include <string.h>

bool digest_is_one(const char *text) {
    return strncmp(text, "sha256:", 7) == 0 && strlen(text) == DIGEST_SIZE - 1 &&
           strspn(text + 7, "0123456789abcdef") == DIGEST_SIZE - 1 - 7;
}

void digest_write(const void *bytes, size_t size, char digest[DIGEST_SIZE]) {
    unsigned char hash[32];
    /* Computes the hash with mbedtls_md, since the one-call function of mbedtls/sha256.h has different names in mbedTLS
     * 2 and 3. */
    mbedtls_md(mbedtls_md_info_from_type(MBEDTLS_MD_SHA256), bytes, size, hash);
    int used = snprintf(digest, DIGEST_SIZE, "sha256:");
    for (size_t i = 0; i < sizeof hash; i++) {
        used += snprintf(digest + used, DIGEST_SIZE - (size_t)used, "%02x", hash[i]);
    }
}
