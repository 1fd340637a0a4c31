/* SPDX-License-Identifier: BSD-2-Clause */
/* Axes of the blocks of quantities: the number, names and order of their entries. */
#include "methods/quantity_axes.h"

#include <stdio.h>

#include <dynamics/contact.h>
#include <dynamics/motor.h>
#include <dynamics/rotor_force.h>

#include "methods/constraints.h"
#include "methods/coordinates.h"
#include "methods/given_rows.h"
#include "methods/text.h"

#define AXIS(kind) DYNAMICS__V1__AXIS_KIND__AXIS_KIND_##kind

/* Largest number of entries of an axis that is equal for all robots, and size of an entry's number as text. */
enum { MOST_FIXED_ENTRIES = 10, NUMBER_SIZE = 24 };

/* Classes of entries with different units. */
enum { ROTATION, TRANSLATION };

/* Axes by kind: their entries, if they are equal for all robots, and the number of classes of entries with different
 * units. */
static const struct {
    size_t size; /* 0: it depends on the robot or on the task */
    const char *labels[MOST_FIXED_ENTRIES];
    uint32_t class_count;
    uint32_t classes[MOST_FIXED_ENTRIES];
} axes[] = {
    [AXIS(JOINTS)] = {.class_count = 2},
    [AXIS(BODIES)] = {.class_count = 1},
    [AXIS(TASK)] = {.class_count = 2},
    [AXIS(XYZ)] = {3, {"x", "y", "z"}, 1, {0}},
    [AXIS(QUATERNION)] = {4, {"x", "y", "z", "w"}, 1, {0}},
    [AXIS(PARAMETERS)] = {10,
                          {"m", "mx", "my", "mz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz"},
                          3,
                          {0, 1, 1, 1, 2, 2, 2, 2, 2, 2}},
    [AXIS(SEMI_AXES)] = {3, {"1", "2", "3"}, 1, {0}},
    [AXIS(JOINT_SEMI_AXES)] = {.class_count = 1},
    [AXIS(TWIST)] = {6,
                     {"linear x", "linear y", "linear z", "angular x", "angular y", "angular z"},
                     2,
                     {TRANSLATION, TRANSLATION, TRANSLATION, ROTATION, ROTATION, ROTATION}},
    [AXIS(CONSTRAINT_ROWS)] = {.class_count = 2},
    [AXIS(CONSTRAINTS)] = {.class_count = 1},
    [AXIS(ROTORS)] = {.class_count = 1},
    [AXIS(CONTACT_SURFACES)] = {.class_count = 1},
    [AXIS(MEASURES)] = {2, {"measure", "isotropy"}, 2, {0, 1}},
};

/* Indices of the entries of AXIS(TWIST) in the library, which has angular entries first. */
static const int twist_order[] = {3, 4, 5, 0, 1, 2};

size_t quantity_axis_size(const batch *b, const quantity_place *at, quantity_axis kind) {
    switch (kind) {
    case AXIS_NONE:
        return 1;
    case AXIS(JOINTS):
    case AXIS(JOINT_SEMI_AXES):
        return b->nv;
    case AXIS(BODIES):
        return (size_t)dyn_model_joint_count(b->model);
    case AXIS(TASK):
        return at->task->count;
    case AXIS(CONSTRAINT_ROWS):
        return given_rows_total(b);
    case AXIS(CONSTRAINTS):
        return (size_t)dyn_model_constraint_count(b->model);
    case AXIS(ROTORS):
        return (size_t)dyn_model_rotor_count(b->model);
    case AXIS(CONTACT_SURFACES):
        return (size_t)dyn_model_contact_surface_count(b->model);
    default:
        return axes[kind].size;
    }
}

const int *quantity_axis_order(const batch *b, const quantity_place *at, quantity_axis kind) {
    if (kind == AXIS(TASK)) {
        return at->task->order;
    }
    if (kind == AXIS(TWIST)) {
        return twist_order;
    }
    return kind == AXIS(JOINTS) && !b->order.is_identity ? b->order.v : NULL;
}

/* ---- what the entries are ---------------------------------------------------------------------------------------- */

/* Writes the names of the velocities, and their classes, rotation or translation, in the caller's order. */
static void fill_joints(batch *b, Dynamics__V1__Axis *axis) {
    char **names = coordinates_spell(b->call, b->model, true);
    uint32_t *classes = call_allocate(b->call, b->nv, sizeof *classes);
    for (int j = 0; names && classes && j < dyn_model_joint_count(b->model); j++) {
        const dyn_joint *joint = dyn_model_joint(b->model, j);
        const dyn_joint_traits *traits = dyn_joint_type_traits(joint->type);
        for (int k = 0; k < joint->nv; k++) {
            classes[joint->v_index + k] = traits->v_kinds[k] == DYN_COORDINATE_KIND_LENGTH ? TRANSLATION : ROTATION;
        }
    }
    for (size_t i = 0; names && classes && i < b->nv; i++) {
        size_t column = b->order.is_identity ? i : (size_t)b->order.v[i];
        axis->labels[i] = names[column];
        axis->unit_index[i] = classes[column];
    }
}

