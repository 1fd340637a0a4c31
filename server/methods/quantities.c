/* SPDX-License-Identifier: BSD-2-Clause */
/* Table of quantities, and the computations that it uses: each calls a function of the library for a block of
 * states. */
#include "methods/quantities.h"

#include <dynamics/dynamics.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "methods/passive_forces.h"
#include "methods/quantity_shapes.h"

#define QUANTITY(name) DYNAMICS__V1__QUANTITY__QUANTITY_##name

/* Concatenates the parts of each sample to one row. Part k has `count` rows of widths[k] values. */
static void join(size_t count, size_t part_count, const double *const *parts, const size_t *widths, double *rows) {
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < part_count; k++) {
            memcpy(rows, parts[k] + i * widths[k], widths[k] * sizeof *rows);
            rows += widths[k];
        }
    }
}

/* ---- the equation of motion -------------------------------------------------------------------------------------- */

/* Returns the passive forces that count, or NULL for none. */
static const dyn_passive_parts *counted_parts(const states *s) {
    return passive_forces_count(s->passive) ? s->passive : NULL;
}

/* Adds `sign` times the forces that the motion of the base causes to `forces`. */
static void add_base_forces(const states *s, double sign, double *forces) {
    for (size_t i = 0; s->base_forces && i < s->count * (size_t)dyn_model_nv(s->model); i++) {
        forces[i] += sign * s->base_forces[i];
    }
}

/* Returns the number of rows of the model and of the request. */
static size_t row_count(const states *s) {
    return (size_t)dyn_model_constraint_rows(s->model) + (s->given ? (size_t)s->given->count : 0);
}

/* Returns the options of inverse dynamics with constraints. */
static dyn_constrained_inverse_options constrained_options(const states *s) {
    dyn_constrained_inverse_options options = *s->motion;
    options.passive = counted_parts(s);
    options.added = s->base_forces;
    options.given = s->given;
    return options;
}

/* Returns the options of forward dynamics with constraints. */
static dyn_constraint_options forward_options(const states *s) {
    return (dyn_constraint_options)DYN_CONSTRAINT_OPTIONS_INIT(.passive = counted_parts(s), .given = s->given);
}

dyn_status quantities_add_gear_losses(const states *s, const dyn_constraint_options *options, double sign,
                                      double *forces, dyn_error *error) {
    size_t entries = s->count * (size_t)dyn_model_nv(s->model);
    double *losses = s->gear_losses;
    const dyn_constraint_options rows = forward_options(s);
    if (!losses) {
        return DYN_OK;
    }
    const dyn_geared_states at = {.n = s->count,
                                  .gravity = s->gravity,
                                  .q = s->q,
                                  .v = s->v,
                                  .forces = s->forces,
                                  .parts = *s->passive,
                                  .base = s->base,
                                  .constraints = options ? options : &rows,
                                  .motion = s->motion,
                                  .memory = losses + entries};
    dyn_status status = options ? dyn_gear_losses_under_forces(s->model, s->workspace, &at, s->tau, losses, error)
                                : dyn_gear_losses_of_motion(s->model, s->workspace, &at, s->a, losses, error);
    for (size_t i = 0; status == DYN_OK && i < entries; i++) {
        forces[i] += sign * losses[i];
    }
    return status;
}

static dyn_status inverse_dynamics(const states *s, dyn_error *error, double *const output[]) {
    dyn_status status;
    if (row_count(s) > 0) {
        const dyn_constrained_inverse_options options = constrained_options(s);
        status = dyn_constrained_inverse_dynamics(s->model, s->workspace, s->count, s->gravity, s->q, s->v, s->a,
                                                  s->forces, &options, output[0], NULL, s->agreement, error);
    } else {
        status = dyn_rnea(s->model, s->workspace, s->count, s->gravity, s->q, s->v, s->a, s->forces, output[0], error);
        add_base_forces(s, 1, output[0]);
        if (status == DYN_OK) {
            status = passive_forces_add(s->model, s->count, s->passive, -1, s->q, s->v, output[0], error);
        }
    }
    return status == DYN_OK ? quantities_add_gear_losses(s, NULL, -1, output[0], error) : status;
}

/* Sets *tau to the forces of the forward dynamics: tau, or its sum with the passive forces and the losses of gears,
 * less the forces that the motion of the base causes, which `sum` receives. */
static dyn_status find_forces(const states *s, const dyn_constraint_options *options, double *sum, const double **tau,
                              dyn_error *error) {
    *tau = s->tau;
    if (passive_forces_count(s->passive) == 0 && !s->base_forces && !s->gear_losses) {
        return DYN_OK;
    }
    *tau = sum;
    dyn_status status = passive_forces_sum(s->model, s->count, s->passive, s->q, s->v, s->tau, sum, error);
    add_base_forces(s, -1, sum);
    return status == DYN_OK ? quantities_add_gear_losses(s, options, 1, sum, error) : status;
}

static dyn_status forward_dynamics(const states *s, dyn_error *error, double *const output[]) {
    const dyn_constraint_options options = forward_options(s);
    const double *tau;
    dyn_status status = find_forces(s, &options, output[0], &tau, error);
    if (status != DYN_OK) {
        return status;
    }
    if (row_count(s) > 0) {
        return dyn_constrained_forward_dynamics(s->model, s->workspace, s->count, s->gravity, s->q, s->v, tau,
                                                s->forces, &options, output[0], NULL, NULL, error);
    }
    return dyn_aba(s->model, s->workspace, s->count, s->gravity, s->q, s->v, tau, s->forces, output[0], error);
}

static dyn_status mass_matrix(const states *s, dyn_error *error, double *const output[]) {
    return dyn_crba(s->model, s->workspace, s->count, s->q, output[0], error);
}

static dyn_status inverse_mass_matrix(const states *s, dyn_error *error, double *const output[]) {
    return dyn_minverse(s->model, s->workspace, s->count, s->q, output[0], error);
}

static dyn_status coriolis_matrix(const states *s, dyn_error *error, double *const output[]) {
    return dyn_coriolis_matrix(s->model, s->workspace, s->count, s->q, s->v, output[0], error);
}

static dyn_status christoffel_symbols(const states *s, dyn_error *error, double *const output[]) {
    return dyn_christoffel(s->model, s->workspace, s->count, s->q, output[0], error);
}

static dyn_status gravity_forces(const states *s, dyn_error *error, double *const output[]) {
    return dyn_gravity(s->model, s->workspace, s->count, s->gravity, s->q, output[0], error);
}

static dyn_status bias_forces(const states *s, dyn_error *error, double *const output[]) {
    dyn_status status = dyn_bias(s->model, s->workspace, s->count, s->gravity, s->q, s->v, output[0], error);
    add_base_forces(s, 1, output[0]);
    return status;
}

static dyn_status rotor_forces(const states *s, dyn_error *error, double *const output[]) {
    return dyn_rotor_forces(s->model, s->workspace, s->count, s->gravity, s->q, s->v, s->a, output[0], error);
}

static dyn_status rotor_coupling_forces(const states *s, dyn_error *error, double *const output[]) {
    return dyn_rotor_coupling_forces(s->model, s->workspace, s->count, s->q, s->v, s->a, output[0], error);
}

static dyn_status housing_wrenches(const states *s, dyn_error *error, double *const output[]) {
    const dyn_rotor_states at = {
        .n = s->count, .gravity = s->gravity, .q = s->q, .v = s->v, .a = s->a, .base = s->base};
    return dyn_housing_wrenches(s->model, s->workspace, &at, output[0], error);
}

static dyn_status joint_wrenches(const states *s, dyn_error *error, double *const output[]) {
    dyn_status status =
        dyn_joint_wrenches(s->model, s->workspace, s->count, s->gravity, s->q, s->v, s->a, s->forces, output[0], error);
    return status == DYN_OK && s->base ? dyn_base_forces(s->model, s->workspace, s->count, s->q, s->v, s->base,
                                                         s->base_forces, output[0], error)
                                       : status;
}

static dyn_status torque_regressor(const states *s, dyn_error *error, double *const output[]) {
    return dyn_torque_regressor(s->model, s->workspace, s->count, s->gravity, s->q, s->v, s->a, output[0], error);
}

/* Computes the joint forces sum J' f_ext of the external forces: minus the inverse dynamics at rest and without
 * gravity. */
static dyn_status external_forces(const states *s, dyn_error *error, double *const output[]) {
    const double none[3] = {0};
    size_t count = s->count * (size_t)dyn_model_nv(s->model);
    dyn_status status = dyn_rnea(s->model, s->workspace, s->count, none, s->q, NULL, NULL, s->forces, output[0], error);
    for (size_t i = 0; status == DYN_OK && i < count; i++) {
        output[0][i] = 0 - output[0][i];
    }
    return status;
}

/* Computes the energy regressor. The second output is scratch memory for the parts of the first. */
static dyn_status energy_regressor(const states *s, dyn_error *error, double *const output[]) {
    size_t entries = (size_t)dyn_model_parameter_count(s->model), widths[] = {entries, entries};
    double *parts[] = {output[1], output[1] + s->count * entries};
    dyn_status status =
        dyn_energy_regressor(s->model, s->workspace, s->count, s->gravity, s->q, s->v, parts[0], parts[1], error);
    if (status == DYN_OK) {
        join(s->count, 2, (const double *const *)parts, widths, output[0]);
    }
    return status;
}

/* Computes the inertias of the joints. The second output is scratch memory for the parts of the first. */
static dyn_status joint_inertias(const states *s, dyn_error *error, double *const output[]) {
    size_t nv = (size_t)dyn_model_nv(s->model), widths[] = {nv, nv};
    double *parts[] = {output[1], output[1] + s->count * nv};
    dyn_status status = dyn_joint_inertias(s->model, s->workspace, s->count, s->q, parts[0], parts[1], error);
    if (status == DYN_OK) {
        join(s->count, 2, (const double *const *)parts, widths, output[0]);
    }
    return status;
}

/* Computes the torque ellipsoid. The second output is scratch memory for the parts of the first. */
static dyn_status torque_ellipsoid(const states *s, dyn_error *error, double *const output[]) {
    size_t nv = (size_t)dyn_model_nv(s->model), widths[] = {nv, nv * nv};
    double *parts[] = {output[1], output[1] + s->count * nv};
    dyn_status status = dyn_torque_ellipsoid(s->model, s->workspace, s->count, s->q, parts[0], parts[1], error);
    if (status == DYN_OK) {
        join(s->count, 2, (const double *const *)parts, widths, output[0]);
    }
    return status;
}

/* ---- energy and momentum ----------------------------------------------------------------------------------------- */

static dyn_status energy(const states *s, dyn_error *error, double *const output[]) {
    return dyn_energy(s->model, s->workspace, s->count, s->gravity, s->q, s->v, output[0], output[1], error);
}

