/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Converts any text to a JSON string.
 */
#include "json_text.h"

#include <stdlib.h>
#include <string.h>

json_t *json_text(const char *text) {
    json_t *string = json_string(text);
    char *mended = !string ? strdup(text) : NULL;
    if (!mended) {
        return string;
    }
    for (char *c = mended; *c != '\0'; c++) {
        if ((unsigned char)*c >= 0x80) {
            *c = '?';
        }
    }
    string = json_string(mended);
    free(mended);
    return string;
}
