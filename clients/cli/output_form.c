/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Determines the form of a command's results.
 */
#include "output_form.h"

exit_code output_form_read(const arguments *args, output_form *form) {
    const char *csv = args->value[OPTION_CSV], *json = args->value[OPTION_JSON];
    *form = csv ? OUTPUT_CSV : json ? OUTPUT_JSON : OUTPUT_TABLE;
    return csv && json ? complain(EXIT_USAGE, "pass one of --csv and --json") : EXIT_OK;
}
