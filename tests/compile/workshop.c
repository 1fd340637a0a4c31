/* SPDX-License-Identifier: BSD-2-Clause */
#include "compile/workshop.h"

#include <check.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/assertions.h"

static char directory[] = "/tmp/dynamics-compile-XXXXXX";

void create_directory(void) {
    ck_assert_ptr_nonnull(mkdtemp(directory));
}

void remove_directory(void) {
    ck_assert_int_eq(shell("rm -r %s", directory), 0);
}

void place_of(const char *name, char path[PATH_SIZE]) {
    snprintf(path, PATH_SIZE, "%s/%s", directory, name);
}

int shell(const char *format, ...) {
    char command[COMMAND_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(command, sizeof command, format, arguments);
    va_end(arguments);
    int status = system(command);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

dyn_compiled *load_compiled(const dyn_model *model, const char *name) {
    char description[PATH_SIZE], object[PATH_SIZE], file_name[64], *text;
    size_t length;
    dyn_error error;
    dyn_compiled *compiled = NULL;
    snprintf(file_name, sizeof file_name, "%s.description", name);
    place_of(file_name, description);
    snprintf(file_name, sizeof file_name, "%s.so", name);
    place_of(file_name, object);
    require(dyn_description_write(model, &text, &length, &error), &error);
    FILE *file = fopen(description, "w");
    ck_assert(file && fwrite(text, 1, length, file) == length && fclose(file) == 0);
    dyn_text_free(text);
    if (access(object, F_OK) != 0) {
        ck_assert_int_eq(shell(DYNAMICS_COMPILE " %s --shared -o %s", description, object), 0);
    }
    require(dyn_compiled_load(model, object, &compiled, &error), &error);
    return compiled;
}
