/* SPDX-License-Identifier: BSD-2-Clause */
#include "flexible_options.h"

#include <stdlib.h>
#include <string.h>

#include "numbers.h"
#include "state_parsers.h"

/* Numbers of a link without and with a second rigidity. */
enum { NUMBERS = 12, MOST_NUMBERS = 13 };

static size_t count_numbers(const char *list) {
    size_t count = 1;
    for (const char *c = list; *c != '\0'; c++) {
        count += *c == ',';
    }
    return count;
}

/* Reads one link from `text`, a copy of the argument `whole` that is changed and holds the name. The last colon
 * separates. Reports errors. */
static exit_code read_link(const char *whole, char *text, dyn_client_flexible_link *link) {
    char message[PARSE_MESSAGE_SIZE];
    double x[MOST_NUMBERS] = {0};
    char *colon = strrchr(text, ':');
    size_t count = colon ? count_numbers(colon + 1) : 0;
    bool is_read = colon && colon != text && (count == NUMBERS || count == MOST_NUMBERS) &&
                   parse_numbers(colon + 1, count, x, message, sizeof message);
    double modes = is_read ? x[count - 1] : 0;
    if (!(modes >= 1 && modes <= 16 && modes == (double)(size_t)modes)) {
        return complain(EXIT_USAGE,
                        "--flexible %s: pass LINK: and 12 or 13 numbers: both ends X,Y,Z in m, the mass in kg, the "
                        "direction, EI in N m^2, perhaps that normal to it, and 1 to 16 modes",
                        whole);
    }
    *colon = '\0';
    *link = (dyn_client_flexible_link){
        .link = text, .mass = x[6], .rigidity = x[10], .transverse_rigidity = count == MOST_NUMBERS ? x[11] : 0};
    memcpy(link->start, x, sizeof link->start);
    memcpy(link->end, x + 3, sizeof link->end);
    memcpy(link->direction, x + 7, sizeof link->direction);
    link->modes = (size_t)modes;
    return EXIT_OK;
}

/* Reads numbers of all modes, of which there are `count`, from one option. NULL: the option is absent. */
static exit_code read_modes(const arguments *args, option from, size_t count, double **modes) {
    const char *text = args->value[from];
    char message[PARSE_MESSAGE_SIZE];
    if (!text) {
        return EXIT_OK;
    }
    *modes = calloc(count + 1, sizeof **modes);
    if (!*modes) {
        return complain_memory();
    }
    if (!parse_numbers(text, count, *modes, message, sizeof message)) {
        return complain(EXIT_USAGE, "--%s %s: %s: pass one number for each of %zu modes", OPTION_TEXTS[from].name, text,
                        message, count);
    }
    return EXIT_OK;
}

exit_code flexible_options_read(const arguments *args, flexible_options *result) {
    static const option states[4] = {OPTION_MODE_Q, OPTION_MODE_V, OPTION_MODE_A, OPTION_MODE_TAU};
    size_t length = 1, modes = 0;
    exit_code code = EXIT_OK;
    *result = (flexible_options){.chain = DYN_CLIENT_FLEXIBLE_CHAIN_INIT(0)};
    for (size_t i = 0; i < args->flexible_count; i++) {
        length += strlen(args->flexible[i]) + 1;
    }
    result->links = calloc(args->flexible_count + 1, sizeof *result->links);
    result->names = calloc(length, 1);
    if (!result->links || !result->names) {
        return complain_memory();
    }
    char *text = result->names;
    for (size_t i = 0; i < args->flexible_count && code == EXIT_OK; i++) {
        char *end = stpcpy(text, args->flexible[i]);
        code = read_link(args->flexible[i], text, &result->links[i]);
        modes += result->links[i].modes * (result->links[i].transverse_rigidity != 0 ? 2U : 1U);
        text = end + 1;
    }
    for (int k = 0; k < 4 && code == EXIT_OK; k++) {
        code = read_modes(args, states[k], modes, &result->modes[k]);
    }
    result->chain.link_count = args->flexible_count;
    result->chain.links = result->links;
    result->chain.mode_q = result->modes[0], result->chain.mode_v = result->modes[1];
    result->chain.mode_a = result->modes[2], result->chain.mode_tau = result->modes[3];
    return code;
}

void flexible_options_free(flexible_options *freed) {
    free(freed->links);
    free(freed->names);
    for (int k = 0; k < 4; k++) {
        free(freed->modes[k]);
    }
    *freed = (flexible_options){0};
}
