/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pivots of the mass matrix, computed by the articulated-body elimination in plain doubles: pivot k is the inertia that
 * resists a force along coordinate k while all coordinates after it are free. M is positive definite where all pivots
 * are positive.
 * Source: Featherstone 2008, section 7.1.
 */
#include "definiteness.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "load_report.h"
#include "placement.h"

/* Symmetric inertia as the map from motions (w; v) to forces (n; f). */
typedef struct full_inertia {
    double entry[6][6];
} full_inertia;

/* State of an elimination. */
typedef struct elimination {
    const dyn_model *model;
    full_inertia *inertia; /* articulated inertia of each body */
    bool *is_resisted;     /* whether an inertia resists each body, in some configuration so far */
    bool *is_shared;       /* for each coordinate: an inertia resists one of its bodies; initially false */
    double scale;          /* kg m^2: scale of the whole robot */
    uint64_t random;       /* state of the generator */
    int negative;          /* the body with a negative pivot, or -1 */
    bool is_rigid;         /* treat all that a body carries as fixed to it: eliminate nothing */
} elimination;

/* Ratio of a number to its scale below which it counts as rounding. For rotations the scale of a mass is its inertia at
 * a radius of one meter: a radius of gyration below 0.3 micrometers counts as zero. */
static const double negligible = 1e-13;

static full_inertia own_inertia(const body *b) {
    const double *I = b->inertia, *h = b->first_moment, m = b->mass;
    return (full_inertia){{{I[0], I[1], I[2], 0, -h[2], h[1]},
                           {I[1], I[3], I[4], h[2], 0, -h[0]},
                           {I[2], I[4], I[5], -h[1], h[0], 0},
                           {0, h[2], -h[1], m, 0, 0},
                           {-h[2], 0, h[0], 0, m, 0},
                           {h[1], -h[0], 0, 0, 0, m}}};
}

/* Returns a number between low and high from a linear congruential generator (Knuth's MMIX). */
static double random_between(elimination *e, double low, double high) {
    e->random = e->random * 6364136223846793005U + 1442695040888963407U;
    return low + (high - low) * (double)(e->random >> 11) * 0x1p-53;
}

static void turn_about_z(double angle, double R[9]) {
    const double turn[9] = {cos(angle), -sin(angle), 0, sin(angle), cos(angle), 0, 0, 0, 1};
    memcpy(R, turn, sizeof turn);
}

/* Returns a random motion of a joint. The motion of a floating joint does not change M. */
static dyn_pose random_motion(elimination *e, const body *b) {
    const dyn_joint *joint = &e->model->joints[b->joint];
    bool is_limited = joint->has_limits && joint->limits.lower < joint->limits.upper;
    bool is_linear = b->motion == MOTION_PRISMATIC;
    double most = is_linear ? 1 : M_PI;
    double q =
        is_limited ? random_between(e, joint->limits.lower, joint->limits.upper) : random_between(e, -most, most);
    dyn_pose moved = identity_pose;
    if (b->motion == MOTION_SPHERICAL) {
        double axis[3] = {0, 0, 1 - 2 * random_between(e, 0, 1)}, tilt[9], turn[9],
               longitude = random_between(e, 0, 2 * M_PI);
        double radius = sqrt(fmax(0, 1 - axis[2] * axis[2]));
        axis[0] = radius * cos(longitude), axis[1] = radius * sin(longitude);
        rotation_from_z(axis, tilt);
        turn_about_z(q, turn);
        rotation_multiply(tilt, turn, moved.rotation);
    } else if (b->motion != MOTION_FLOATING && !is_linear) {
        turn_about_z(q, moved.rotation);
    }
    if (b->motion == MOTION_PLANAR) {
        moved.position[0] = random_between(e, -1, 1), moved.position[1] = random_between(e, -1, 1);
    }
    moved.position[2] = is_linear                         ? q
                        : b->motion == MOTION_HELICAL     ? b->pitch * q
                        : b->motion == MOTION_CYLINDRICAL ? random_between(e, -1, 1)
                                                          : 0;
    return moved;
}

/* Returns the pose of a body in its parent, at the zero configuration or at random. */
static dyn_pose place_in_parent(elimination *e, const body *b, bool is_zero) {
    dyn_pose origin, place, motion = is_zero ? identity_pose : random_motion(e, b);
    memcpy(origin.rotation, b->rotation, sizeof origin.rotation);
    memcpy(origin.position, b->position, sizeof origin.position);
    pose_compose(&origin, &motion, &place);
    return place;
}

