/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Orders a model's coordinates as the user chose.
 */
#include "layout.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const dyn_client_joint *find_joint(const dyn_client_description *robot, const char *name) {
    for (size_t i = 0; i < robot->joint_count; i++) {
        if (strcmp(robot->joints[i].name, name) == 0) {
            return &robot->joints[i];
        }
    }
    return NULL;
}

/* Splits the names of --joints and finds their joints. Reports errors. */
static exit_code read_names(const dyn_client_description *robot, const char *names, layout *created) {
    created->text = strdup(names);
    size_t count = 1;
    for (const char *c = names; *c != '\0'; c++) {
        count += *c == ',';
    }
    created->names = calloc(count, sizeof *created->names);
    created->joints = calloc(count, sizeof *created->joints);
    if (!created->text || !created->names || !created->joints) {
        return complain_memory();
    }
    char *rest = created->text;
    for (char *name; (name = strsep(&rest, ","));) {
        const dyn_client_joint *joint = find_joint(robot, name);
        if (!joint) {
            return complain(EXIT_USAGE, "--joints: %s has no moving joint \"%s\" (see dynamicsctl describe %s)",
                            robot->model.name, name, robot->model.name);
        }
        for (size_t i = 0; i < created->joint_count; i++) {
            if (created->joints[i] == joint) {
                return complain(EXIT_USAGE, "--joints names \"%s\" twice", name);
            }
        }
        created->joints[created->joint_count++] = joint;
        created->names[created->name_count++] = name;
    }
    return EXIT_OK;
}

static exit_code use_all_joints(const dyn_client_description *robot, layout *created) {
    created->joints = calloc(robot->joint_count + 1, sizeof *created->joints);
    if (!created->joints) {
        return complain_memory();
    }
    for (size_t i = 0; i < robot->joint_count; i++) {
        created->joints[created->joint_count++] = &robot->joints[i];
    }
    return EXIT_OK;
}

/* Finds the joints of names that the daemon sent. Reports a name that the robot lacks. */
static exit_code find_order(const dyn_client_description *robot, size_t count, const char *const *names,
                            layout *created) {
    created->joints = calloc(count + 1, sizeof *created->joints);
    if (!created->joints) {
        return complain_memory();
    }
    for (size_t i = 0; i < count; i++) {
        const dyn_client_joint *joint = find_joint(robot, names[i]);
        if (!joint) {
            return complain(EXIT_FAILED,
                            "%s has no moving joint \"%s\" any more: was another robot loaded under its name?",
                            robot->model.name, names[i]);
        }
        created->joints[created->joint_count++] = joint;
    }
    return EXIT_OK;
}

/* Reports a joint with coordinates that the layout lacks. */
static exit_code check_complete(const layout *created) {
    for (size_t i = 0; i < created->robot->joint_count; i++) {
        const dyn_client_joint *joint = &created->robot->joints[i];
        bool named = joint->nv == 0;
        for (size_t k = 0; k < created->joint_count && !named; k++) {
            named = created->joints[k] == joint;
        }
        if (!named) {
            return complain(EXIT_USAGE, "--joints lacks \"%s\": name every moving joint once", joint->name);
        }
    }
    return EXIT_OK;
}

static exit_code list_coordinates(layout *created) {
    created->q = calloc(created->robot->model.nq + 1, sizeof *created->q);
    created->v = calloc(created->robot->model.nv + 1, sizeof *created->v);
    if (!created->q || !created->v) {
        return complain_memory();
    }
    for (size_t i = 0; i < created->joint_count; i++) {
        const dyn_client_joint *joint = created->joints[i];
        for (size_t k = 0; k < joint->nq && created->nq < created->robot->model.nq; k++) {
            created->q[created->nq++] = (coordinate){joint, k, created->robot->q_names[joint->q_index + k]};
        }
        for (size_t k = 0; k < joint->nv && created->nv < created->robot->model.nv; k++) {
            created->v[created->nv++] = (coordinate){joint, k, created->robot->v_names[joint->v_index + k]};
        }
    }
    if (created->nq != created->robot->model.nq || created->nv != created->robot->model.nv) {
        return complain(EXIT_FAILED, "the daemon's description of %s contradicts itself", created->robot->model.name);
    }
    return EXIT_OK;
}

exit_code layout_create(const dyn_client_description *robot, const char *names, layout *created) {
    *created = (layout){.robot = robot};
    exit_code code = names ? read_names(robot, names, created) : use_all_joints(robot, created);
    if (code == EXIT_OK) {
        code = check_complete(created);
    }
    if (code == EXIT_OK) {
        code = list_coordinates(created);
    }
    return code;
}

exit_code layout_create_in_order(const dyn_client_description *robot, size_t count, const char *const *names,
                                 layout *created) {
    *created = (layout){.robot = robot};
    exit_code code = count > 0 ? find_order(robot, count, names, created) : use_all_joints(robot, created);
    return code == EXIT_OK ? list_coordinates(created) : code;
}

void layout_free(layout *freed) {
    free(freed->q);
    free(freed->v);
    free(freed->joints);
    free(freed->names);
    free(freed->text);
    *freed = (layout){0};
}

void layout_arrange_q(const layout *used, const double *model_q, double *q) {
    for (size_t i = 0; i < used->nq; i++) {
        q[i] = model_q[used->q[i].joint->q_index + used->q[i].index];
    }
}

const char *acceleration_unit(const char *velocity_unit, size_t size, char *unit) {
    size_t length = strlen(velocity_unit);
    bool per_second = length >= 2 && strcmp(velocity_unit + length - 2, "/s") == 0;
    snprintf(unit, size, "%s%s", velocity_unit, per_second ? "^2" : "/s");
    return unit;
}