/* Returns an error for an entry of q, v or tau that is not finite, `width` values a sample. No function of the library
 * checks the inputs of quantities that are computed here. */
static dyn_status check_finite(const states *s, const char *name, size_t width, const double *values,
                               dyn_error *error) {
    for (size_t i = 0; values && i < s->count * width; i++) {
        if (!isfinite(values[i])) {
            error->status = DYN_INVALID_ARGUMENT;
            error->site = (dyn_error_site){.cause = DYN_CAUSE_NOT_FINITE,
                                           .argument = name,
                                           .has_index = true,
                                           .index = i,
                                           .width = width,
                                           .has_sample = true,
                                           .sample = i / width};
            snprintf(error->message, sizeof error->message, "the value is %g; pass a finite number", values[i]);
            return DYN_INVALID_ARGUMENT;
        }
    }
    return DYN_OK;
}

static dyn_status power(const states *s, dyn_error *error, double *const output[]) {
    size_t nv = (size_t)dyn_model_nv(s->model);
    if (check_finite(s, "v", nv, s->v, error) != DYN_OK || check_finite(s, "tau", nv, s->tau, error) != DYN_OK) {
        return DYN_INVALID_ARGUMENT;
    }
    for (size_t i = 0; i < s->count; i++) {
        double sum = 0;
        for (size_t k = 0; s->v && s->tau && k < nv; k++) {
            sum += s->tau[i * nv + k] * s->v[i * nv + k];
        }
        output[0][i] = sum;
    }
    return DYN_OK;
}

static dyn_status check_state(const states *s, dyn_error *error) {
    dyn_status status = check_finite(s, "q", (size_t)dyn_model_nq(s->model), s->q, error);
    return status == DYN_OK ? check_finite(s, "v", (size_t)dyn_model_nv(s->model), s->v, error) : status;
}

/* Computes one kind of the passive forces. */
static dyn_status passive_kind(const states *s, int kind, double *r, dyn_error *error) {
    dyn_passive_parts only = passive_forces_only(s->passive, kind);
    memset(r, 0, s->count * (size_t)dyn_model_nv(s->model) * sizeof *r);
    return dyn_add_passive_forces(s->model, s->count, &only, 1, s->q, s->v, r, error);
}

/* Computes the passive forces of each kind, side by side for each coordinate. The second output is scratch memory. */
static dyn_status passive_forces(const states *s, dyn_error *error, double *const output[]) {
    size_t entries = s->count * (size_t)dyn_model_nv(s->model);
    dyn_status status = check_state(s, error);
    for (int kind = 0; status == DYN_OK && kind < PASSIVE_KINDS; kind++) {
        status = passive_kind(s, kind, output[1], error);
        for (size_t i = 0; i < entries; i++) {
            output[0][i * PASSIVE_KINDS + (size_t)kind] = output[1][i];
        }
    }
    return status;
}

/* Computes the power - r'v of damping and friction. The second output is scratch memory. */
static dyn_status dissipated_power(const states *s, dyn_error *error, double *const output[]) {
    size_t nv = (size_t)dyn_model_nv(s->model);
    dyn_status status = check_state(s, error);
    memset(output[0], 0, s->count * sizeof *output[0]);
    for (int kind = PASSIVE_DAMPING; s->v && status == DYN_OK && kind <= PASSIVE_FRICTION; kind++) {
        status = passive_kind(s, kind, output[1], error);
        for (size_t i = 0; i < s->count * nv; i++) {
            output[0][i / nv] -= output[1][i] * s->v[i];
        }
    }
    return status;
}

static dyn_status spring_energy(const states *s, dyn_error *error, double *const output[]) {
    dyn_status status = check_finite(s, "q", (size_t)dyn_model_nq(s->model), s->q, error);
    dyn_spring_energy(s->model, s->count, s->q, output[0]);
    return status;
}

static dyn_status center_of_mass(const states *s, dyn_error *error, double *const output[]) {
    double position[BLOCK_SAMPLES * 3], velocity[BLOCK_SAMPLES * 3];
    dyn_status status = dyn_center_of_mass(s->model, s->workspace, s->count, s->q, s->v, s->a, s->at.subtree, output[0],
                                           output[1], output[2], output[3], error);
    if (status == DYN_OK && s->base) {
        status = dyn_center_of_mass(s->model, s->workspace, s->count, s->q, s->v, s->a, s->at.subtree, position,
                                    velocity, NULL, NULL, error);
        dyn_carry_point(s->count, s->base, position, velocity, output[2]);
    }
    if (status == DYN_OK && s->base && output[1]) {
        memcpy(output[1], velocity, 3 * s->count * sizeof(double));
    }
    return status;
}

static dyn_status centroidal_momentum(const states *s, dyn_error *error, double *const output[]) {
    return dyn_centroidal_momentum(s->model, s->workspace, s->count, s->q, s->v, output[0], error);
}

static dyn_status centroidal(const states *s, dyn_error *error, double *const output[]) {
    return dyn_centroidal(s->model, s->workspace, s->count, s->q, s->v, output[0], output[1], output[2], error);
}

/* ---- frames ------------------------------------------------------------------------------------------------------ */

/* Computes poses of a frame, as rows of position and quaternion (x, y, z, w). */
static dyn_status frame_pose(const states *s, dyn_error *error, double *const output[]) {
    double position[BLOCK_SAMPLES * 3], rotation[BLOCK_SAMPLES * 9];
    dyn_status status = dyn_frame_pose(s->model, s->workspace, s->count, s->q, s->at.frame, position, rotation, error);
    for (size_t i = 0; status == DYN_OK && i < s->count; i++) {
        memcpy(output[0] + 7 * i, position + 3 * i, 3 * sizeof(double));
        dyn_rotation_to_quaternion(rotation + 9 * i, output[0] + 7 * i + 3);
    }
    return status;
}

/* Writes rows of the rotation matrix and of roll, pitch and yaw. */
static dyn_status frame_orientation(const states *s, dyn_error *error, double *const output[]) {
    double rotation[BLOCK_SAMPLES * 9];
    dyn_status status = dyn_frame_pose(s->model, s->workspace, s->count, s->q, s->at.frame, NULL, rotation, error);
    for (size_t i = 0; status == DYN_OK && i < s->count; i++) {
        memcpy(output[0] + 12 * i, rotation + 9 * i, 9 * sizeof(double));
        status = dyn_rotation_to_euler("xyz", rotation + 9 * i, output[0] + 12 * i + 9, error);
    }
    return status;
}

static dyn_status frame_jacobian(const states *s, dyn_error *error, double *const output[]) {
    return dyn_frame_jacobian(s->model, s->workspace, s->count, s->q, s->at.frame, s->at.reference_frame, output[0],
                              error);
}

static dyn_status frame_motion(const states *s, dyn_error *error, double *const output[]) {
    double twist[BLOCK_SAMPLES * 6], rate[BLOCK_SAMPLES * 6];
    if (s->base) {
        return dyn_frame_motion_on_base(s->model, s->workspace, s->count, s->q, s->v, s->a, s->at.frame,
                                        s->at.reference_frame, s->base, output[0] ? output[0] : twist,
                                        output[1] ? output[1] : rate, error);
    }
    return dyn_frame_motion(s->model, s->workspace, s->count, s->q, s->v, s->a, s->at.frame, s->at.reference_frame,
                            output[0], output[1], output[2], error);
}

/* Computes the derivatives of a frame's twist and acceleration. The fourth output is the Jacobian. */
static dyn_status frame_derivatives(const states *s, dyn_error *error, double *const output[]) {
    return dyn_frame_derivatives(s->model, s->workspace, s->count, s->q, s->v, s->a, s->at.frame, s->at.reference_frame,
                                 output[0], output[1], output[2], output[3], error);
}

static dyn_status frame_hessian(const states *s, dyn_error *error, double *const output[]) {
    return dyn_frame_hessian(s->model, s->workspace, s->count, s->q, s->at.frame, s->at.reference_frame, output[0],
                             error);
}

static dyn_status manipulability(const states *s, dyn_error *error, double *const output[]) {
    double linear[BLOCK_SAMPLES * 2], angular[BLOCK_SAMPLES * 2], spatial[BLOCK_SAMPLES];
    dyn_status status =
        dyn_manipulability(s->model, s->workspace, s->count, s->q, s->at.frame, linear, angular, spatial, error);
    const double *const parts[] = {angular, linear, spatial};
    const size_t widths[] = {2, 2, 1};
    if (status == DYN_OK) {
        join(s->count, 3, parts, widths, output[0]);
    }
    return status;
}

/* Computes the ellipsoids of a frame's velocity and mass. The second output is scratch memory for the parts of the
 * first. */
static dyn_status ellipsoids(const states *s, dyn_error *error, double *const output[]) {
    static const size_t widths[] = {3, 9, 3, 9, 3, 9, 3, 9};
    double *parts[8], *next = output[1];
    for (int i = 0; i < 8; i++) {
        parts[i] = next;
        next += s->count * widths[i];
    }
    dyn_status status = dyn_velocity_ellipsoids(s->model, s->workspace, s->count, s->q, s->at.frame,
                                                s->at.reference_frame, parts[0], parts[1], parts[2], parts[3], error);
    if (status == DYN_OK) {
        status = dyn_mass_ellipsoids(s->model, s->workspace, s->count, s->q, s->at.frame, s->at.reference_frame,
                                     parts[4], parts[5], parts[6], parts[7], error);
    }
    if (status == DYN_OK) {
        join(s->count, 8, (const double *const *)parts, widths, output[0]);
    }
    return status;
}

static dyn_status acceleration_ellipsoids(const states *s, dyn_error *error, double *const output[]) {
    static const size_t widths[] = {3, 9, 3, 9};
    double *parts[] = {output[1], output[1] + 3 * s->count, output[1] + 12 * s->count, output[1] + 15 * s->count};
    dyn_status status =
        dyn_acceleration_ellipsoids(s->model, s->workspace, s->count, s->q, s->at.frame, s->at.reference_frame,
                                    parts[0], parts[1], parts[2], parts[3], error);
    if (status == DYN_OK) {
        join(s->count, 4, (const double *const *)parts, widths, output[0]);
    }
    return status;
}

static dyn_status body_inertia(const states *s, dyn_error *error, double *const output[]) {
    return dyn_body_inertia(s->model, s->workspace, s->count, s->q, s->at.frame, s->at.reference_frame, output[0],
                            error);
}

/* Computes the articulated inertia and its bias. */
static dyn_status articulated_inertia(const states *s, dyn_error *error, double *const output[]) {
    return dyn_articulated_inertia(s->model, s->workspace, s->count, s->gravity, s->q, s->v, s->tau, s->forces,
                                   s->at.frame, s->at.reference_frame, output[0], output[1], error);
}

