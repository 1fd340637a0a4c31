/* The digest that names a model by its content. */
#include "models/digest.h"

#include <mbedtls/sha256.h>
#include <stdio.h>

void digest_write(const void *bytes, size_t size, char digest[DIGEST_SIZE]) {
    unsigned char hash[32];
    mbedtls_sha256_ret(bytes, size, hash, 0);
    int used = snprintf(digest, DIGEST_SIZE, "sha256:");
    for (size_t i = 0; i < sizeof hash; i++) {
        used += snprintf(digest + used, DIGEST_SIZE - (size_t)used, "%02x", hash[i]);
    }
}
