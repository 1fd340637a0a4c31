/* SPDX-License-Identifier: BSD-2-Clause */
#include "parameter_options.h"

#include <stdlib.h>
#include <string.h>

#include "numbers.h"

static const char *const DRIVE_TERM_NAMES[DRIVE_TERMS] = {"viscous", "coulomb",  "offset",
                                                          "inertia", "stribeck", "load"};

exit_code number_option_read(const arguments *args, option wanted, double standard, double *value) {
    const char *text = args->value[wanted];
    *value = standard;
    if (text && !(parse_number(text, value) && *value >= 0)) {
        return complain(EXIT_USAGE, "--%s %s: pass a number that is not negative", OPTION_TEXTS[wanted].name, text);
    }
    return EXIT_OK;
}

/* Reads --drives: names of terms separated by commas, or none. */
static exit_code read_terms(const char *text, parameter_options *result) {
    result->ignore_drives = text && strcmp(text, "none") == 0;
    for (const char *at = text; at && !result->ignore_drives; at = *at == ',' ? at + 1 : NULL) {
        size_t length = strcspn(at, ","), term = 0;
        while (term < DRIVE_TERMS &&
               (strlen(DRIVE_TERM_NAMES[term]) != length || strncmp(DRIVE_TERM_NAMES[term], at, length) != 0)) {
            term++;
        }
        if (term == DRIVE_TERMS || result->term_count == DRIVE_TERMS) {
            return complain(EXIT_USAGE,
                            "--drives %s: pass none, or some of viscous,coulomb,offset,inertia,stribeck,load", text);
        }
        result->terms[result->term_count++] = (dyn_client_drive_term)term;
        at += length;
    }
    return EXIT_OK;
}

/* Reads --links: names separated by commas. */
static exit_code read_links(const char *text, parameter_options *result) {
    if (!text) {
        return EXIT_OK;
    }
    result->link_names = strdup(text);
    result->links = calloc(strlen(text) + 1, sizeof *result->links);
    if (!result->link_names || !result->links) {
        return complain_memory();
    }
    char *rest = result->link_names;
    for (char *name = strsep(&rest, ","); name; name = strsep(&rest, ",")) {
        result->links[result->link_count++] = name;
    }
    return EXIT_OK;
}

exit_code parameter_options_read(const arguments *args, parameter_options *result) {
    *result = (parameter_options){.payload_link = args->value[OPTION_PAYLOAD_LINK],
                                  .drives_only = args->value[OPTION_DRIVES_ONLY] != NULL};
    exit_code code = read_terms(args->value[OPTION_DRIVES], result);
    if (code == EXIT_OK) {
        code = number_option_read(args, OPTION_STRIBECK_VELOCITY, 0, &result->stribeck_velocity);
    }
    return code == EXIT_OK ? read_links(args->value[OPTION_LINKS], result) : code;
}

void parameter_options_free(parameter_options *freed) {
    free(freed->links);
    free(freed->link_names);
}
