/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Prints the result of a command that only reports success.
 */
#include "done_output.h"

#include <stdio.h>

#include "json_writer.h"

void print_done(const arguments *args, const char *name, const char *verb) {
    if (!args->value[OPTION_JSON]) {
        printf("%s: %s\n", name, verb);
        return;
    }
    json_writer writer = {.stream = stdout};
    emit_begin_object(&writer);
    emit_key(&writer, verb);
    emit_string(&writer, name);
    emit_end_object(&writer);
    emit_finish(&writer);
}
