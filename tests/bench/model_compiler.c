/* SPDX-License-Identifier: BSD-2-Clause */
#include "model_compiler.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <dynamics/description.h>
#include <dynamics/text.h>

#include "child.h"

static void write_description(const dyn_model *model, const char *path) {
    char *text;
    size_t length;
    dyn_error error;
    if (dyn_description_write(model, &text, &length, &error) != DYN_OK) {
        die("%s: %s", error.place, error.message);
    }
    FILE *file = fopen(path, "w");
    if (!file || fwrite(text, 1, length, file) != length || fclose(file) != 0) {
        die("cannot write %s", path);
    }
    dyn_text_free(text);
}

enum { PATH_SIZE = 128 };

void compile_model(const dyn_model *model, const char *directory, const char *option, const char *output_name) {
    char description[PATH_SIZE], output[PATH_SIZE], program[4096];
    snprintf(description, sizeof description, "%s/robot.description", directory);
    snprintf(output, sizeof output, "%s/%s", directory, output_name);
    path_beside("dynamics-compile", program, sizeof program);
    write_description(model, description);
    const char *arguments[] = {program, description, option, "-o", output, NULL};
    child c = child_start(arguments, NULL);
    if (child_wait(&c) != 0) {
        die("dynamics-compile failed");
    }
}

dyn_compiled *compiled_algorithms(const dyn_model *model, double *seconds) {
    char directory[64], object[PATH_SIZE];
    struct timespec begin, end;
    dyn_error error;
    dyn_compiled *compiled;
    make_directory(directory);
    snprintf(object, sizeof object, "%s/robot.so", directory);
    clock_gettime(CLOCK_MONOTONIC, &begin);
    compile_model(model, directory, "--shared", "robot.so");
    clock_gettime(CLOCK_MONOTONIC, &end);
    *seconds = (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
    if (dyn_compiled_load(model, object, &compiled, &error) != DYN_OK) {
        die("%s: %s", error.place, error.message);
    }
    remove_directory(directory);
    return compiled;
}