static dyn_status principal_axes(const states *s, dyn_error *error, double *const output[]) {
    static const size_t widths[] = {3, 9};
    double *parts[] = {output[1], output[1] + 3 * s->count};
    dyn_status status = dyn_principal_moments(s->model, s->workspace, s->count, s->q, s->at.frame,
                                              s->at.reference_frame, parts[0], parts[1], error);
    if (status == DYN_OK) {
        join(s->count, 2, (const double *const *)parts, widths, output[0]);
    }
    return status;
}

/* Returns the states of tasks under constraints. */
static dyn_constrained_states constrained_states(const states *s) {
    return (dyn_constrained_states){s->count, s->gravity, s->q, s->v, s->given};
}

static dyn_status operational_space(const states *s, dyn_error *error, double *const output[]) {
    const dyn_task *task = &s->at.task->task;
    dyn_status status;
    if (row_count(s) > 0) {
        const dyn_constrained_states at = constrained_states(s);
        const dyn_constrained_task to = {output[0], output[1], output[2], output[3], output[4], output[5]};
        status = dyn_constrained_operational_space(s->model, s->workspace, &at, task, &to, error);
    } else {
        status = dyn_operational_space(s->model, s->workspace, s->count, s->gravity, s->q, s->v, task, output[0],
                                       output[1], output[2], output[3], output[4], output[5], error);
    }
    if (status != DYN_OK && error->site.argument && strcmp(error->site.argument, "task") == 0) {
        error->site.argument = "quantities";
        error->site.has_item = true;
        error->site.item = s->at.task->request;
        error->site.part = "task";
    }
    return status;
}

/* Computes eta = mu + p. The other outputs are mu and p. */
static dyn_status operational_space_eta(const states *s, dyn_error *error, double *const output[]) {
    double *const both[COMPUTATION_OUTPUTS] = {[2] = output[1], [3] = output[2]};
    dyn_status status = operational_space(s, error, both);
    size_t count = s->count * (size_t)dyn_task_row_count(&s->at.task->task);
    for (size_t i = 0; status == DYN_OK && i < count; i++) {
        output[0][i] = output[1][i] + output[2][i];
    }
    return status;
}

/* Computes the torques for the goal of a task. */
static dyn_status task_torques(const states *s, dyn_error *error, double *const output[]) {
    dyn_task_goal goal = s->at.task->goal;
    goal.accelerations += s->first * goal.stride;
    const dyn_task_torques to = {output[0], output[1], output[2]};
    const dyn_constrained_states at = constrained_states(s);
    if (row_count(s) > 0) {
        return dyn_constrained_task_torques(s->model, s->workspace, &at, s->forces, &goal, s->tau, &to, error);
    }
    return dyn_task_torques_for(s->model, s->workspace, s->count, s->gravity, s->q, s->v, s->forces, &goal, s->tau, &to,
                                error);
}

/* ---- constraints ------------------------------------------------------------------------------------------------- */

/* Replaces rows of the model's constraints, which stand one behind the other, by those of the model and of the request.
 * Each row has `width` numbers. `own` and `given` are of one sample; `given` NULL: zeros. */
static void append_rows(const states *s, size_t width, const double *given, double *rows) {
    const size_t k = (size_t)s->given->count * width, m = row_count(s) * width - k;
    for (size_t i = s->count; rows && i-- > 0;) {
        const double *from = given && s->given->is_per_sample ? given + i * k : given;
        memmove(rows + i * (m + k), rows + i * m, m * sizeof *rows);
        memset(rows + i * (m + k) + m, 0, k * sizeof *rows);
        if (from) {
            memcpy(rows + i * (m + k) + m, from, k * sizeof *rows);
        }
    }
}

/* Computes A, dA/dt v and the closure errors. Rows of the request state -A a in the place of dA/dt v, and have no
 * errors. */
static dyn_status constraint_rows(const states *s, dyn_error *error, double *const output[]) {
    const bool has_own = dyn_model_constraint_rows(s->model) > 0;
    dyn_status status = has_own ? dyn_constraint_rows(s->model, s->workspace, s->count, s->q, s->v, output[0],
                                                      output[1], output[2], error)
                                : DYN_OK;
    if (status != DYN_OK || !s->given) {
        return status;
    }
    const size_t k = (size_t)s->given->count, m = row_count(s);
    append_rows(s, (size_t)dyn_model_nv(s->model), s->given->A, output[0]);
    append_rows(s, 1, s->given->acceleration, output[1]);
    append_rows(s, 1, NULL, output[2]);
    for (size_t i = 0; output[1] && i < s->count * m; i++) {
        output[1][i] = i % m < m - k ? output[1][i] : 0 - output[1][i];
    }
    return DYN_OK;
}

static dyn_status constraint_space(const states *s, dyn_error *error, double *const output[]) {
    const dyn_constraint_space to = {.given = s->given,
                                     .inverse_inertia = output[0],
                                     .inertia = output[1],
                                     .force_projector = output[2],
                                     .acceleration_projector = output[3],
                                     .multipliers_by_force = output[4],
                                     .acceleration_by_force = output[5]};
    return dyn_constraint_space_quantities(s->model, s->workspace, s->count, s->q, &to, error);
}

static dyn_status constraint_condition(const states *s, dyn_error *error, double *const output[]) {
    double rank[BLOCK_SAMPLES], condition[BLOCK_SAMPLES];
    const double *const parts[] = {rank, condition};
    const size_t widths[] = {1, 1};
    const dyn_constraint_space to = {.given = s->given, .rank = rank, .condition = condition};
    dyn_status status = dyn_constraint_space_quantities(s->model, s->workspace, s->count, s->q, &to, error);
    if (status == DYN_OK) {
        join(s->count, 2, parts, widths, output[0]);
    }
    return status;
}

/* Spreads rows of m multipliers, which begin at `lambda`, to rows of both signs. */
static void write_both_signs(const states *s, const double *lambda, double *rows) {
    size_t m = row_count(s);
    for (size_t i = 0; i < s->count; i++, lambda += m, rows += 2 * m) {
        for (size_t k = 0; k < m; k++) {
            rows[k] = lambda[k];
            rows[m + k] = 0 - lambda[k];
        }
    }
}

/* Computes the multipliers lambda of the motion under tau, and its acceleration a. */
static dyn_status find_multipliers(const states *s, double *a, double *lambda, dyn_error *error) {
    const dyn_constraint_options options = forward_options(s);
    const double *tau;
    dyn_status status = find_forces(s, &options, a, &tau, error);
    return status == DYN_OK ? dyn_constrained_forward_dynamics(s->model, s->workspace, s->count, s->gravity, s->q, s->v,
                                                               tau, s->forces, &options, a, lambda, NULL, error)
                            : status;
}

/* Computes the multipliers. The second and third outputs are scratch memory for them and for joint vectors. */
static dyn_status constraint_multipliers(const states *s, dyn_error *error, double *const output[]) {
    dyn_status status = find_multipliers(s, output[2], output[1], error);
    if (status == DYN_OK) {
        write_both_signs(s, output[1], output[0]);
    }
    return status;
}

/* Computes the wrenches of the constraints of the model for the multipliers of all rows. */
static dyn_status find_wrenches(const states *s, double *lambda, double *wrenches, dyn_error *error) {
    const size_t m = row_count(s), own = (size_t)dyn_model_constraint_rows(s->model);
    for (size_t i = 1; own < m && i < s->count; i++) {
        memmove(lambda + i * own, lambda + i * m, own * sizeof *lambda);
    }
    return dyn_constraint_wrenches(s->model, s->workspace, s->count, s->q, s->v, lambda, counted_parts(s), wrenches,
                                   error);
}

/* Computes the wrenches of constraints under tau. The second and third outputs are scratch memory for multipliers and
 * joint vectors. */
static dyn_status constraint_wrenches(const states *s, dyn_error *error, double *const output[]) {
    dyn_status status = find_multipliers(s, output[2], output[1], error);
    return status == DYN_OK ? find_wrenches(s, output[1], output[0], error) : status;
}

static dyn_status wrenches_of_motion(const states *s, dyn_error *error, double *const output[]) {
    const dyn_constrained_inverse_options options = constrained_options(s);
    dyn_status status =
        dyn_constrained_inverse_dynamics(s->model, s->workspace, s->count, s->gravity, s->q, s->v, s->a, s->forces,
                                         &options, output[2], output[1], s->agreement, error);
    return status == DYN_OK ? find_wrenches(s, output[1], output[0], error) : status;
}

static dyn_status multipliers_of_motion(const states *s, dyn_error *error, double *const output[]) {
    const dyn_constrained_inverse_options options = constrained_options(s);
    dyn_status status =
        dyn_constrained_inverse_dynamics(s->model, s->workspace, s->count, s->gravity, s->q, s->v, s->a, s->forces,
                                         &options, output[2], output[1], s->agreement, error);
    if (status == DYN_OK) {
        write_both_signs(s, output[1], output[0]);
    }
    return status;
}

static dyn_status projected_inverse_dynamics(const states *s, dyn_error *error, double *const output[]) {
    dyn_status status =
        dyn_rnea(s->model, s->workspace, s->count, s->gravity, s->q, s->v, s->a, s->forces, output[0], error);
    add_base_forces(s, 1, output[0]);
    if (status == DYN_OK) {
        status = passive_forces_add(s->model, s->count, s->passive, -1, s->q, s->v, output[0], error);
    }
    return status == DYN_OK ? dyn_constraint_project(s->model, s->workspace, s->count, s->q, s->given, output[0], NULL,
                                                     output[0], NULL, error)
                            : status;
}

static dyn_status projected_forward_dynamics(const states *s, dyn_error *error, double *const output[]) {
    const dyn_constraint_options options = forward_options(s);
    const double *tau;
    dyn_status status = find_forces(s, &options, output[0], &tau, error);
    if (status == DYN_OK) {
        status = dyn_aba(s->model, s->workspace, s->count, s->gravity, s->q, s->v, tau, s->forces, output[0], error);
    }
    return status == DYN_OK ? dyn_constraint_project(s->model, s->workspace, s->count, s->q, s->given, NULL, output[0],
                                                     NULL, output[0], error)
                            : status;
}

/* Computes the velocities after an impact, and its impulses. */
static dyn_status impact(const states *s, dyn_error *error, double *const output[]) {
    return dyn_impact(s->model, s->workspace, s->count, s->q, s->v, s->given, s->at.restitution, output[0], output[1],
                      error);
}

/* Computes the contacts in a step. */
static dyn_status contacts(const states *s, dyn_error *error, double *const output[]) {
    const contact_states block = {s->count, s->q, s->v, s->tau, s->forces, s->base};
    const contact_results to = {.forces = output[0],
                                .gaps = output[1],
                                .slips = output[2],
                                .normals = output[3],
                                .points = output[4],
                                .a = output[5],
                                .solution = output[6]};
    return contact_stepper_run(s->contacts, &block, &to, error);
}