/* onto += X' I X, where X maps motions of the parent to those of the child at `place`. */
static void add_moved(const dyn_pose *place, const full_inertia *I, full_inertia *onto) {
    const double *R = place->rotation, *r = place->position;
    double X[6][6] = {{0}}, IX[6][6] = {{0}};
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            X[i][j] = X[3 + i][3 + j] = R[3 * j + i];
        }
        /* v_child = R' (v - r x w) */
        X[3 + i][0] = R[6 + i] * -r[1] + R[3 + i] * r[2];
        X[3 + i][1] = R[6 + i] * r[0] - R[i] * r[2];
        X[3 + i][2] = R[i] * r[1] - R[3 + i] * r[0];
    }
    for (int i = 0; i < 6; i++) {
        for (int k = 0; k < 6; k++) {
            for (int j = 0; j < 6; j++) {
                IX[i][j] += I->entry[i][k] * X[k][j];
            }
        }
    }
    for (int k = 0; k < 6; k++) {
        for (int i = 0; i < 6; i++) {
            for (int j = 0; j < 6; j++) {
                onto->entry[i][j] += X[k][i] * IX[k][j];
            }
        }
    }
}

/* Eliminates coordinate k of body i from its inertia. Returns false, and leaves the coordinate in, where the inertia
 * that resists it is zero or negative. */
static bool eliminate(elimination *e, int i, int k) {
    const body *b = &e->model->bodies[i];
    full_inertia *I = &e->inertia[i];
    spatial_axis axis = motion_axes(b->motion)[k];
    double pitch = b->motion == MOTION_HELICAL ? b->pitch : 0, U[6], mass = 0, turning = 0;
    for (int j = 0; j < 3; j++) {
        turning += fabs(I->entry[j][j]);
        mass += fabs(I->entry[3 + j][3 + j]) / 3;
    }
    for (int j = 0; j < 6; j++) {
        U[j] = I->entry[j][axis] + pitch * I->entry[j][AXIS_VZ];
    }
    double pivot = U[axis] + pitch * U[AXIS_VZ];
    double scale = axis <= AXIS_WZ ? turning + mass + pitch * pitch * mass : mass;
    if (pivot < -negligible * e->scale) {
        e->negative = i;
    }
    if (!(pivot > negligible * scale)) {
        return false;
    }
    for (int j = 0; j < 6 && !e->is_rigid; j++) {
        for (int l = 0; l < 6; l++) {
            I->entry[j][l] -= U[j] * U[l] / pivot;
        }
    }
    return true;
}

/* Eliminates all coordinates in one configuration, the zero configuration or a random one, up to a negative pivot. */
static void eliminate_all(elimination *e, bool is_zero) {
    const dyn_model *model = e->model;
    for (int i = 0; i < model->body_count; i++) {
        e->inertia[i] = own_inertia(&model->bodies[i]);
    }
    for (int i = model->body_count - 1; i >= 0 && e->negative < 0; i--) {
        const body *b = &model->bodies[i];
        bool is_resisted = true;
        for (int k = b->nv - 1; k >= 0; k--) {
            is_resisted = eliminate(e, i, k) && is_resisted;
        }
        e->is_resisted[i] = e->is_resisted[i] || is_resisted;
        if (b->parent >= 0) {
            dyn_pose place = place_in_parent(e, b, is_zero);
            add_moved(&place, &e->inertia[i], &e->inertia[b->parent]);
        }
    }
}

/* Returns whether the inertia of a body about its centre of mass is positive semidefinite, to rounding. */
static bool is_semidefinite(const body *b) {
    double I[6], moments[3], size = 0;
    const double *h = b->first_moment, square = h[0] * h[0] + h[1] * h[1] + h[2] * h[2];
    for (int i = 0, k = 0; i < 3; i++) {
        for (int j = i; j < 3; j++, k++) {
            I[k] = b->inertia[k] - (b->mass > 0 ? ((i == j ? square : 0) - h[i] * h[j]) / b->mass : 0);
            size += fabs(b->inertia[k]);
        }
    }
    symmetric_eigenvalues(I, moments);
    return moments[0] >= -1e-12 * size;
}

/* Returns whether body i belongs to the subtree of body `root`. */
static bool is_in_subtree(const dyn_model *model, int i, int root) {
    while (i > root) {
        i = model->bodies[i].parent;
    }
    return i == root;
}

