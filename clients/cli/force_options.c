/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads the option --force: external forces on links.
 */
#include "force_options.h"

#include <stdlib.h>
#include <string.h>

#include "diagnostics.h"
#include "numbers.h"
#include "state_parsers.h"

/* Reads "LINK:FX,FY,FZ[,NX,NY,NZ]" from `text`, a copy of the argument `whole` that is changed. The last colon
 * separates, since names may contain colons. Reports errors. */
static exit_code read_force(const char *whole, dyn_client_reference_frame frame, char *text, double values[6],
                            dyn_client_external_force *force) {
    char message[PARSE_MESSAGE_SIZE];
    char *colon = strrchr(text, ':');
    size_t count = 1;
    for (const char *c = colon; c && *c != '\0'; c++) {
        count += *c == ',';
    }
    if (!colon || colon == text || (count != 3 && count != 6) ||
        !parse_numbers(colon + 1, count, values, message, sizeof message)) {
        return complain(EXIT_USAGE, "--force %s: pass LINK:FX,FY,FZ in N, and ,NX,NY,NZ in N m for a torque", whole);
    }
    *colon = '\0';
    *force = (dyn_client_external_force){
        .link = text, .reference_frame = frame, .force = values, .torque = values + 3, .rows = 1};
    return EXIT_OK;
}

exit_code force_options_read(const arguments *args, force_options *forces) {
    size_t frame, length = 1;
    *forces = (force_options){.count = args->force_count};
    exit_code code =
        arguments_choice(args, OPTION_FORCE_REFERENCE_FRAME, REFERENCE_FRAMES, REFERENCE_FRAME_NAMES, 0, &frame);
    if (code != EXIT_OK) {
        return code;
    }
    for (size_t i = 0; i < args->force_count; i++) {
        length += strlen(args->forces[i]) + 1;
    }
    forces->list = calloc(args->force_count + 1, sizeof *forces->list);
    forces->values = calloc(args->force_count + 1, 6 * sizeof(double));
    forces->links = calloc(length, 1);
    if (!forces->list || !forces->values || !forces->links) {
        return complain_memory();
    }
    char *text = forces->links;
    for (size_t i = 0; i < args->force_count && code == EXIT_OK; i++) {
        char *end = stpcpy(text, args->forces[i]);
        code = read_force(args->forces[i], (dyn_client_reference_frame)(frame + DYN_CLIENT_REFERENCE_FRAME_LOCAL), text,
                          forces->values + 6 * i, &forces->list[i]);
        text = end + 1;
    }
    return code;
}

void force_options_free(force_options *forces) {
    free(forces->list);
    free(forces->values);
    free(forces->links);
    *forces = (force_options){0};
}
