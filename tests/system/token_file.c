/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes files of tokens. */
#include "system/token_file.h"

#include <check.h>
#include <stdio.h>

void token_file_write(const char *path, const token_line *lines, size_t count) {
    char command[512];
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    for (size_t i = 0; i < count; i++) {
        char hash[65] = "";
        snprintf(command, sizeof command, "printf %%s %s | sha256sum", lines[i].secret);
        FILE *sum = popen(command, "r");
        ck_assert_ptr_nonnull(sum);
        ck_assert_int_eq(fscanf(sum, "%64s", hash), 1);
        pclose(sum);
        fprintf(file, "%s %s %s\n", lines[i].name, lines[i].role, hash);
    }
    fclose(file);
}
