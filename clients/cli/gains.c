/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads the gains of a controller.
 */
#include "gains.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "numbers.h"

/* Sets the gain of all coordinates of a joint, or of a single coordinate, by its name. Returns false if the name is
 * unknown. */
static bool set_named(const layout *robot, const char *name, double value, double *values) {
    bool is_found = false;
    for (size_t i = 0; i < robot->nv; i++) {
        const coordinate *at = &robot->v[i];
        if (strcmp(at->joint->name, name) == 0 || strcmp(at->name, name) == 0) {
            values[i] = value;
            is_found = true;
        }
    }
    return is_found;
}

/* Reads one entry, such as "100" or "elbow_joint=50". `plain` counts the entries without a name. Reports errors. */
static exit_code read_entry(const layout *robot, const char *name, char *entry, size_t *plain, double *values) {
    double value;
    char *equals = strchr(entry, '=');
    const char *number = equals ? equals + 1 : entry;
    if (!parse_number(number, &value) || value < 0) {
        return complain(EXIT_USAGE, "--%s: \"%s\" is not a number that is not less than 0", name, number);
    }
    if (!equals) {
        if (*plain < robot->nv) {
            values[*plain] = value;
        }
        ++*plain;
        return EXIT_OK;
    }
    *equals = '\0';
    const char *model = robot->robot->model.name;
    return set_named(robot, entry, value, values)
               ? EXIT_OK
               : complain(EXIT_USAGE, "--%s: %s has no moving joint \"%s\" (see dynamicsctl describe %s)", name, model,
                          entry, model);
}

/* Reads the entries with a name if `are_named`, otherwise the entries without one. A single entry without a name
 * applies to all coordinates. Reports errors. */
static exit_code read_entries(const layout *robot, const char *name, const char *text, bool are_named, double *values) {
    size_t plain = 0;
    exit_code code = EXIT_OK;
    char *copy = strdup(text), *rest = copy;
    if (!copy) {
        return complain_memory();
    }
    for (char *entry; code == EXIT_OK && (entry = strsep(&rest, ","));) {
        if ((strchr(entry, '=') != NULL) == are_named) {
            code = read_entry(robot, name, entry, &plain, values);
        }
    }
    free(copy);
    for (size_t i = 1; plain == 1 && i < robot->nv; i++) {
        values[i] = values[0];
    }
    if (code == EXIT_OK && plain > 1 && plain != robot->nv) {
        code = complain(EXIT_USAGE, "--%s %s: %zu gains; pass one for all joints, nv = %zu of them, or JOINT=GAIN",
                        name, text, plain, robot->nv);
    }
    return code;
}

static exit_code read_gain(const arguments *args, option wanted, const char *name, const layout *robot,
                           double **values) {
    const char *text = args->value[wanted];
    *values = calloc(robot->nv + 1, sizeof **values);
    if (!*values) {
        return complain_memory();
    }
    exit_code code = text ? read_entries(robot, name, text, false, *values) : EXIT_OK;
    return code == EXIT_OK && text ? read_entries(robot, name, text, true, *values) : code;
}

exit_code gains_read(const arguments *args, const layout *robot, gains *result) {
    *result = (gains){.count = robot->nv};
    exit_code code = read_gain(args, OPTION_KP, "kp", robot, &result->kp);
    return code == EXIT_OK ? read_gain(args, OPTION_KD, "kd", robot, &result->kd) : code;
}

void gains_free(gains *freed) {
    free(freed->kp);
    free(freed->kd);
    *freed = (gains){0};
}
