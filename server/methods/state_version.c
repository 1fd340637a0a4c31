/* SPDX-License-Identifier: BSD-2-Clause */
/* Version of the files of the state directory. */
#include "methods/state_version.h"

#include <dynamics/text.h>
#include <stdio.h>

void state_version_fill(Dynamics__V1__StateVersion *version) {
    static char daemon[] = DYNAMICSD_VERSION;
    dynamics__v1__state_version__init(version);
    version->format = STATE_FORMAT;
    version->daemon = daemon;
}

bool state_version_is_later(const Dynamics__V1__StateVersion *version, char text[UNKNOWN_FIELD_SIZE]) {
    char daemon[64];
    if (!version || version->format <= STATE_FORMAT) {
        return false;
    }
    dyn_text_print(version->daemon, daemon, sizeof daemon);
    snprintf(text, UNKNOWN_FIELD_SIZE, "the file has format %u, and this daemon reads up to %d: dynamicsd %s wrote it",
             version->format, STATE_FORMAT, daemon);
    return true;
}
