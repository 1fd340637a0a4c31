/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs a fuzz target on files and on COUNT random changes of each file, without libFuzzer. Reads at most MAX_SIZE bytes
 * of a file.
 *
 *     mutate_TARGET COUNT FILE...
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/random.h"
#include "target.h"

enum { MAX_SIZE = 1 << 16, MAX_CHANGES = 4 };

typedef struct input {
    uint8_t bytes[2 * MAX_SIZE];
    size_t size;
} input;

static int read_input(const char *path, input *in) {
    FILE *file = fopen(path, "rb");
    if (!file) {
        fprintf(stderr, "%s cannot be read\n", path);
        return 0;
    }
    in->size = fread(in->bytes, 1, MAX_SIZE, file);
    fclose(file);
    return 1;
}

/* Chooses a random range of at most 64 bytes of the input. */
static void random_range(random_source *random, const input *in, size_t *at, size_t *length) {
    *at = (size_t)random_index(random, (int)in->size);
    size_t most = in->size - *at;
    *length = 1 + (size_t)random_index(random, (int)(most < 64 ? most : 64));
    *length = *length < most ? *length : most;
}

/* Changes the input in one place: flips a bit, replaces a byte by a special one, removes a range, repeats it, or copies
 * it over another place. An input of less than 2 or more than MAX_SIZE bytes remains the same. */
static void change(random_source *random, input *in) {
    static const char special[] = "<>/\"'&-+.0129eE \n${}";
    size_t at, length, to;
    if (in->size < 2 || in->size > MAX_SIZE) {
        return;
    }
    random_range(random, in, &at, &length);
    to = (size_t)random_index(random, (int)(in->size - length + 1));
    switch (random_index(random, 5)) {
    case 0:
        in->bytes[at] ^= (uint8_t)(1 << random_index(random, 8));
        break;
    case 1:
        in->bytes[at] = (uint8_t)special[random_index(random, (int)sizeof special - 1)];
        break;
    case 2:
        memmove(in->bytes + at, in->bytes + at + length, in->size - at - length);
        in->size -= length;
        break;
    case 3:
        memmove(in->bytes + at + length, in->bytes + at, in->size - at);
        in->size += length;
        break;
    default:
        memmove(in->bytes + to, in->bytes + at, length);
        break;
    }
}

/* Runs the target on a copy of exact size, so that a sanitizer detects reads beyond the end. */
static void run(const input *in) {
    uint8_t *copy = malloc(in->size > 0 ? in->size : 1);
    if (copy) {
        memcpy(copy, in->bytes, in->size);
        LLVMFuzzerTestOneInput(copy, in->size);
        free(copy);
    }
}

int main(int argc, char **argv) {
    static input original, changed;
    if (argc < 3) {
        fprintf(stderr, "usage: %s COUNT FILE...\n", argv[0]);
        return 2;
    }
    random_source random = random_seed("the target survives any change of its inputs", 31);
    long count = strtol(argv[1], NULL, 10);
    for (int i = 2; i < argc; i++) {
        if (!read_input(argv[i], &original)) {
            return 1;
        }
        run(&original);
        for (long k = 0; k < count; k++) {
            changed = original;
            for (int n = 1 + random_index(&random, MAX_CHANGES); n > 0; n--) {
                change(&random, &changed);
            }
            run(&changed);
        }
    }
    printf("%ld changes of %d files\n", count, argc - 2);
    return 0;
}
