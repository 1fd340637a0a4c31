/* SPDX-License-Identifier: BSD-2-Clause */
/* Values of one robot from a caller: checks them, and converts them to the model's order and back. */
#include "methods/robot_values.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "methods/geometry.h"
#include "methods/lookup.h"
#include "methods/text.h"

static bool refuse_order(refusal *why, const robot *r, joint_order_status status, size_t at) {
    char quoted[TEXT_QUOTE_SIZE], field[48];
    int joint;
    snprintf(field, sizeof field, "query.joint_names[%zu]", at);
    switch (status) {
    case JOINT_ORDER_NO_MEMORY:
        return refuse_memory(why);
    case JOINT_ORDER_MISSING:
        return refuse(why, REASON_MISSING_VALUE, "query.joint_names",
                      "joint %s is missing; name every moving joint once",
                      text_quote(dyn_model_joint(r->model, (int)at)->name, quoted));
    case JOINT_ORDER_REPEATED:
        return refuse(why, REASON_DUPLICATE, field, "joint %s is named twice", text_quote(r->names[at], quoted));
    default:
        return lookup_joint(r->entry, field, r->names[at], &joint, why);
    }
}

bool robot_open(robot *r, model_entry *entry, size_t name_count, char *const *names, arena *memory, refusal *why) {
    size_t at;
    *r = (robot){.entry = entry, .model = entry->model, .name_count = name_count, .names = names};
    r->nq = (size_t)dyn_model_nq(entry->model);
    r->nv = (size_t)dyn_model_nv(entry->model);
    if (r->nq == 0) {
        return refuse(why, REASON_NO_MOVING_JOINT, "query.model", "model \"%s\" has no moving joint", entry->name);
    }
    joint_order_status status = joint_order_build(entry->model, memory, name_count, names, &r->order, &at);
    return status == JOINT_ORDER_OK || refuse_order(why, r, status, at);
}

/* Returns the name of the joint that has a column of the caller's q or v. */
static const char *joint_of(const robot *r, bool is_q, size_t column) {
    const int *columns = is_q ? r->order.q : r->order.v;
    int model_column = columns ? columns[column] : (int)column;
    for (int j = 0; j < dyn_model_joint_count(r->model); j++) {
        const dyn_joint *joint = dyn_model_joint(r->model, j);
        int first = is_q ? joint->q_index : joint->v_index, width = is_q ? joint->nq : joint->nv;
        if (model_column >= first && model_column < first + width) {
            return joint->name;
        }
    }
    return "";
}

static bool check(const robot *r, const char *field, bool is_q, size_t count, const double *values, refusal *why) {
    size_t width = is_q ? r->nq : r->nv;
    char place[REFUSAL_FIELD_SIZE];
    if (count != width) {
        return refuse(why, REASON_WRONG_COUNT, field, "%s has %zu values; model \"%s\" has %s = %zu", field, count,
                      r->entry->name, is_q ? "nq" : "nv", width);
    }
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(values[i])) {
            snprintf(place, sizeof place, "%s[%zu]", field, i);
            return refuse(why, REASON_NOT_FINITE, place, "%s (joint %.80s) is %g; pass a finite number", place,
                          joint_of(r, is_q, i), values[i]);
        }
    }
    return true;
}

bool robot_read_v(const robot *r, const char *field, size_t count, const double *values, double *v, refusal *why) {
    if (!check(r, field, false, count, values, why)) {
        return false;
    }
    robot_v_to_model(r, 1, values, v);
    return true;
}

bool robot_read_q(const robot *r, const char *field, size_t count, const double *values, double *q, refusal *why) {
    dyn_error error;
    if (!check(r, field, true, count, values, why)) {
        return false;
    }
    robot_q_to_model(r, 1, values, q);
    /* The library checks the norms of quaternions when it integrates; no other error is left. */
    double *zero = calloc(r->nv + r->nq, sizeof *zero);
    if (!zero) {
        return refuse_memory(why);
    }
    dyn_status status = dyn_integrate(r->model, 1, q, zero, 0, zero + r->nv, &error);
    free(zero);
    return status == DYN_OK || refuse(why, reason_of_error(&error), field, "%s", error.message);
}

bool value_fill(const value_range *r, double *value, refusal *why) {
    *value = *value == 0 ? r->standard : *value;
    return (*value >= r->low && *value <= r->high) ||
           refuse(why, REASON_INVALID_VALUE, r->field, "%s is %g; pass %g to %g, or 0 for %g", r->field, *value, r->low,
                  r->high, r->standard);
}

bool value_check_choice(const char *field, int value, int count, refusal *why) {
    return (value >= 0 && value < count) ||
           refuse(why, REASON_UNKNOWN_VALUE, field, "%s is %d; pass a number from 0 to %d", field, value, count - 1);
}