/* Computes an impact of the contacts and stops that a step reaches. */
static dyn_status contact_impact(const states *s, dyn_error *error, double *const output[]) {
    const contact_states block = {s->count, s->q, s->v, NULL, NULL, NULL};
    const dyn_contact_impact to = {.v = output[0], .contacts = output[1], .stops = output[2]};
    return contact_stepper_strike(s->contacts, &block, s->at.restitution, &to, error);
}

/* Computes forces, acceleration and multipliers of hybrid control. The last output is scratch memory. */
static dyn_status hybrid_forces(const states *s, dyn_error *error, double *const output[]) {
    dyn_status status = dyn_hybrid_forces(s->model, s->workspace, s->count, s->gravity, s->q, s->v, s->given, s->a,
                                          s->tau, s->forces, output[0], output[1], output[3], error);
    if (status == DYN_OK) {
        write_both_signs(s, output[3], output[2]);
    }
    return status;
}

/* ---- derivatives ------------------------------------------------------------------------------------------------- */

size_t added_scratch_size(const dyn_model *model, size_t count) {
    size_t nv = (size_t)dyn_model_nv(model), m = (size_t)dyn_model_constraint_rows(model);
    return count * nv * (2 + nv + m) + 2 * nv * nv + nv;
}

/* Computes the derivatives along q and v of the forces that the state adds in sample i: those of the base, less the
 * passive forces. The losses of gears are constant. */
static dyn_status added_derivatives(const states *s, size_t i, double *dq, double *dv, dyn_error *error) {
    const size_t nq = (size_t)dyn_model_nq(s->model), nv = (size_t)dyn_model_nv(s->model);
    const double *q = s->q + i * nq, *v = s->v ? s->v + i * nv : NULL;
    dyn_status status = DYN_OK;
    memset(dq, 0, nv * nv * sizeof *dq);
    memset(dv, 0, nv * nv * sizeof *dv);
    if (s->base) {
        const size_t row = i * s->base->stride;
        const dyn_base_motion one = {s->base->twist + row, s->base->acceleration + row, 0};
        status = dyn_base_force_derivatives(s->model, s->workspace, 1, q, v, &one, dq, dv, error);
    }
    if (status == DYN_OK && passive_forces_count(s->passive)) {
        status = dyn_add_passive_force_derivatives(s->model, 1, s->passive, -1, q, v, dq, dv, error);
    }
    return status;
}

/* Computes the derivatives of the inverse dynamics with respect to q, v and a. The derivative with respect to a is the
 * mass matrix. */
static dyn_status inverse_dynamics_derivatives(const states *s, dyn_error *error, double *const output[]) {
    const size_t size = (size_t)dyn_model_nv(s->model) * (size_t)dyn_model_nv(s->model);
    dyn_status status = dyn_rnea_derivatives(s->model, s->workspace, s->count, s->gravity, s->q, s->v, s->a, s->forces,
                                             output[0], output[1], output[2], error);
    for (size_t i = 0; s->added_scratch && status == DYN_OK && i < s->count; i++) {
        double *dq = s->added_scratch, *dv = dq + size;
        status = added_derivatives(s, i, dq, dv, error);
        for (size_t k = 0; status == DYN_OK && k < size; k++) {
            output[0][i * size + k] += dq[k], output[1][i * size + k] += dv[k];
        }
    }
    return status;
}

/* Subtracts B C from A: rows x nv, rows x nv and nv x nv. A may be NULL. */
static void subtract_product(size_t rows, size_t nv, const double *B, const double *C, double *A) {
    for (size_t i = 0; A && i < rows * nv; i++) {
        for (size_t k = 0; k < nv; k++) {
            A[i / nv * nv + k] -= B[i] * C[i % nv * nv + k];
        }
    }
}

/* Subtracts the product of d(result)/dtau, rows x nv, and the derivatives of the forces that the state adds from the
 * derivatives of the results. Derivatives may be NULL. */
static dyn_status subtract_added(const states *s, size_t rows, const double *by_tau, double *by_q, double *by_v,
                                 dyn_error *error) {
    const size_t nv = (size_t)dyn_model_nv(s->model), size = nv * nv;
    double *dq = s->added_scratch + 2 * s->count * nv, *dv = dq + size;
    dyn_status status = DYN_OK;
    for (size_t i = 0; status == DYN_OK && i < s->count; i++) {
        status = added_derivatives(s, i, dq, dv, error);
        if (status == DYN_OK) {
            const size_t first = i * rows * nv;
            subtract_product(rows, nv, by_tau + first, dq, by_q ? by_q + first : NULL);
            subtract_product(rows, nv, by_tau + first, dv, by_v ? by_v + first : NULL);
        }
    }
    return status;
}

/* Returns memory for the derivatives of results along tau, or NULL where the state adds no forces. */
static double *by_tau_scratch(const states *s) {
    const size_t nv = (size_t)dyn_model_nv(s->model);
    return s->added_scratch ? s->added_scratch + 2 * s->count * nv + 2 * nv * nv : NULL;
}

/* Computes the derivatives of the forward dynamics with respect to q, v and tau. The derivative with respect to tau is
 * the inverse mass matrix, unless the model has constraints. Forces that the state adds change the acceleration by
 * da/dtau times their change. */
static dyn_status forward_dynamics_derivatives(const states *s, dyn_error *error, double *const output[]) {
    const dyn_constraint_options options = forward_options(s);
    const bool is_constrained = dyn_model_constraint_rows(s->model) > 0;
    double *da_dtau = is_constrained ? by_tau_scratch(s) : output[2];
    const double *tau;
    dyn_status status = find_forces(s, &options, s->added_scratch, &tau, error);
    if (status == DYN_OK && is_constrained) {
        const dyn_constrained_derivatives to = {.da_dq = output[0], .da_dv = output[1], .da_dtau = da_dtau};
        status = dyn_constrained_forward_dynamics_derivatives(s->model, s->workspace, s->count, s->gravity, s->q, s->v,
                                                              tau, s->forces, &options, &to, error);
    } else if (status == DYN_OK) {
        status = dyn_aba_derivatives(s->model, s->workspace, s->count, s->gravity, s->q, s->v, tau, s->forces,
                                     output[0], output[1], output[2], error);
    }
    return status == DYN_OK && s->added_scratch
               ? subtract_added(s, (size_t)dyn_model_nv(s->model), da_dtau, output[0], output[1], error)
               : status;
}

static dyn_status multiplier_derivatives(const states *s, dyn_error *error, double *const output[]) {
    const dyn_constraint_options options = forward_options(s);
    const dyn_constrained_derivatives to = {
        .dlambda_dq = output[0], .dlambda_dv = output[1], .dlambda_dtau = by_tau_scratch(s)};
    const double *tau;
    dyn_status status = find_forces(s, &options, s->added_scratch, &tau, error);
    if (status == DYN_OK) {
        status = dyn_constrained_forward_dynamics_derivatives(s->model, s->workspace, s->count, s->gravity, s->q, s->v,
                                                              tau, s->forces, &options, &to, error);
    }
    return status == DYN_OK && s->added_scratch
               ? subtract_added(s, row_count(s), to.dlambda_dtau, output[0], output[1], error)
               : status;
}

static dyn_status gravity_derivatives(const states *s, dyn_error *error, double *const output[]) {
    return dyn_gravity_derivatives(s->model, s->workspace, s->count, s->gravity, s->q, output[0], error);
}

static dyn_status inverse_dynamics_second_derivatives(const states *s, dyn_error *error, double *const output[]) {
    return dyn_rnea_second_derivatives(s->model, s->workspace, s->count, s->gravity, s->q, s->v, s->a, output[0],
                                       output[1], output[2], output[3], error);
}

/* Computes the second derivatives of the forward dynamics. Outputs from the fifth on are the first derivatives. */
static dyn_status forward_dynamics_second_derivatives(const states *s, dyn_error *error, double *const output[]) {
    return dyn_aba_second_derivatives(s->model, s->workspace, s->count, s->gravity, s->q, s->v, s->tau, output + 4,
                                      output, error);
}

/* Adds `sign` times the derivatives along (dq, dv) of the forces that the state adds to `forces`. */
static dyn_status add_added_along(const states *s, double sign, double *forces, dyn_error *error) {
    const size_t nv = (size_t)dyn_model_nv(s->model), size = nv * nv;
    if (!s->added_scratch) {
        return DYN_OK;
    }
    double *by_q = s->added_scratch + 2 * s->count * nv, *by_v = by_q + size, *along = by_v + size;
    dyn_status status = DYN_OK;
    for (size_t i = 0; status == DYN_OK && i < s->count; i++) {
        status = added_derivatives(s, i, by_q, by_v, error);
        if (status == DYN_OK) {
            dyn_base_forces_along(s->model, 1, by_q, by_v, s->dq ? s->dq + i * nv : NULL, s->dv ? s->dv + i * nv : NULL,
                                  along);
        }
        for (size_t k = 0; status == DYN_OK && k < nv; k++) {
            forces[i * nv + k] += sign * along[k];
        }
    }
    return status;
}

static dyn_status inverse_dynamics_along(const states *s, dyn_error *error, double *const output[]) {
    dyn_status status = dyn_rnea_directional_derivative(s->model, s->workspace, s->count, s->gravity, s->q, s->v, s->a,
                                                        s->forces, s->dq, s->dv, s->da, output[0], error);
    return status == DYN_OK ? add_added_along(s, 1, output[0], error) : status;
}

/* Computes the derivative of the forward dynamics along (dq, dv, dtau). Forces that the state adds change tau and
 * dtau. */
static dyn_status forward_dynamics_along(const states *s, dyn_error *error, double *const output[]) {
    const size_t count = s->count * (size_t)dyn_model_nv(s->model);
    const dyn_constraint_options options = forward_options(s);
    const double *tau, *dtau = s->dtau;
    dyn_status status = find_forces(s, &options, s->added_scratch, &tau, error);
    if (status == DYN_OK && s->added_scratch) {
        double *sum = s->added_scratch + count;
        for (size_t k = 0; k < count; k++) {
            sum[k] = s->dtau ? s->dtau[k] : 0;
        }
        dtau = sum;
        status = add_added_along(s, -1, sum, error);
    }
    if (status == DYN_OK && row_count(s) > 0) {
        const dyn_constrained_direction direction = {s->dq, s->dv, dtau};
        return dyn_constrained_forward_dynamics_along(s->model, s->workspace, s->count, s->gravity, s->q, s->v, tau,
                                                      s->forces, &options, &direction, output[0], error);
    }
    return status == DYN_OK ? dyn_aba_directional_derivative(s->model, s->workspace, s->count, s->gravity, s->q, s->v,
                                                             tau, s->forces, s->dq, s->dv, dtau, output[0], error)
                            : status;
}

