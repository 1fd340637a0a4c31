/* SPDX-License-Identifier: BSD-2-Clause */
/* Paths of the values that errors of the library are about, in the form of a request's fields. */
#include "methods/error_path.h"

#include <stdio.h>

const char *error_path(const dyn_error_site *site, const char *name, char path[ERROR_PATH_SIZE]) {
    char item[32] = "", index[32] = "";
    if (site->has_item) {
        snprintf(item, sizeof item, "[%zu]", site->item);
    }
    if (site->has_index) {
        snprintf(index, sizeof index, "[%zu]", site->index);
    }
    snprintf(path, ERROR_PATH_SIZE, "%.48s%s%s%.32s%s", name, item, site->part ? "." : "", site->part ? site->part : "",
             index);
    return path;
}
