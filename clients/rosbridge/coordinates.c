/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads the coordinates of a model from its description, and assigns them to names.
 */
#include "coordinates.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Appends the coordinates of a joint, which has at most as many velocities as coordinates. Returns false when out of
 * memory, or if the reply lacks their names. */
static bool add_joint(coordinates *to, const Dynamics__V1__DescribeModelReply *in, const Dynamics__V1__Joint *joint) {
    const Dynamics__V1__JointCoordinates *at = joint->coordinates;
    size_t nq = at ? at->nq : 0, nv = at ? at->nv : 0;
    if (nq < nv || (nq > 0 && (size_t)at->q_index + nq > in->n_q_names)) {
        return false;
    }
    coordinate *list = realloc(to->list, (to->count + nq + 1) * sizeof *list);
    if (!list) {
        return false;
    }
    to->list = list;
    for (size_t i = 0; i < nq; i++) {
        coordinate *added = &list[to->count];
        added->name = strdup(in->q_names[at->q_index + i]);
        if (!added->name) {
            return false;
        }
        added->q = to->nq + i;
        added->v = i < nv ? to->nv + i : SIZE_MAX;
        to->count++;
    }
    to->has_parts |= nq > 1;
    to->nq += nq;
    to->nv += nv;
    return true;
}

static const Dynamics__V1__Joint *find_joint(const Dynamics__V1__DescribeModelReply *in, const char *name) {
    for (size_t i = 0; i < in->n_joints; i++) {
        if (strcmp(in->joints[i]->name, name) == 0) {
            return in->joints[i];
        }
    }
    return NULL;
}

bool coordinates_read(coordinates *to, const Dynamics__V1__DescribeModelReply *model, const json_t *joint_names) {
    bool has_order = json_array_size(joint_names) > 0, is_read = true;
    size_t count = has_order ? json_array_size(joint_names) : model->n_joints;
    coordinates_free(to);
    for (size_t i = 0; i < count && is_read; i++) {
        const Dynamics__V1__Joint *joint =
            has_order ? find_joint(model, json_string_value(json_array_get(joint_names, i))) : model->joints[i];
        is_read = !joint || add_joint(to, model, joint);
    }
    if (!is_read) {
        coordinates_free(to);
    }
    return to->count > 0;
}

void coordinates_free(coordinates *freed) {
    for (size_t i = 0; i < freed->count; i++) {
        free(freed->list[i].name);
    }
    free(freed->list);
    *freed = (coordinates){0};
}

const coordinate *coordinates_find(const coordinates *of, const char *name, size_t index) {
    if (index < of->count && strcmp(of->list[index].name, name) == 0) {
        return &of->list[index];
    }
    for (size_t i = 0; i < of->count; i++) {
        if (strcmp(of->list[i].name, name) == 0) {
            return &of->list[i];
        }
    }
    return NULL;
}

/* Returns the error text for a name that is no coordinate. */
static const char *describe_unknown(const coordinates *of, const char *name) {
    size_t length = strlen(name);
    for (size_t i = 0; i < of->count; i++) {
        if (strncmp(of->list[i].name, name, length) == 0 && of->list[i].name[length] == '[') {
            return "a joint with several coordinates: name each, with [0], [1] .. behind it";
        }
    }
    return "no joint";
}

/* Assignment of names to coordinates. */
typedef struct arrangement {
    const coordinate **places;
    bool *is_named;      /* by coordinate */
    const char *unknown; /* the first name that is no coordinate; NULL: none */
} arrangement;

/* Assigns a coordinate to each name. Returns false and writes `error` if a name is unknown, unless `ignores_extra`, or
 * occurs twice. */
static bool assign(const coordinates *of, const json_t *names, bool ignores_extra, const char *path, arrangement *to,
                   char *error) {
    for (size_t i = 0; i < json_array_size(names); i++) {
        const char *name = json_string_value(json_array_get(names, i));
        const coordinate *found = coordinates_find(of, name, i);
        to->places[i] = found;
        if (!found && !to->unknown) {
            to->unknown = name;
        }
        if (found ? to->is_named[found - of->list] : !ignores_extra) {
            snprintf(error, COORDINATES_ERROR_SIZE, "%s[%zu]: \"%.64s\" is %s", path, i, name,
                     found ? "named twice" : describe_unknown(of, name));
            return false;
        }
        if (found) {
            to->is_named[found - of->list] = true;
        }
    }
    return true;
}

/* Checks that each coordinate has a name. The error also states an unknown name, which may be a misspelling. */
static bool check_missing(const coordinates *of, const char *path, const arrangement *made, char *error) {
    for (size_t i = 0; i < of->count; i++) {
        if (!made->is_named[i]) {
            int length =
                snprintf(error, COORDINATES_ERROR_SIZE, "%s: \"%.64s\" is missing; name each of %zu coordinates", path,
                         of->list[i].name, of->count);
            if (made->unknown && length > 0 && length < COORDINATES_ERROR_SIZE) {
                snprintf(error + length, (size_t)(COORDINATES_ERROR_SIZE - length), "; \"%.32s\" is %s", made->unknown,
                         describe_unknown(of, made->unknown));
            }
            return false;
        }
    }
    return true;
}

const coordinate **coordinates_arrange(const coordinates *of, const json_t *names, bool ignores_extra, const char *path,
                                       char error[COORDINATES_ERROR_SIZE]) {
    arrangement made = {.places = calloc(json_array_size(names) + 1, sizeof *made.places),
                        .is_named = calloc(of->count, sizeof *made.is_named)};
    bool is_good = made.places && made.is_named;
    if (!is_good) {
        snprintf(error, COORDINATES_ERROR_SIZE, "%s: out of memory", path);
    }
    is_good = is_good && assign(of, names, ignores_extra, path, &made, error) && check_missing(of, path, &made, error);
    free(made.is_named);
    if (!is_good) {
        free(made.places);
        return NULL;
    }
    return made.places;
}
