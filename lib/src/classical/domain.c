/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks whether a formulation applies to a model.
 */
#include "../model/error.h"
#include "../model/normal_form.h"
#include "classical.h"

static dyn_status refuse(const dyn_formulation_traits *traits, const dyn_model *model, const body *b, const char *what,
                         dyn_error *error) {
    const char *joint = model->joints[b->joint].name;
    const dyn_error_site site = {.argument = "formulation", .has_joint = true, .joint = b->joint};
    return dyn_error_at(error, DYN_FAILED_PRECONDITION, &site, "%s does not apply: joint %s %s; choose another one",
                        traits->name, joint, what);
}

static bool is_custom(const dyn_model *model, int i) {
    return model->stage_count > 0 && model->joints[model->bodies[i].joint].type == DYN_JOINT_TYPE_CUSTOM;
}

/* Returns the first body of the joint of body i. */
static int first_body(const dyn_model *model, int i) {
    while (is_custom(model, i) && i > 0 && model->bodies[i - 1].joint == model->bodies[i].joint) {
        i--;
    }
    return i;
}

/* Returns whether body i is inside a custom joint, and no link. */
static bool is_inside_joint(const dyn_model *model, int i) {
    return i + 1 < model->body_count && is_custom(model, i + 1) && model->bodies[i + 1].joint == model->bodies[i].joint;
}

static bool is_on_last_link(const dyn_model *model, int i) {
    return model->bodies[i].parent == i - 1;
}

static bool has_one_coordinate(const dyn_model *model, int i) {
    return model->bodies[i].nv == 1;
}

static bool is_revolute(const dyn_model *model, int i) {
    return model->bodies[i].motion == MOTION_REVOLUTE && !is_custom(model, i);
}

static bool is_spherical(const dyn_model *model, int i) {
    motion_type motion = model->bodies[i].motion;
    return motion == MOTION_SPHERICAL || (i == 0 && motion == MOTION_FLOATING);
}

static bool is_not_helical(const dyn_model *model, int i) {
    return model->bodies[i].motion != MOTION_HELICAL;
}

static bool is_not_custom(const dyn_model *model, int i) {
    return !is_custom(model, i);
}

static bool is_independent(const dyn_model *model, int i) {
    return !model->bodies[first_body(model, i)].follows;
}

/* Returns whether the inertia of body i is positive definite, by the leading minors of that about its centre of mass,
 * as shares of what its trace allows; true for the bodies inside a custom joint, which are no links. */
static bool is_regular(const dyn_model *model, int i) {
    static const double least = 1e-12;
    static const int row[6] = {0, 0, 0, 1, 1, 2}, column[6] = {0, 1, 2, 1, 2, 2};
    const body *b = &model->bodies[i];
    double c[3], square = 0, I[6], m = b->mass;
    if (is_inside_joint(model, i)) {
        return true;
    }
    if (!(m > 0)) {
        return false;
    }
    for (int k = 0; k < 3; k++) {
        c[k] = b->first_moment[k] / m;
        square += c[k] * c[k];
    }
    for (int k = 0; k < 6; k++) {
        I[k] = b->inertia[k] - m * ((row[k] == column[k] ? square : 0) - c[row[k]] * c[column[k]]);
    }
    double trace = I[0] + I[3] + I[5], minor = I[0] * I[3] - I[1] * I[1];
    double determinant = I[5] * minor - I[0] * I[4] * I[4] - I[3] * I[2] * I[2] + 2 * I[1] * I[2] * I[4];
    return I[0] > least * trace && minor > least * trace * trace && determinant > least * trace * trace * trace;
}

/* Returns the number of links or coordinates, whichever is larger. */
static int size_of(const dyn_model *model) {
    int links = 0;
    for (int i = 0; i < model->body_count; i++) {
        links += !is_inside_joint(model, i);
    }
    return model->nv > links ? model->nv : links;
}

/* Conditions that formulations set for a model: the test of one body, and the reason for which its joint is refused. */
static const struct need {
    dyn_formulation_need need;
    bool (*is_met)(const dyn_model *model, int i);
    const char *reason;
} needs[] = {
    {DYN_FORMULATION_NEED_SERIAL_CHAIN, is_on_last_link, "branches off, and it needs a serial chain"},
    {DYN_FORMULATION_NEED_ONE_COORDINATE, has_one_coordinate, "has several coordinates, and it needs joints of one"},
    {DYN_FORMULATION_NEED_REVOLUTE, is_revolute, "is not revolute, and it needs revolute joints"},
    {DYN_FORMULATION_NEED_SPHERICAL, is_spherical, "is not spherical, and it needs spherical joints"},
    {DYN_FORMULATION_NEED_NO_HELICAL, is_not_helical, "is helical, and its coordinates cannot state the advance"},
    {DYN_FORMULATION_NEED_NO_CUSTOM, is_not_custom, "is custom, and its coordinates cannot state the functions"},
    {DYN_FORMULATION_NEED_INDEPENDENT, is_independent, "mimics another one, and it needs independent joints"},
    {DYN_FORMULATION_NEED_REGULAR_INERTIAS, is_regular, "moves a body of singular inertia, and it needs regular ones"},
};

dyn_status dyn_check_formulation(const dyn_formulation_traits *traits, const dyn_model *model, dyn_error *error) {
    int size = size_of(model);
    if (size > traits->most_coordinates) {
        const dyn_error_site site = {.argument = "formulation"};
        return dyn_error_at(
            error, DYN_FAILED_PRECONDITION, &site,
            "%s does not apply: the model has %d joints or coordinates, and its time and memory allow %d at most; "
            "choose another one",
            traits->name, size, traits->most_coordinates);
    }
    for (int i = 0; i < model->body_count; i++) {
        for (size_t k = 0; k < sizeof needs / sizeof needs[0]; k++) {
            if (traits->needs & needs[k].need && !needs[k].is_met(model, i)) {
                const char *of_rotor = "has a rotor, and it needs links alone";
                return refuse(traits, model, &model->bodies[i], i < model->link_bodies ? needs[k].reason : of_rotor,
                              error);
            }
        }
    }
    return DYN_OK;
}