bool robot_read_gains(const robot *r, const char *field, size_t count, const double *values, arena *memory,
                      const double **result, refusal *why) {
    double *caller = arena_array(memory, 2 * r->nv, sizeof *caller);
    char place[REFUSAL_FIELD_SIZE];
    *result = NULL;
    if (!caller) {
        return refuse_memory(why);
    }
    if (count == 0) {
        return true;
    }
    if (count != 1 && count != r->nv) {
        return refuse(why, REASON_WRONG_COUNT, field, "%s has %zu values; pass nv = %zu of them, or one for all", field,
                      count, r->nv);
    }
    for (size_t i = 0; i < r->nv; i++) {
        size_t at = count == 1 ? 0 : i;
        caller[i] = values[at];
        if (!(isfinite(caller[i]) && caller[i] >= 0)) {
            snprintf(place, sizeof place, "%s[%zu]", field, at);
            return refuse(why, REASON_INVALID_VALUE, place, "%s is %g; pass a finite number that is not negative",
                          place, caller[i]);
        }
    }
    robot_v_to_model(r, 1, caller, caller + r->nv);
    *result = caller + r->nv;
    return true;
}

/* Reads the torque or the force of a wrench: 3 finite numbers; none leave it unchanged, at zero. */
static bool read_vector(const char *field, size_t count, const double *values, double vector[3], refusal *why) {
    char place[REFUSAL_FIELD_SIZE];
    if (count != 0 && count != 3) {
        return refuse(why, REASON_WRONG_COUNT, field, "%s has %zu values; pass 3, or none for zero", field, count);
    }
    for (size_t k = 0; k < count; k++) {
        vector[k] = values[k];
        if (!isfinite(values[k])) {
            snprintf(place, sizeof place, "%s[%zu]", field, k);
            return refuse(why, REASON_NOT_FINITE, place, "%s is %g; pass a finite number", place, values[k]);
        }
    }
    return true;
}

bool robot_read_forces(const robot *r, const char *field, size_t count, Dynamics__V1__ExternalForce *const *list,
                       stepper_forces *forces, refusal *why) {
    char place[4][REFUSAL_FIELD_SIZE];
    static const char *const parts[] = {"link", "reference_frame", "torque", "force"};
    *forces = (stepper_forces){0};
    if (count > STEPPER_FORCES) {
        return refuse_limit(why, REASON_TOO_MANY_ENTRIES, (excess){BOUND_SIMULATION_FORCES, STEPPER_FORCES, count},
                            field, "there are %zu external forces; at most %d may act: add those on one link to one",
                            count, STEPPER_FORCES);
    }
    for (size_t i = 0; i < count; i++) {
        for (int k = 0; k < 4; k++) {
            snprintf(place[k], sizeof place[k], "%s[%zu].%s", field, i, parts[k]);
        }
        if (!lookup_frame(r->entry, REASON_LINK_NOT_FOUND, place[0], list[i]->link, &forces->force[i].frame, why) ||
            !geometry_parse_reference_frame(place[1], list[i]->reference_frame, &forces->force[i].reference_frame,
                                            why) ||
            !read_vector(place[2], list[i]->n_torque, list[i]->torque, forces->force[i].wrench, why) ||
            !read_vector(place[3], list[i]->n_force, list[i]->force, forces->force[i].wrench + 3, why)) {
            return false;
        }
    }
    forces->count = count;
    return true;
}

bool robot_read_base(const char *field, const Dynamics__V1__BaseMotion *wire, stepper_base *base, refusal *why) {
    *base = (stepper_base){.is_set = wire != NULL};
    if (!wire) {
        return true;
    }
    const struct {
        const char *name;
        size_t count;
        const double *values;
        double *to;
    } parts[] = {
        {"linear_velocity", wire->n_linear_velocity, wire->linear_velocity, base->twist + 3},
        {"angular_velocity", wire->n_angular_velocity, wire->angular_velocity, base->twist},
        {"linear_acceleration", wire->n_linear_acceleration, wire->linear_acceleration, base->acceleration + 3},
        {"angular_acceleration", wire->n_angular_acceleration, wire->angular_acceleration, base->acceleration}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        char place[REFUSAL_FIELD_SIZE];
        snprintf(place, sizeof place, "%s.%s", field, parts[i].name);
        if (!read_vector(place, parts[i].count, parts[i].values, parts[i].to, why)) {
            return false;
        }
    }
    return true;
}

static void convert(const int *columns, size_t width, size_t rows, const double *from, double *to,
                    void (*permute)(const int *, size_t, size_t, const double *, double *)) {
    if (columns) {
        permute(columns, width, rows, from, to);
    } else {
        memcpy(to, from, rows * width * sizeof *to);
    }
}

void robot_q_to_model(const robot *r, size_t rows, const double *caller, double *model) {
    convert(r->order.q, r->nq, rows, caller, model, joint_order_to_model);
}

void robot_v_to_model(const robot *r, size_t rows, const double *caller, double *model) {
    convert(r->order.v, r->nv, rows, caller, model, joint_order_to_model);
}

void robot_q_to_caller(const robot *r, size_t rows, const double *model, double *caller) {
    convert(r->order.q, r->nq, rows, model, caller, joint_order_to_caller);
}

void robot_v_to_caller(const robot *r, size_t rows, const double *model, double *caller) {
    convert(r->order.v, r->nv, rows, model, caller, joint_order_to_caller);
}