/* Computes the derivatives of the centroidal momentum and of its rate. The fourth output is the momentum matrix. */
static dyn_status centroidal_derivatives(const states *s, dyn_error *error, double *const output[]) {
    return dyn_centroidal_derivatives(s->model, s->workspace, s->count, s->q, s->v, s->a, output[0], output[1],
                                      output[2], output[3], error);
}

/* ---- functions with several outputs ------------------------------------------------------------------------------ */

static const computation by_energy = {.run = energy, .yields = 2, .linear = 20};
static const computation by_center_of_mass = {.run = center_of_mass, .yields = 4, .linear = 30, .quadratic = 2};
static const computation by_centroidal = {.run = centroidal, .yields = 3, .linear = 80};
static const computation by_frame_motion = {.run = frame_motion, .yields = 3, .linear = 30};
static const computation by_frame_derivatives = {
    .run = frame_derivatives, .yields = 3, .along = {QUANTITY(FRAME_JACOBIAN)}, .needs_all = true, .linear = 60};
static const computation by_inverse_dynamics_derivatives = {.run = inverse_dynamics_derivatives,
                                                            .is_of_tree = true,
                                                            .yields = 2,
                                                            .along = {QUANTITY(MASS_MATRIX)},
                                                            .needs_all = true,
                                                            .linear = 80,
                                                            .quadratic = 10};
static const computation by_forward_dynamics_derivatives = {.run = forward_dynamics_derivatives,
                                                            .differentiates_rows = true,
                                                            .yields = 2,
                                                            .along = {QUANTITY(INVERSE_MASS_MATRIX)},
                                                            .needs_all = true,
                                                            .linear = 100,
                                                            .quadratic = 20,
                                                            .cubic = 1,
                                                            .constrained = 15};
static const computation by_centroidal_derivatives = {.run = centroidal_derivatives,
                                                      .yields = 3,
                                                      .along = {QUANTITY(CENTROIDAL_MOMENTUM_MATRIX)},
                                                      .needs_all = true,
                                                      .linear = 100};
static const computation by_inverse_dynamics_second_derivatives = {.run = inverse_dynamics_second_derivatives,
                                                                   .is_of_tree = true,
                                                                   .yields = 4,
                                                                   .needs_all = true,
                                                                   .linear = 100,
                                                                   .quadratic = 20,
                                                                   .cubic = 20};
static const computation by_forward_dynamics_second_derivatives = {
    .run = forward_dynamics_second_derivatives,
    .is_of_tree = true,
    .yields = 4,
    .along = {QUANTITY(FORWARD_DYNAMICS_BY_Q), QUANTITY(FORWARD_DYNAMICS_BY_V), QUANTITY(INVERSE_MASS_MATRIX)},
    .needs_all = true,
    .linear = 100,
    .quadratic = 50,
    .cubic = 50,
    .quartic = 4};
static const computation by_operational_space = {
    .run = operational_space, .yields = 6, .linear = 800, .constrained = 4, .quadratic = 40};
static const computation by_operational_space_eta = {
    .run = operational_space_eta,
    .yields = 1,
    .along = {QUANTITY(OPERATIONAL_SPACE_BIAS), QUANTITY(OPERATIONAL_SPACE_GRAVITY)},
    .needs_all = true,
    .linear = 800,
    .constrained = 4,
    .quadratic = 40};
static const computation by_task_torques = {
    .run = task_torques, .has_goal = true, .yields = 3, .linear = 800, .constrained = 4, .quadratic = 60};
static const computation by_constraint_rows = {
    .run = constraint_rows, .is_of_constraints = true, .yields = 3, .linear = 60, .constrained = 0.1};
static const computation by_constraint_space = {
    .run = constraint_space, .is_of_constraints = true, .yields = 6, .linear = 100, .constrained = 3};
static const computation by_constraint_multipliers = {.run = constraint_multipliers,
                                                      .is_of_constraints = true,
                                                      .yields = 1,
                                                      .along = {QUANTITY(CONSTRAINT_ERROR), QUANTITY(FORWARD_DYNAMICS)},
                                                      .needs_all = true,
                                                      .linear = 100,
                                                      .constrained = 1};
static const computation by_multipliers_of_motion = {.run = multipliers_of_motion,
                                                     .is_of_constraints = true,
                                                     .yields = 1,
                                                     .along = {QUANTITY(CONSTRAINT_ERROR), QUANTITY(FORWARD_DYNAMICS)},
                                                     .needs_all = true,
                                                     .linear = 100,
                                                     .constrained = 3};
static const computation by_constraint_wrenches = {.run = constraint_wrenches,
                                                   .is_of_constraints = true,
                                                   .yields = 1,
                                                   .along = {QUANTITY(CONSTRAINT_ERROR), QUANTITY(FORWARD_DYNAMICS)},
                                                   .needs_all = true,
                                                   .linear = 200,
                                                   .constrained = 2};
static const computation by_wrenches_of_motion = {.run = wrenches_of_motion,
                                                  .is_of_constraints = true,
                                                  .yields = 1,
                                                  .along = {QUANTITY(CONSTRAINT_ERROR), QUANTITY(FORWARD_DYNAMICS)},
                                                  .needs_all = true,
                                                  .linear = 200,
                                                  .constrained = 4};
static const computation by_impact = {
    .run = impact, .is_of_constraints = true, .is_impact = true, .yields = 2, .linear = 100, .constrained = 1};
static const computation by_contacts = {
    .run = contacts, .is_of_contacts = true, .has_contact_step = true, .yields = 7, .needs_all = true, .linear = 200};
static const computation by_contact_impact = {
    .run = contact_impact, .has_contact_step = true, .is_impact = true, .yields = 3, .needs_all = true, .linear = 200};
static const computation by_hybrid_forces = {.run = hybrid_forces,
                                             .is_of_constraints = true,
                                             .yields = 3,
                                             .along = {QUANTITY(CONSTRAINT_ERROR)},
                                             .needs_all = true,
                                             .linear = 200,
                                             .constrained = 2};
static const computation by_multiplier_derivatives = {.run = multiplier_derivatives,
                                                      .is_of_constraints = true,
                                                      .differentiates_rows = true,
                                                      .yields = 2,
                                                      .linear = 100,
                                                      .quadratic = 20,
                                                      .cubic = 1,
                                                      .constrained = 15};
static const computation by_ellipsoids = {.run = ellipsoids,
                                          .is_of_tree = true,
                                          .yields = 1,
                                          .along = {QUANTITY(FRAME_ELLIPSOIDS)},
                                          .needs_all = true,
                                          .linear = 600};
static const computation by_acceleration_ellipsoids = {.run = acceleration_ellipsoids,
                                                       .is_of_tree = true,
                                                       .yields = 1,
                                                       .along = {QUANTITY(FRAME_ACCELERATION_ELLIPSOIDS)},
                                                       .needs_all = true,
                                                       .linear = 800};
static const computation by_principal_axes = {
    .run = principal_axes, .yields = 1, .along = {QUANTITY(FRAME_PRINCIPAL_AXES)}, .needs_all = true, .linear = 60};
static const computation by_energy_regressor = {
    .run = energy_regressor, .yields = 1, .along = {QUANTITY(ENERGY_REGRESSOR)}, .needs_all = true, .linear = 100};
static const computation by_articulated_inertia = {
    .run = articulated_inertia, .yields = 2, .needs_all = true, .is_of_tree = true, .linear = 200};
static const computation by_joint_inertias = {.run = joint_inertias,
                                              .is_of_tree = true,
                                              .yields = 1,
                                              .along = {QUANTITY(JOINT_INERTIAS)},
                                              .needs_all = true,
                                              .linear = 20,
                                              .quadratic = 60};
static const computation by_passive_forces = {
    .run = passive_forces, .yields = 1, .along = {QUANTITY(PASSIVE_FORCES)}, .needs_all = true, .linear = 30};
static const computation by_dissipated_power = {
    .run = dissipated_power, .yields = 1, .along = {QUANTITY(PASSIVE_FORCES)}, .needs_all = true, .linear = 20};
static const computation by_torque_ellipsoid = {.run = torque_ellipsoid,
                                                .is_of_tree = true,
                                                .yields = 1,
                                                .along = {QUANTITY(TORQUE_ELLIPSOID)},
                                                .needs_all = true,
                                                .linear = 100,
                                                .cubic = 40};

/* ---- the table --------------------------------------------------------------------------------------------------- */

/* Computation whose only output is the quantity, with its costs; and the index of that output. */
#define ALONE(function, ...) &(const computation){.run = function, .yields = 1, __VA_ARGS__}, 0

/* Inputs of the inverse and of the forward dynamics. */
#define INVERSE_INPUTS (USES_V | USES_A | USES_GRAVITY | USES_FORCES | USES_PAYLOADS)
#define FORWARD_INPUTS (USES_V | USES_TAU | USES_GRAVITY | USES_FORCES | USES_PAYLOADS)
#define MOTION_INPUTS (INVERSE_INPUTS | USES_PASSIVE_FORCES | USES_CONSTRAINTS | USES_BASE | USES_MOTION)
#define CONTACT_INPUTS (FORWARD_INPUTS | USES_PASSIVE_FORCES | USES_CONSTRAINTS | USES_BASE)

