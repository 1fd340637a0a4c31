/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Parses the command line into options and operands.
 */
#include "command_line.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

option option_of(const char *text, size_t length) {
    for (int i = 0; i < OPTIONS; i++) {
        if (strlen(OPTION_TEXTS[i].name) == length && strncmp(OPTION_TEXTS[i].name, text, length) == 0) {
            return (option)i;
        }
    }
    return OPTIONS;
}

static exit_code complain_option(const char *text) {
    const char *name = text + strspn(text, "-");
    suggestion meant = {.wanted = name, .length = strcspn(name, "=")};
    for (int i = 0; i < OPTIONS; i++) {
        suggestion_consider(&meant, OPTION_TEXTS[i].name);
    }
    if (!meant.closest) {
        return complain(EXIT_USAGE, "unknown option %s (see dynamicsctl --help)", text);
    }
    return complain(EXIT_USAGE, "unknown option %s: did you mean --%s? (see dynamicsctl --help)", text, meant.closest);
}

/* Returns true if the text is one of the words of an optional value, "[word|word]". */
static bool is_optional_value(const char *words, const char *text) {
    size_t length = text ? strlen(text) : 0;
    for (const char *at = words + 1; length > 0 && *at != '\0'; at++) {
        size_t word = strcspn(at, "|]");
        if (word == length && strncmp(at, text, word) == 0) {
            return true;
        }
        at += word;
    }
    return false;
}

/* Stores the option at argv[*at] and its value, which may be the next argument; `at` then moves to that argument.
 * Reports errors. */
static exit_code read_option(char **argv, int *at, arguments *parsed) {
    const char *text = argv[*at] + 2;
    const char *equals = strchr(text, '=');
    option found = option_of(text, equals ? (size_t)(equals - text) : strlen(text));
    if (found == OPTIONS) {
        return complain_option(argv[*at]);
    }
    const option_text *known = &OPTION_TEXTS[found];
    if (!known->value && equals) {
        return complain(EXIT_USAGE, "--%s takes no value", known->name);
    }
    const char *value = "";
    if (equals) {
        value = equals + 1;
    } else if (known->value && known->value[0] == '[') {
        value = is_optional_value(known->value, argv[*at + 1]) ? argv[++*at] : "";
    } else if (known->value) {
        value = argv[++*at];
        if (!value || strncmp(value, "--", 2) == 0) {
            return complain(EXIT_USAGE, "--%s needs a value: --%s %s", known->name, known->name, known->value);
        }
    }
    if (found == OPTION_FORCE) {
        parsed->forces[parsed->force_count++] = value;
    } else if (found == OPTION_FLEXIBLE) {
        parsed->flexible[parsed->flexible_count++] = value;
    } else if (found == OPTION_ROW) {
        parsed->rows[parsed->row_count++] = value;
    } else if (found == OPTION_TIP) {
        parsed->tips[parsed->tip_count++] = value;
    } else if (found == OPTION_PAYLOAD) {
        parsed->payloads[parsed->payload_count++] = value;
    } else if (parsed->value[found]) {
        return complain(EXIT_USAGE, "--%s appears twice", known->name);
    }
    parsed->value[found] = value;
    return EXIT_OK;
}

/* Reports an option that the command does not accept, and missing operands unless help or the version is wanted. */
static exit_code check(const arguments *parsed, const command *known) {
    for (int i = 0; i < OPTIONS; i++) {
        if (parsed->value[i] && ((known->options | COMMON_OPTIONS) & WITH(i)) == 0) {
            return complain(EXIT_USAGE, "%s does not take --%s (see dynamicsctl %s --help)", known->name,
                            OPTION_TEXTS[i].name, known->name);
        }
    }
    bool asks_for_help = parsed->value[OPTION_HELP] || parsed->value[OPTION_VERSION] != NULL;
    if (parsed->positional_count < known->min_operands && !asks_for_help) {
        return complain(EXIT_USAGE, "%s needs %s (see dynamicsctl %s --help)", known->name, known->operands,
                        known->name);
    }
    return EXIT_OK;
}

static exit_code read_operand(const char *text, find_command *find, const command **known, arguments *parsed) {
    if (!parsed->command) {
        parsed->command = text;
        suggestion meant = {.wanted = text, .length = strlen(text)};
        *known = find(text, &meant);
        if (!*known && meant.closest) {
            return complain(EXIT_USAGE, "unknown command \"%s\": did you mean %s? (see dynamicsctl --help)", text,
                            meant.closest);
        }
        if (!*known) {
            return complain(EXIT_USAGE, "unknown command \"%s\" (see dynamicsctl --help)", text);
        }
        return EXIT_OK;
    }
    if (parsed->positional_count == (*known)->max_operands) {
        return complain(EXIT_USAGE, "%s: \"%s\" is one argument too many (see dynamicsctl %s --help)", (*known)->name,
                        text, (*known)->name);
    }
    parsed->positional[parsed->positional_count++] = text;
    return EXIT_OK;
}

exit_code arguments_parse(int argc, char **argv, find_command *find, arguments *parsed) {
    *parsed = (arguments){0};
    parsed->forces = calloc((size_t)argc + 1, sizeof *parsed->forces);
    parsed->tips = calloc((size_t)argc + 1, sizeof *parsed->tips);
    parsed->rows = calloc((size_t)argc + 1, sizeof *parsed->rows);
    parsed->flexible = calloc((size_t)argc + 1, sizeof *parsed->flexible);
    parsed->payloads = calloc((size_t)argc + 1, sizeof *parsed->payloads);
    if (!parsed->forces || !parsed->payloads || !parsed->tips || !parsed->rows || !parsed->flexible) {
        return complain_memory();
    }
    const command *known = NULL;
    bool only_operands = false;
    for (int i = 1; i < argc; i++) {
        exit_code code = EXIT_OK;
        if (!only_operands && strcmp(argv[i], "--") == 0) {
            only_operands = true;
        } else if (!only_operands && strncmp(argv[i], "--", 2) == 0) {
            code = read_option(argv, &i, parsed);
        } else if (!only_operands && strcmp(argv[i], "-h") == 0) {
            parsed->value[OPTION_HELP] = "";
        } else if (!only_operands && argv[i][0] == '-' && isalpha((unsigned char)argv[i][1])) {
            code = complain_option(argv[i]);
        } else {
            code = read_operand(argv[i], find, &known, parsed);
        }
        if (code != EXIT_OK) {
            return code;
        }
    }
    return known ? check(parsed, known) : EXIT_OK;
}

void arguments_free(arguments *parsed) {
    free(parsed->forces);
    free(parsed->tips);
    free(parsed->rows);
    free(parsed->flexible);
    free(parsed->payloads);
    *parsed = (arguments){0};
}
