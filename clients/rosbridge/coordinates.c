/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Coordinates by name.
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

/* Finds the coordinate of a name, which is usually the one at `index`. Returns NULL if there is none. */
static const coordinate *find_coordinate(const coordinates *of, const char *name, size_t index) {
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
static const char *missing(const coordinates *of, const char *name) {
    size_t length = strlen(name);
    for (size_t i = 0; i < of->count; i++) {
        if (strncmp(of->list[i].name, name, length) == 0 && of->list[i].name[length] == '[') {
            return "a joint with several coordinates: name each, with [0], [1] .. behind it";
        }
    }
    return "no joint";
}

const coordinate **coordinates_arrange(const coordinates *of, const json_t *names, const char *path,
                                       char error[COORDINATES_ERROR_SIZE]) {
    size_t count = json_array_size(names), i = 0;
    const char *wrong = NULL;
    if (count != of->count) {
        snprintf(error, COORDINATES_ERROR_SIZE, "%s: %zu names; name each of %zu coordinates, such as \"%.64s\"", path,
                 count, of->count, of->list[0].name);
        return NULL;
    }
    const coordinate **places = calloc(count, sizeof *places);
    bool *is_named = calloc(count, sizeof *is_named);
    if (!places || !is_named) {
        wrong = "out of memory";
    }
    for (; i < count && !wrong; i++) {
        const char *name = json_string_value(json_array_get(names, i));
        places[i] = find_coordinate(of, name, i);
        wrong = !places[i] ? missing(of, name) : is_named[places[i] - of->list] ? "named twice" : NULL;
        if (!wrong) {
            is_named[places[i] - of->list] = true;
        }
    }
    free(is_named);
    if (!wrong) {
        return places;
    }
    snprintf(error, COORDINATES_ERROR_SIZE, "%s[%zu]: \"%.64s\" is %s", path, i - 1,
             i > 0 ? json_string_value(json_array_get(names, i - 1)) : "", wrong);
    free(places);
    return NULL;
}