/* Rows of the table: subject, frame, inputs, blocks; then the computation and its output. */
static const quantity_row quantities[] = {
    [QUANTITY(INVERSE_DYNAMICS)] = {OF_ROBOT, "", MOTION_INPUTS, JOINT_VECTOR(FORCE),
                                    ALONE(inverse_dynamics, .linear = 20)},
    [QUANTITY(FORWARD_DYNAMICS)] = {OF_ROBOT, "", FORWARD_INPUTS | USES_PASSIVE_FORCES | USES_CONSTRAINTS | USES_BASE,
                                    JOINT_VECTOR(ACCELERATION), ALONE(forward_dynamics, .linear = 40)},
    [QUANTITY(MASS_MATRIX)] = {OF_ROBOT, "", USES_PAYLOADS, JOINT_MATRIX(INERTIA),
                               ALONE(mass_matrix, .linear = 20, .quadratic = 2)},
    [QUANTITY(INVERSE_MASS_MATRIX)] = {OF_ROBOT, "", USES_PAYLOADS, JOINT_MATRIX(INVERSE_INERTIA),
                                       ALONE(inverse_mass_matrix, .is_of_tree = true, .linear = 40, .quadratic = 4)},
    [QUANTITY(CORIOLIS_MATRIX)] = {OF_ROBOT, "", USES_V | USES_PAYLOADS, JOINT_MATRIX(DAMPING),
                                   ALONE(coriolis_matrix, .linear = 60, .quadratic = 6)},
    [QUANTITY(CHRISTOFFEL_SYMBOLS)] = {OF_ROBOT, "", USES_PAYLOADS, JOINT_CUBE(SYMBOL),
                                       ALONE(christoffel_symbols, .linear = 60, .quadratic = 20, .cubic = 2)},
    [QUANTITY(GRAVITY_FORCES)] = {OF_ROBOT, "", USES_GRAVITY | USES_PAYLOADS, JOINT_VECTOR(FORCE),
                                  ALONE(gravity_forces, .linear = 20)},
    [QUANTITY(BIAS_FORCES)] = {OF_ROBOT, "", USES_V | USES_GRAVITY | USES_PAYLOADS | USES_BASE, JOINT_VECTOR(FORCE),
                               ALONE(bias_forces, .linear = 20)},
    [QUANTITY(KINETIC_ENERGY)] = {OF_ROBOT, "", USES_V | USES_PAYLOADS, NUMBER("J"), &by_energy, 0},
    [QUANTITY(POTENTIAL_ENERGY)] = {OF_ROBOT, "", USES_GRAVITY | USES_PAYLOADS, NUMBER("J"), &by_energy, 1},
    [QUANTITY(POWER)] = {OF_ROBOT, "", USES_V | USES_TAU, NUMBER("W"), ALONE(power, .linear = 3)},
    [QUANTITY(CENTER_OF_MASS)] = {OF_SUBTREE, IN_WORLD, USES_PAYLOADS, VECTOR("m"), &by_center_of_mass, 0},
    [QUANTITY(CENTER_OF_MASS_VELOCITY)] = {OF_SUBTREE, ALONG_WORLD, USES_V | USES_PAYLOADS | USES_BASE, VECTOR("m/s"),
                                           &by_center_of_mass, 1},
    [QUANTITY(CENTER_OF_MASS_ACCELERATION)] = {OF_SUBTREE, ALONG_WORLD, USES_V | USES_A | USES_PAYLOADS | USES_BASE,
                                               VECTOR("m/s^2"), &by_center_of_mass, 2},
    [QUANTITY(CENTER_OF_MASS_JACOBIAN)] = {OF_SUBTREE, ALONG_WORLD, USES_PAYLOADS,
                                           VALUE(UNITS("m", "1"), AXIS(XYZ), AXIS(JOINTS)), &by_center_of_mass, 3},
    [QUANTITY(CENTROIDAL_MOMENTUM)] = {OF_ROBOT, CENTROIDAL, USES_V | USES_PAYLOADS,
                                       SPATIAL_VECTOR("kg m/s", "kg m^2/s"), ALONE(centroidal_momentum, .linear = 30)},
    [QUANTITY(CENTROIDAL_MOMENTUM_MATRIX)] = {OF_ROBOT, CENTROIDAL, USES_PAYLOADS,
                                              SPATIAL_MATRIX(UNITS("kg m", "kg"), UNITS("kg m^2", "kg m")),
                                              &by_centroidal, 1},
    [QUANTITY(CENTROIDAL_MOMENTUM_MATRIX_RATE)] = {OF_ROBOT, CENTROIDAL, USES_V | USES_PAYLOADS, MOMENTUM_BY_POSITION,
                                                   &by_centroidal, 2},
    [QUANTITY(CENTROIDAL_INERTIA)] = {OF_ROBOT, CENTROIDAL, USES_PAYLOADS, VALUE(UNITS("kg m^2"), AXIS(XYZ), AXIS(XYZ)),
                                      &by_centroidal, 0},
    [QUANTITY(FRAME_POSE)] = {OF_FRAMES, IN_WORLD, 0, POSE, ALONE(frame_pose, .linear = 20)},
    [QUANTITY(FRAME_TWIST)] = {OF_FRAMES, NULL, USES_V | USES_BASE, SPATIAL_VECTOR("m/s", "rad/s"), &by_frame_motion,
                               0},
    [QUANTITY(FRAME_ACCELERATION)] = {OF_FRAMES, NULL, USES_V | USES_A | USES_BASE, SPATIAL_VECTOR("m/s^2", "rad/s^2"),
                                      &by_frame_motion, 1},
    [QUANTITY(FRAME_JACOBIAN)] = {OF_FRAMES, NULL, 0, SPATIAL_MATRIX(UNITS("m", "1"), UNITS("1", "1/m")),
                                  ALONE(frame_jacobian, .linear = 20)},
    [QUANTITY(FRAME_JACOBIAN_RATE)] = {OF_FRAMES, NULL, USES_V, TWIST_BY_POSITION, &by_frame_motion, 2},
    [QUANTITY(FRAME_TWIST_BY_Q)] = {OF_FRAMES, NULL, USES_V, TWIST_BY_POSITION, &by_frame_derivatives, 0},
    [QUANTITY(FRAME_ACCELERATION_BY_Q)] = {OF_FRAMES, NULL, USES_V | USES_A,
                                           SPATIAL_MATRIX(UNITS("m/s^2", "1/s^2"), UNITS("1/s^2", "1/(m s^2)")),
                                           &by_frame_derivatives, 1},
    [QUANTITY(FRAME_ACCELERATION_BY_V)] = {OF_FRAMES, NULL, USES_V, TWIST_BY_POSITION, &by_frame_derivatives, 2},
    [QUANTITY(TORQUE_REGRESSOR)] = {OF_ROBOT, "", USES_V | USES_A | USES_GRAVITY,
                                    VALUE(FORCE_BY_PARAMETER, AXIS(JOINTS), AXIS(BODIES), AXIS(PARAMETERS)),
                                    ALONE(torque_regressor, .is_of_tree = true, .linear = 60, .quadratic = 20)},
    [QUANTITY(INVERSE_DYNAMICS_BY_Q)] = {OF_ROBOT, "", INVERSE_INPUTS | USES_PASSIVE_FORCES | USES_BASE,
                                         JOINT_MATRIX(STIFFNESS), &by_inverse_dynamics_derivatives, 0},
    [QUANTITY(INVERSE_DYNAMICS_BY_V)] = {OF_ROBOT, "", USES_V | USES_PAYLOADS | USES_PASSIVE_FORCES | USES_BASE,
                                         JOINT_MATRIX(DAMPING), &by_inverse_dynamics_derivatives, 1},
    [QUANTITY(FORWARD_DYNAMICS_BY_Q)] = {OF_ROBOT, "", CONTACT_INPUTS, JOINT_MATRIX(ACCELERATION_BY_POSITION),
                                         &by_forward_dynamics_derivatives, 0},
    [QUANTITY(FORWARD_DYNAMICS_BY_V)] = {OF_ROBOT, "",
                                         USES_V | USES_PAYLOADS | USES_PASSIVE_FORCES | USES_CONSTRAINTS | USES_BASE,
                                         JOINT_MATRIX(ACCELERATION_BY_VELOCITY), &by_forward_dynamics_derivatives, 1},
    [QUANTITY(GRAVITY_FORCES_BY_Q)] = {OF_ROBOT, "", USES_GRAVITY | USES_PAYLOADS, JOINT_MATRIX(STIFFNESS),
                                       ALONE(gravity_derivatives, .linear = 60, .quadratic = 6)},
    [QUANTITY(JOINT_WRENCHES)] = {OF_ROBOT, "axes and origin of each body's link", INVERSE_INPUTS | USES_BASE,
                                  WRENCHES(BODIES), ALONE(joint_wrenches, .is_of_tree = true, .linear = 30)},
    [QUANTITY(FRAME_JACOBIAN_BY_Q)] = {OF_FRAMES, NULL, 0,
                                       SPATIAL_CUBE(UNITS("m", "1", "1", "1/m"), UNITS("1", "1/m", "1/m", "1/m^2")),
                                       ALONE(frame_hessian, .linear = 40, .quadratic = 10)},
    [QUANTITY(CENTROIDAL_MOMENTUM_BY_Q)] = {OF_ROBOT, CENTROIDAL, USES_V | USES_PAYLOADS, MOMENTUM_BY_POSITION,
                                            &by_centroidal_derivatives, 0},
    [QUANTITY(CENTROIDAL_MOMENTUM_RATE_BY_Q)] = {OF_ROBOT, CENTROIDAL, USES_V | USES_A | USES_PAYLOADS,
                                                 SPATIAL_MATRIX(UNITS("N", "N/m"), UNITS("N m", "N")),
                                                 &by_centroidal_derivatives, 1},
    [QUANTITY(CENTROIDAL_MOMENTUM_RATE_BY_V)] = {OF_ROBOT, CENTROIDAL, USES_V | USES_PAYLOADS, MOMENTUM_BY_POSITION,
                                                 &by_centroidal_derivatives, 2},
    [QUANTITY(INVERSE_DYNAMICS_BY_Q_Q)] = {OF_ROBOT, "", USES_V | USES_A | USES_GRAVITY | USES_PAYLOADS,
                                           JOINT_CUBE(CUBE_UNITS("N m", "N", "N/m", "N/m^2")),
                                           &by_inverse_dynamics_second_derivatives, 0},
    [QUANTITY(INVERSE_DYNAMICS_BY_V_V)] = {OF_ROBOT, "", USES_PAYLOADS, JOINT_CUBE(SYMBOL),
                                           &by_inverse_dynamics_second_derivatives, 1},
    [QUANTITY(INVERSE_DYNAMICS_BY_Q_V)] = {OF_ROBOT, "", USES_V | USES_PAYLOADS,
                                           JOINT_CUBE(CUBE_UNITS("kg m^2/s", "kg m/s", "kg/s", "kg/(m s)")),
                                           &by_inverse_dynamics_second_derivatives, 2},
    [QUANTITY(MASS_MATRIX_BY_Q)] = {OF_ROBOT, "", USES_PAYLOADS, JOINT_CUBE(SYMBOL),
                                    &by_inverse_dynamics_second_derivatives, 3},
    [QUANTITY(FORWARD_DYNAMICS_BY_Q_Q)] = {OF_ROBOT, "", USES_V | USES_TAU | USES_GRAVITY | USES_PAYLOADS,
                                           JOINT_CUBE(UNITS("1/s^2", "1/(m s^2)", "1/(m s^2)", "1/(m^2 s^2)", "m/s^2",
                                                            "1/s^2", "1/s^2", "1/(m s^2)")),
                                           &by_forward_dynamics_second_derivatives, 0},
    [QUANTITY(FORWARD_DYNAMICS_BY_V_V)] = {OF_ROBOT, "", USES_PAYLOADS,
                                           JOINT_CUBE(UNITS("1", "1/m", "1/m", "1/m^2", "m", "1", "1", "1/m")),
                                           &by_forward_dynamics_second_derivatives, 1},
    [QUANTITY(FORWARD_DYNAMICS_BY_Q_V)] = {OF_ROBOT, "", USES_V | USES_PAYLOADS,
                                           JOINT_CUBE(UNITS("1/s", "1/(m s)", "1/(m s)", "1/(m^2 s)", "m/s", "1/s",
                                                            "1/s", "1/(m s)")),
                                           &by_forward_dynamics_second_derivatives, 2},
    [QUANTITY(INVERSE_MASS_MATRIX_BY_Q)] = {OF_ROBOT, "", USES_PAYLOADS,
                                            JOINT_CUBE(UNITS("1/(kg m^2)", "1/(kg m^3)", "1/(kg m)", "1/(kg m^2)",
                                                             "1/(kg m)", "1/(kg m^2)", "1/kg", "1/(kg m)")),
                                            &by_forward_dynamics_second_derivatives, 3},
    [QUANTITY(INVERSE_DYNAMICS_ALONG)] = {OF_ROBOT, "",
                                          INVERSE_INPUTS | USES_DQ | USES_DV | USES_DA | USES_PASSIVE_FORCES |
                                              USES_BASE,
                                          JOINT_VECTOR(FORCE),
                                          ALONE(inverse_dynamics_along, .is_of_tree = true, .linear = 60)},
    [QUANTITY(FORWARD_DYNAMICS_ALONG)] = {OF_ROBOT, "",
                                          FORWARD_INPUTS | USES_DQ | USES_DV | USES_DTAU | USES_PASSIVE_FORCES |
                                              USES_CONSTRAINTS | USES_BASE,
                                          JOINT_VECTOR(ACCELERATION),
                                          ALONE(forward_dynamics_along, .differentiates_rows = true, .linear = 120,
                                                .constrained = 15)},
    [QUANTITY(EXTERNAL_FORCES)] = {OF_ROBOT, "", USES_FORCES, JOINT_VECTOR(FORCE),
                                   ALONE(external_forces, .linear = 20)},
    [QUANTITY(OPERATIONAL_SPACE_INERTIA)] = {OF_TASK, NULL, USES_CONSTRAINTS | USES_PAYLOADS,
                                             VALUE(INERTIA, AXIS(TASK), AXIS(TASK)), &by_operational_space, 1},
    [QUANTITY(OPERATIONAL_SPACE_INVERSE_INERTIA)] = {OF_TASK, NULL, USES_CONSTRAINTS | USES_PAYLOADS,
                                                     VALUE(INVERSE_INERTIA, AXIS(TASK), AXIS(TASK)),
                                                     &by_operational_space, 0},
    [QUANTITY(OPERATIONAL_SPACE_BIAS)] = {OF_TASK, NULL, USES_CONSTRAINTS | USES_V | USES_PAYLOADS,
                                          VALUE(FORCE, AXIS(TASK)), &by_operational_space, 2},
    [QUANTITY(OPERATIONAL_SPACE_GRAVITY)] = {OF_TASK, NULL, USES_CONSTRAINTS | USES_GRAVITY | USES_PAYLOADS,
                                             VALUE(FORCE, AXIS(TASK)), &by_operational_space, 3},
    [QUANTITY(OPERATIONAL_SPACE_CONSISTENT_INVERSE)] = {OF_TASK, NULL, USES_CONSTRAINTS | USES_PAYLOADS,
                                                        VALUE(MOTION_BY_MOTION, AXIS(JOINTS), AXIS(TASK)),
                                                        &by_operational_space, 4},
    [QUANTITY(OPERATIONAL_SPACE_NULL_SPACE_PROJECTOR)] = {OF_TASK, NULL, USES_CONSTRAINTS | USES_PAYLOADS,
                                                          JOINT_MATRIX(MOTION_BY_MOTION), &by_operational_space, 5},
    [QUANTITY(OPERATIONAL_SPACE_ETA)] = {OF_TASK, NULL, USES_CONSTRAINTS | USES_V | USES_GRAVITY | USES_PAYLOADS,
                                         VALUE(FORCE, AXIS(TASK)), &by_operational_space_eta, 0},
    [QUANTITY(OPERATIONAL_SPACE_TORQUES)] = {OF_TASK, NULL,
                                             USES_CONSTRAINTS | USES_V | USES_TAU | USES_GRAVITY | USES_FORCES |
                                                 USES_PAYLOADS,
                                             JOINT_VECTOR(FORCE), &by_task_torques, 0},
    [QUANTITY(OPERATIONAL_SPACE_ACCELERATION)] = {OF_TASK, NULL, USES_CONSTRAINTS | USES_V | USES_PAYLOADS,
                                                  VALUE(ACCELERATION, AXIS(TASK)), &by_task_torques, 1},
    [QUANTITY(OPERATIONAL_SPACE_INDEPENDENCE)] = {OF_TASK, NULL, USES_CONSTRAINTS | USES_PAYLOADS,
                                                  VALUE(UNITS("1"), AXIS(TASK)), &by_task_torques, 2},
    [QUANTITY(CONSTRAINT_JACOBIAN)] = {OF_ROBOT, "", USES_CONSTRAINTS, ROWS_BY_JOINTS(MOTION_BY_MOTION),
                                       &by_constraint_rows, 0},
    [QUANTITY(CONSTRAINT_BIAS)] = {OF_ROBOT, "", USES_V | USES_CONSTRAINTS, ROW_VECTOR(ACCELERATION),
                                   &by_constraint_rows, 1},
    [QUANTITY(CONSTRAINT_ERROR)] = {OF_ROBOT, "", USES_CONSTRAINTS, ROW_VECTOR(UNITS("rad", "m")), &by_constraint_rows,
                                    2},
    [QUANTITY(CONSTRAINT_INVERSE_INERTIA)] = {OF_ROBOT, "", USES_PAYLOADS | USES_CONSTRAINTS,
                                              ROW_MATRIX(INVERSE_INERTIA), &by_constraint_space, 0},
    [QUANTITY(CONSTRAINT_INERTIA)] = {OF_ROBOT, "", USES_PAYLOADS | USES_CONSTRAINTS, ROW_MATRIX(INERTIA),
                                      &by_constraint_space, 1},
    [QUANTITY(CONSTRAINT_FORCE_PROJECTOR)] = {OF_ROBOT, "", USES_PAYLOADS | USES_CONSTRAINTS,
                                              JOINT_MATRIX(FORCE_BY_FORCE), &by_constraint_space, 2},
    [QUANTITY(CONSTRAINT_ACCELERATION_PROJECTOR)] = {OF_ROBOT, "", USES_PAYLOADS | USES_CONSTRAINTS,
                                                     JOINT_MATRIX(MOTION_BY_MOTION), &by_constraint_space, 3},
    [QUANTITY(CONSTRAINT_CONDITION)] = {OF_ROBOT,
                                        "",
                                        USES_PAYLOADS | USES_CONSTRAINTS,
                                        {BLOCK("rank", UNITS("1"), 0, AXIS_NONE),
                                         BLOCK("condition", UNITS("1"), 1, AXIS_NONE)},
                                        ALONE(constraint_condition, .is_of_constraints = true, .linear = 100,
                                              .constrained = 4)},
    [QUANTITY(CONSTRAINT_MULTIPLIERS)] = {OF_ROBOT, "",
                                          FORWARD_INPUTS | USES_PASSIVE_FORCES | USES_CONSTRAINTS | USES_BASE,
                                          MULTIPLIERS, &by_constraint_multipliers, 0},
    [QUANTITY(CONSTRAINT_MULTIPLIERS_OF_MOTION)] = {OF_ROBOT, "", MOTION_INPUTS, MULTIPLIERS, &by_multipliers_of_motion,
                                                    0},
    [QUANTITY(CONSTRAINT_WRENCHES)] = {OF_ROBOT, "axes and origin of the predecessor of each constraint",
                                       FORWARD_INPUTS | USES_PASSIVE_FORCES | USES_CONSTRAINTS | USES_BASE,
                                       WRENCHES(CONSTRAINTS), &by_constraint_wrenches, 0},
    [QUANTITY(CONSTRAINT_WRENCHES_OF_MOTION)] = {OF_ROBOT, "axes and origin of the predecessor of each constraint",
                                                 MOTION_INPUTS, WRENCHES(CONSTRAINTS), &by_wrenches_of_motion, 0},
    [QUANTITY(PROJECTED_INVERSE_DYNAMICS)] =
        {OF_ROBOT, "", INVERSE_INPUTS | USES_PASSIVE_FORCES | USES_CONSTRAINTS | USES_BASE, JOINT_VECTOR(FORCE),
         ALONE(projected_inverse_dynamics, .is_of_constraints = true, .linear = 100, .constrained = 2)},
    [QUANTITY(PROJECTED_FORWARD_DYNAMICS)] =
        {OF_ROBOT, "", FORWARD_INPUTS | USES_PASSIVE_FORCES | USES_CONSTRAINTS | USES_BASE, JOINT_VECTOR(ACCELERATION),
         ALONE(projected_forward_dynamics, .is_of_constraints = true, .linear = 100, .constrained = 2)},
    [QUANTITY(IMPACT_VELOCITY)] = {OF_ROBOT, "", USES_V | USES_PAYLOADS | USES_CONSTRAINTS,
                                   JOINT_VECTOR(UNITS("rad/s", "m/s")), &by_impact, 0},
    [QUANTITY(IMPACT_IMPULSES)] = {OF_ROBOT, "", USES_V | USES_PAYLOADS | USES_CONSTRAINTS,
                                   ROW_VECTOR(UNITS("N m s", "N s")), &by_impact, 1},
    [QUANTITY(CONTACT_FORCES)] = {OF_ROBOT, ALONG_WORLD, CONTACT_INPUTS,
                                  VALUE(UNITS("N"), AXIS(CONTACT_SURFACES), AXIS(XYZ)), &by_contacts, 0},
    [QUANTITY(CONTACT_GAPS)] = {OF_ROBOT, "", 0, VALUE(UNITS("m"), AXIS(CONTACT_SURFACES)), &by_contacts, 1},
    [QUANTITY(CONTACT_SLIPS)] = {OF_ROBOT, "", CONTACT_INPUTS, VALUE(UNITS("m/s"), AXIS(CONTACT_SURFACES)),
                                 &by_contacts, 2},
    [QUANTITY(CONTACT_NORMALS)] = {OF_ROBOT, ALONG_WORLD, 0, VALUE(UNITS("1"), AXIS(CONTACT_SURFACES), AXIS(XYZ)),
                                   &by_contacts, 3},
    [QUANTITY(CONTACT_POINTS)] = {OF_ROBOT, IN_WORLD, 0, VALUE(UNITS("m"), AXIS(CONTACT_SURFACES), AXIS(XYZ)),
                                  &by_contacts, 4},
    [QUANTITY(CONTACT_ACCELERATION)] = {OF_ROBOT, "", CONTACT_INPUTS, JOINT_VECTOR(ACCELERATION), &by_contacts, 5},
    [QUANTITY(CONTACT_SOLUTION)] = {OF_ROBOT,
                                    "",
                                    CONTACT_INPUTS,
                                    {BLOCK("residual", UNITS("m/s"), 0, AXIS_NONE),
                                     BLOCK("iterations", UNITS("1"), 1, AXIS_NONE)},
                                    &by_contacts,
                                    6},
    [QUANTITY(CONTACT_IMPACT_VELOCITY)] = {OF_ROBOT, "", USES_V | USES_PAYLOADS | USES_CONSTRAINTS,
                                           JOINT_VECTOR(UNITS("rad/s", "m/s")), &by_contact_impact, 0},
    [QUANTITY(CONTACT_IMPACT_IMPULSES)] = {OF_ROBOT, ALONG_WORLD, USES_V | USES_PAYLOADS | USES_CONSTRAINTS,
                                           VALUE(UNITS("N s"), AXIS(CONTACT_SURFACES), AXIS(XYZ)), &by_contact_impact,
                                           1},
    [QUANTITY(STOP_IMPACT_IMPULSES)] = {OF_ROBOT, "", USES_V | USES_PAYLOADS | USES_CONSTRAINTS,
                                        JOINT_VECTOR(UNITS("N m s", "N s")), &by_contact_impact, 2},
    [QUANTITY(HYBRID_FORCES)] = {OF_ROBOT, "", INVERSE_INPUTS | USES_TAU | USES_CONSTRAINTS, JOINT_VECTOR(FORCE),
                                 &by_hybrid_forces, 0},
    [QUANTITY(HYBRID_ACCELERATION)] = {OF_ROBOT, "", USES_V | USES_A | USES_PAYLOADS | USES_CONSTRAINTS,
                                       JOINT_VECTOR(ACCELERATION), &by_hybrid_forces, 1},
    [QUANTITY(HYBRID_MULTIPLIERS)] = {OF_ROBOT, "", USES_TAU | USES_PAYLOADS | USES_CONSTRAINTS, MULTIPLIERS,
                                      &by_hybrid_forces, 2},
    [QUANTITY(CONSTRAINT_MULTIPLIERS_BY_Q)] = {OF_ROBOT, "", FORWARD_INPUTS | USES_PASSIVE_FORCES | USES_CONSTRAINTS,
                                               ROWS_BY_JOINTS(STIFFNESS), &by_multiplier_derivatives, 0},
    [QUANTITY(CONSTRAINT_MULTIPLIERS_BY_V)] = {OF_ROBOT, "",
                                               USES_V | USES_PAYLOADS | USES_PASSIVE_FORCES | USES_CONSTRAINTS,
                                               ROWS_BY_JOINTS(DAMPING), &by_multiplier_derivatives, 1},
    [QUANTITY(CONSTRAINT_MULTIPLIERS_BY_TAU)] = {OF_ROBOT, "", USES_PAYLOADS | USES_CONSTRAINTS,
                                                 ROWS_BY_JOINTS(FORCE_BY_FORCE), &by_constraint_space, 4},
    [QUANTITY(CONSTRAINED_ACCELERATION_BY_TAU)] = {OF_ROBOT, "", USES_PAYLOADS | USES_CONSTRAINTS,
                                                   JOINT_MATRIX(INVERSE_INERTIA), &by_constraint_space, 5},
    [QUANTITY(FRAME_MANIPULABILITY)] = {OF_FRAMES,
                                        "",
                                        0,
                                        {BLOCK("linear", UNITS("m^3", "1"), 2, AXIS(MEASURES)),
                                         BLOCK("angular", UNITS("1"), 0, AXIS(MEASURES)),
                                         BLOCK("spatial", UNITS("m^3"), 4, AXIS_NONE)},
                                        ALONE(manipulability, .is_of_tree = true, .linear = 200)},
    [QUANTITY(FRAME_ELLIPSOIDS)] = {OF_FRAMES,
                                    NULL,
                                    USES_PAYLOADS,
                                    {BLOCK("velocity", UNITS("m/s"), 0, AXIS(SEMI_AXES)),
                                     BLOCK("velocity_axes", UNITS("1"), 1, AXIS(SEMI_AXES), AXIS(XYZ)),
                                     BLOCK("angular_velocity", UNITS("rad/s"), 12, AXIS(SEMI_AXES)),
                                     BLOCK("angular_velocity_axes", UNITS("1"), 5, AXIS(SEMI_AXES), AXIS(XYZ)),
                                     BLOCK("mass", UNITS("kg"), 24, AXIS(SEMI_AXES)),
                                     BLOCK("mass_axes", UNITS("1"), 9, AXIS(SEMI_AXES), AXIS(XYZ)),
                                     BLOCK("inertia", UNITS("kg m^2"), 36, AXIS(SEMI_AXES)),
                                     BLOCK("inertia_axes", UNITS("1"), 13, AXIS(SEMI_AXES), AXIS(XYZ))},
                                    &by_ellipsoids,
                                    0},
    [QUANTITY(FRAME_ACCELERATION_ELLIPSOIDS)] = {OF_FRAMES,
                                                 NULL,
                                                 USES_PAYLOADS,
                                                 {BLOCK("acceleration", UNITS("m/s^2"), 0, AXIS(SEMI_AXES)),
                                                  BLOCK("acceleration_axes", UNITS("1"), 1, AXIS(SEMI_AXES), AXIS(XYZ)),
                                                  BLOCK("angular_acceleration", UNITS("rad/s^2"), 12, AXIS(SEMI_AXES)),
                                                  BLOCK("angular_acceleration_axes", UNITS("1"), 5, AXIS(SEMI_AXES),
                                                        AXIS(XYZ))},
                                                 &by_acceleration_ellipsoids,
                                                 0},
    [QUANTITY(FRAME_BODY_INERTIA)] = {OF_FRAMES, NULL, USES_PAYLOADS, VALUE(INERTIA, AXIS(TWIST), AXIS(TWIST)),
                                      ALONE(body_inertia, .linear = 30)},
    [QUANTITY(
        FRAME_PRINCIPAL_AXES)] = {OF_FRAMES,
                                  NULL,
                                  USES_PAYLOADS,
                                  {BLOCK("moments", UNITS("kg m^2"), 0, AXIS(SEMI_AXES)),
                                   BLOCK("axes", UNITS("1"), 1, AXIS(SEMI_AXES), AXIS(XYZ))},
                                  &by_principal_axes,
                                  0},
    [QUANTITY(FRAME_ARTICULATED_INERTIA)] = {OF_FRAMES, NULL, USES_PAYLOADS, VALUE(INERTIA, AXIS(TWIST), AXIS(TWIST)),
                                             &by_articulated_inertia, 0},
    [QUANTITY(FRAME_ARTICULATED_BIAS)] = {OF_FRAMES,
                                          NULL,
                                          FORWARD_INPUTS,
                                          {BLOCK("force", UNITS("N"), 3, AXIS(XYZ)),
                                           BLOCK("torque", UNITS("N m"), 0, AXIS(XYZ))},
                                          &by_articulated_inertia,
                                          1},
    [QUANTITY(JOINT_INERTIAS)] = {OF_ROBOT,
                                  "",
                                  USES_PAYLOADS,
                                  {BLOCK("held", UNITS("kg m^2", "kg"), 0, AXIS(JOINTS)),
                                   SECOND("free", UNITS("kg m^2", "kg"), AXIS(JOINTS))},
                                  &by_joint_inertias,
                                  0},
    [QUANTITY(FRAME_ORIENTATION)] = {OF_FRAMES,
                                     IN_WORLD,
                                     0,
                                     {BLOCK("rotation", UNITS("1"), 0, AXIS(XYZ), AXIS(XYZ)),
                                      BLOCK("roll_pitch_yaw", UNITS("rad"), 9, AXIS(XYZ))},
                                     ALONE(frame_orientation, .linear = 30)},
    [QUANTITY(ENERGY_REGRESSOR)] = {OF_ROBOT,
                                    "",
                                    USES_V | USES_GRAVITY,
                                    {BLOCK("kinetic", ENERGY_BY_PARAMETER, 0, AXIS(BODIES), AXIS(PARAMETERS)),
                                     SECOND("potential", ENERGY_BY_PARAMETER, AXIS(BODIES), AXIS(PARAMETERS))},
                                    &by_energy_regressor,
                                    0},
    [QUANTITY(TORQUE_ELLIPSOID)] = {OF_ROBOT,
                                    "",
                                    USES_PAYLOADS,
                                    {BLOCK("lengths", UNITS("kg m^2"), 0, AXIS(JOINT_SEMI_AXES)),
                                     BLOCK("axes", UNITS("1"), 1, AXIS(JOINT_SEMI_AXES), AXIS(JOINTS))},
                                    &by_torque_ellipsoid,
                                    0},
    [QUANTITY(ROTOR_FORCES)] = {OF_ROBOT, "", USES_V | USES_A | USES_GRAVITY, JOINT_VECTOR(FORCE),
                                ALONE(rotor_forces, .linear = 20)},
    [QUANTITY(HOUSING_WRENCHES)] = {OF_ROBOT, "axes and origin of the frame that each rotor's element is stated in",
                                    USES_V | USES_A | USES_GRAVITY | USES_BASE, WRENCHES(ROTORS),
                                    ALONE(housing_wrenches, .linear = 100)},
    [QUANTITY(ROTOR_COUPLING_FORCES)] = {OF_ROBOT, "", USES_V | USES_A, JOINT_VECTOR(FORCE),
                                         ALONE(rotor_coupling_forces, .linear = 20)},
    [QUANTITY(PASSIVE_FORCES)] = {OF_ROBOT,
                                  "",
                                  USES_V | USES_PASSIVE_FORCES,
                                  {PART("damping", FORCE, PASSIVE_DAMPING, PASSIVE_KINDS, AXIS(JOINTS)),
                                   PART("friction", FORCE, PASSIVE_FRICTION, PASSIVE_KINDS, AXIS(JOINTS)),
                                   PART("springs", FORCE, PASSIVE_SPRINGS, PASSIVE_KINDS, AXIS(JOINTS))},
                                  &by_passive_forces,
                                  0},
    [QUANTITY(SPRING_ENERGY)] = {OF_ROBOT, "", 0, NUMBER("J"), ALONE(spring_energy, .linear = 5)},
    [QUANTITY(DISSIPATED_POWER)] = {OF_ROBOT, "", USES_V | USES_PASSIVE_FORCES, NUMBER("W"), &by_dissipated_power, 0},
};

enum { QUANTITY_COUNT = sizeof quantities / sizeof quantities[0] };

const quantity_row *quantity_find(Dynamics__V1__Quantity number) {
    size_t row = (size_t)number;
    return row < QUANTITY_COUNT && quantities[row].by ? &quantities[row] : NULL;
}

const quantity_row *quantity_of_output(const computation *by, int output) {
    if (output >= by->yields) {
        return &quantities[by->along[output - by->yields]];
    }
    for (size_t i = 0; i < QUANTITY_COUNT; i++) {
        if (quantities[i].by == by && quantities[i].output == output) {
            return &quantities[i];
        }
    }
    return NULL;
}