/* Sets the error for a body with a negative pivot. It names the worst link of the body's subtree. */
static dyn_status refuse(const dyn_builder *builder, const dyn_model *model, int root, dyn_error *error) {
    double moments[3] = {0}, smallest[3] = {INFINITY};
    int worst = 0;
    for (int i = 0; i < model->link_count; i++) {
        symmetric_eigenvalues(model->links[i].inertia.rotational, moments);
        if (moments[0] < smallest[0] && is_in_subtree(model, model->frames[i].body, root)) {
            memcpy(smallest, moments, sizeof smallest);
            worst = i;
        }
    }
    const char *name = model->links[worst].name;
    return builder_fail(
        builder, error, DYN_INVALID_ARGUMENT, link_element(builder, name),
        "this is no inertia: its principal moments are %g, %g and %g kg m^2, so that joint \"%s\" moves "
        "with less than no inertia and the mass matrix is indefinite; correct the inertia",
        smallest[0], smallest[1], smallest[2], model->joints[model->bodies[root].joint].name);
}

static bool all_are_resisted(const elimination *e) {
    int i = 0;
    while (i < e->model->body_count && e->is_resisted[i]) {
        i++;
    }
    return i == e->model->body_count;
}

/* Marks a coordinate as resisted if one of its bodies is. */
static void share_resistance(elimination *e) {
    const dyn_model *model = e->model;
    for (int i = 0; i < model->body_count; i++) {
        e->is_shared[model->bodies[i].v_index] |= e->is_resisted[i];
    }
    for (int i = 0; i < model->body_count; i++) {
        e->is_resisted[i] = e->is_shared[model->bodies[i].v_index];
    }
}

/* Finds the bodies that no inertia resists in any configuration. Coupled joints do not form a tree: where there are
 * some, a body counts as not resisted if no inertia resists it while all that it carries is held, and a coordinate if
 * no inertia resists any of its bodies. */
static void find_unresisted(elimination *e) {
    const dyn_model *model = e->model;
    e->is_rigid = model->has_coupling;
    for (int k = 0; k < DEFINITENESS_CONFIGURATIONS && e->negative < 0 && (k == 0 || !all_are_resisted(e)); k++) {
        eliminate_all(e, k == 0);
    }
    if (model->has_coupling) {
        share_resistance(e);
    }
}

/* Searches for a negative pivot, which sets e->negative, in all configurations. */
static void find_negative(elimination *e) {
    e->is_rigid = false;
    for (int k = 0; k < DEFINITENESS_CONFIGURATIONS && e->negative < 0; k++) {
        eliminate_all(e, k == 0);
    }
}

/* Reports the joints that no inertia resists as warnings. */
static void report_unresisted(const dyn_builder *builder, dyn_model *model, const bool *is_resisted,
                              dyn_report *report) {
    for (int i = 0; i < model->body_count; i++) {
        const char *name = model->joints[model->bodies[i].joint].name;
        if (!is_resisted[i]) {
            model->unresisted = model->bodies[i].joint;
            report_add_element(report, DYN_SEVERITY_WARNING, joint_element(builder, name),
                               "what it moves has no inertia along or about its axis: the mass matrix is singular, and "
                               "forward dynamics will be refused");
        }
    }
}

dyn_status inspect_mass_matrix(const dyn_builder *builder, dyn_model *model, dyn_report *report, dyn_error *error) {
    size_t bodies = (size_t)model->body_count + 1;
    elimination e = {.model = model, .negative = -1, .random = 1};
    bool all_semidefinite = true;
    e.inertia = calloc(bodies, sizeof *e.inertia);
    e.is_resisted = calloc(bodies, sizeof *e.is_resisted);
    e.is_shared = calloc((size_t)model->nv + 1, sizeof *e.is_shared);
    bool is_complete = e.inertia && e.is_resisted && e.is_shared != NULL;
    dyn_status status = is_complete ? DYN_OK : dyn_error_memory(error);
    model->unresisted = -1;
    for (int i = 0; i < model->body_count; i++) {
        const body *b = &model->bodies[i];
        e.scale += b->mass + fabs(b->inertia[0]) + fabs(b->inertia[3]) + fabs(b->inertia[5]);
        all_semidefinite = all_semidefinite && is_semidefinite(b);
    }
    if (status == DYN_OK) {
        find_unresisted(&e);
        if (!all_semidefinite) {
            find_negative(&e);
        }
        if (e.negative >= 0) {
            status = refuse(builder, model, e.negative, error);
        } else {
            report_unresisted(builder, model, e.is_resisted, report);
        }
    }
    free(e.inertia);
    free(e.is_resisted);
    free(e.is_shared);
    return status;
}
