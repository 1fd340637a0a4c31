/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fuzz target: reads any bytes as a configuration of the daemon. The file is read, and each key can be listed, or it is
 * refused with a printable sentence that names the file.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "config_file.h"
#include "config_settings.h"
#include "target.h"

static void require(bool holds, const char *property) {
    if (!holds) {
        fprintf(stderr, "does not hold: %s\n", property);
        abort();
    }
}

/* Writes the bytes to the file in memory that all calls share. Returns its descriptor. */
static int write_file(const uint8_t *data, size_t size) {
    static int file = -1;
    if (file < 0) {
        file = memfd_create("configuration", MFD_CLOEXEC);
    }
    require(file >= 0 && ftruncate(file, 0) == 0 && pwrite(file, data, size, 0) == (ssize_t)size,
            "the file is written");
    return file;
}

static void check_error(const char *path, const char *error) {
    require(strncmp(error, path, strlen(path)) == 0, "an error names the file");
    for (const char *c = error; *c; c++) {
        require((unsigned char)*c >= 0x20 && *c != 0x7f, "an error is printable");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static config c;
    char path[64], error[CONFIG_ERROR_SIZE] = "";
    snprintf(path, sizeof path, "/proc/self/fd/%d", write_file(data, size));
    if (!config_read(path, &c, error)) {
        check_error(path, error);
        return 0;
    }
    setting_list settings;
    settings_init(&settings);
    require(config_list_settings(&c, path, &settings), "there is memory");
    require(settings.count >= CONFIG_KEYS, "each key has a value");
    settings_free(&settings);
    config_free(&c);
    return 0;
}