/* Writes the names of the bodies: that of each moving joint's child link. */
static void fill_bodies(const batch *b, Dynamics__V1__Axis *axis) {
    for (size_t i = 0; i < axis->n_labels; i++) {
        axis->labels[i] = text_constant(dyn_model_link(b->model, dyn_model_joint(b->model, (int)i)->child_link)->name);
    }
}

static void fill_task(batch *b, const task_rows *rows, Dynamics__V1__Axis *axis) {
    for (size_t i = 0; i < rows->count; i++) {
        axis->labels[i] = task_rows_name(b, rows, i);
        axis->unit_index[i] = task_rows_is_linear(rows, i) ? TRANSLATION : ROTATION;
    }
}

static void fill_constraint_rows(batch *b, Dynamics__V1__Axis *axis) {
    char **names = constraints_row_names(b->call, b->model);
    const size_t own = (size_t)dyn_model_constraint_rows(b->model);
    for (size_t i = 0; names && i < own; i++) {
        axis->labels[i] = names[i];
    }
    for (size_t k = 0; k < (size_t)b->given.count; k++) {
        char name[NUMBER_SIZE + 8];
        snprintf(name, sizeof name, "rows[%zu]", k);
        axis->labels[own + k] = call_string(b->call, name);
        axis->unit_index[own + k] = TRANSLATION;
    }
    for (int i = 0; names && i < dyn_model_constraint_count(b->model); i++) {
        const dyn_constraint *constraint = dyn_model_constraint(b->model, i);
        for (int k = 0; k < constraint->row_count; k++) {
            bool is_angular = dyn_model_constraint_row(b->model, i, k).is_angular;
            axis->unit_index[constraint->first_row + k] = is_angular ? ROTATION : TRANSLATION;
        }
    }
}

/* Returns the name of entry i of an axis of parts of the model: constraints, rotors or contact surfaces. */
static const char *part_name(const batch *b, quantity_axis kind, int i) {
    return kind == AXIS(CONSTRAINTS) ? dyn_model_constraint(b->model, i)->name
           : kind == AXIS(ROTORS)    ? dyn_model_rotor_name(b->model, i)
                                     : dyn_model_contact_surface(b->model, i)->name;
}

/* Writes the names of parts of the model. The model of a request may end before its reply is sent. */
static void fill_parts(batch *b, quantity_axis kind, Dynamics__V1__Axis *axis) {
    for (size_t i = 0; i < axis->n_labels; i++) {
        axis->labels[i] = call_string(b->call, part_name(b, kind, (int)i));
    }
}

/* Writes the numbers of the entries, from 1, as their names. */
static void fill_numbers(batch *b, Dynamics__V1__Axis *axis) {
    char *texts = call_allocate(b->call, axis->n_labels, NUMBER_SIZE);
    for (size_t i = 0; texts && i < axis->n_labels; i++) {
        axis->labels[i] = texts + i * NUMBER_SIZE;
        snprintf(axis->labels[i], NUMBER_SIZE, "%zu", i + 1);
    }
}

static void fill_fixed(quantity_axis kind, Dynamics__V1__Axis *axis) {
    for (size_t i = 0; i < axis->n_labels; i++) {
        axis->labels[i] = text_constant(axes[kind].labels[i]);
        axis->unit_index[i] = axes[kind].classes[i];
    }
}

Dynamics__V1__Axis *quantity_axis_create(batch *b, const quantity_place *at, quantity_axis kind) {
    Dynamics__V1__Axis *axis = call_allocate(b->call, 1, sizeof *axis);
    size_t size = quantity_axis_size(b, at, kind);
    char **labels = call_allocate(b->call, size, sizeof *labels);
    uint32_t *classes = call_allocate(b->call, size, sizeof *classes);
    if (call_has_ended(b->call)) {
        return NULL;
    }
    dynamics__v1__axis__init(axis);
    axis->kind = kind;
    axis->n_labels = size;
    axis->labels = labels;
    axis->unit_count = axes[kind].class_count;
    axis->n_unit_index = axes[kind].class_count > 1 ? size : 0;
    axis->unit_index = classes;
    switch (kind) {
    case AXIS(JOINTS):
        fill_joints(b, axis);
        break;
    case AXIS(BODIES):
        fill_bodies(b, axis);
        break;
    case AXIS(TASK):
        fill_task(b, at->task, axis);
        break;
    case AXIS(CONSTRAINT_ROWS):
        fill_constraint_rows(b, axis);
        break;
    case AXIS(CONSTRAINTS):
    case AXIS(ROTORS):
    case AXIS(CONTACT_SURFACES):
        fill_parts(b, kind, axis);
        break;
    case AXIS(JOINT_SEMI_AXES):
        fill_numbers(b, axis);
        break;
    default:
        fill_fixed(kind, axis);
        break;
    }
    return call_has_ended(b->call) ? NULL : axis;
}
