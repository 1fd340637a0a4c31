/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads --token, the token that a command to a simulation or a job needs.
 */
#include "token.h"

#include <stdlib.h>

#include "files.h"
#include "numbers.h"

exit_code read_token(const arguments *args, const char *source, uint64_t *token) {
    const char *text = args->value[OPTION_TOKEN];
    char *content = NULL;
    size_t size;
    if (text && text[0] == '@') {
        exit_code code = read_text(text + 1, &content, &size);
        if (code != EXIT_OK) {
            free(content);
            return code;
        }
        text = content;
    }
    bool is_good = text && parse_digits(text, token);
    free(content);
    if (!is_good) {
        return complain(EXIT_USAGE,
                        "--token: pass the number that %s, or @FILE with a file that has only this number "
                        "in it",
                        source);
    }
    return EXIT_OK;
}
