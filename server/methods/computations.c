/* SPDX-License-Identifier: BSD-2-Clause */
/* The library's functions behind the quantities of Evaluate. */
#include "methods/computations.h"

#include <dynamics/dynamics.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define QUANTITY(name) DYNAMICS__V1__QUANTITY__QUANTITY_##name

/* Rows of each sample's parts, one behind the other. */
static void join(size_t count, size_t part_count, const double *const *parts, const size_t *widths, double *rows) {
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < part_count; k++) {
            memcpy(rows, parts[k] + i * widths[k], widths[k] * sizeof *rows);
            rows += widths[k];
        }
    }
}

/* ---- the equation of motion -------------------------------------------------------------------------------------- */

static dyn_status inverse_dynamics(const states *s, dyn_error *error, double *const output[]) {
    return dyn_rnea(s->model, s->workspace, s->count, s->gravity, s->q, s->v, s->a, s->forces, error, output[0]);
}

static dyn_status forward_dynamics(const states *s, dyn_error *error, double *const output[]) {
    return dyn_aba(s->model, s->workspace, s->count, s->gravity, s->q, s->v, s->tau, s->forces, error, output[0]);
}

static dyn_status mass_matrix(const states *s, dyn_error *error, double *const output[]) {
    return dyn_crba(s->model, s->workspace, s->count, s->q, error, output[0]);
}

static dyn_status inverse_mass_matrix(const states *s, dyn_error *error, double *const output[]) {
    return dyn_minverse(s->model, s->workspace, s->count, s->q, error, output[0]);
}

static dyn_status coriolis_matrix(const states *s, dyn_error *error, double *const output[]) {
    return dyn_coriolis_matrix(s->model, s->workspace, s->count, s->q, s->v, error, output[0]);
}

static dyn_status christoffel_symbols(const states *s, dyn_error *error, double *const output[]) {
    return dyn_christoffel(s->model, s->workspace, s->count, s->q, error, output[0]);
}

static dyn_status gravity_forces(const states *s, dyn_error *error, double *const output[]) {
    return dyn_gravity(s->model, s->workspace, s->count, s->gravity, s->q, error, output[0]);
}

static dyn_status bias_forces(const states *s, dyn_error *error, double *const output[]) {
    return dyn_bias(s->model, s->workspace, s->count, s->gravity, s->q, s->v, error, output[0]);
}

static dyn_status joint_wrenches(const states *s, dyn_error *error, double *const output[]) {
    return dyn_joint_wrenches(s->model, s->workspace, s->count, s->gravity, s->q, s->v, s->a, s->forces, error,
                              output[0]);
}

static dyn_status torque_regressor(const states *s, dyn_error *error, double *const output[]) {
    return dyn_torque_regressor(s->model, s->workspace, s->count, s->gravity, s->q, s->v, s->a, error, output[0]);
}

/* tau = h - sum J' f_ext at rest: the difference that they make without gravity. */
static dyn_status external_forces(const states *s, dyn_error *error, double *const output[]) {
    const double none[3] = {0};
    size_t count = s->count * (size_t)dyn_model_nv(s->model);
    dyn_status status = dyn_rnea(s->model, s->workspace, s->count, none, s->q, NULL, NULL, s->forces, error, output[0]);
    for (size_t i = 0; status == DYN_OK && i < count; i++) {
        output[0][i] = 0 - output[0][i];
    }
    return status;
}

/* The second output is room for the parts of the first; below too. */
static dyn_status energy_regressor(const states *s, dyn_error *error, double *const output[]) {
    size_t entries = (size_t)dyn_model_parameter_count(s->model), widths[] = {entries, entries};
    double *parts[] = {output[1], output[1] + s->count * entries};
    dyn_status status =
        dyn_energy_regressor(s->model, s->workspace, s->count, s->gravity, s->q, s->v, error, parts[0], parts[1]);
    if (status == DYN_OK) {
        join(s->count, 2, (const double *const *)parts, widths, output[0]);
    }
    return status;
}

static dyn_status torque_ellipsoid(const states *s, dyn_error *error, double *const output[]) {
    size_t nv = (size_t)dyn_model_nv(s->model), widths[] = {nv, nv * nv};
    double *parts[] = {output[1], output[1] + s->count * nv};
    dyn_status status = dyn_torque_ellipsoid(s->model, s->workspace, s->count, s->q, error, parts[0], parts[1]);
    if (status == DYN_OK) {
        join(s->count, 2, (const double *const *)parts, widths, output[0]);
    }
    return status;
}

/* ---- energy and momentum ----------------------------------------------------------------------------------------- */

static dyn_status energy(const states *s, dyn_error *error, double *const output[]) {
    return dyn_energy(s->model, s->workspace, s->count, s->gravity, s->q, s->v, error, output[0], output[1]);
}

/* Tells of an entry that is not finite; the library does not see these arrays together. */
static dyn_status check_finite(const states *s, const char *name, const double *values, dyn_error *error) {
    size_t count = s->count * (size_t)dyn_model_nv(s->model);
    for (size_t i = 0; values && i < count; i++) {
        if (!isfinite(values[i])) {
            error->status = DYN_INVALID_ARGUMENT;
            snprintf(error->place, sizeof error->place, "%s[%zu]", name, i);
            snprintf(error->message, sizeof error->message, "%s[%zu] is %g; give a finite number", name, i, values[i]);
            return DYN_INVALID_ARGUMENT;
        }
    }
    return DYN_OK;
}

static dyn_status power(const states *s, dyn_error *error, double *const output[]) {
    size_t nv = (size_t)dyn_model_nv(s->model);
    if (check_finite(s, "v", s->v, error) != DYN_OK || check_finite(s, "tau", s->tau, error) != DYN_OK) {
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

static dyn_status center_of_mass(const states *s, dyn_error *error, double *const output[]) {
    return dyn_center_of_mass(s->model, s->workspace, s->count, s->q, s->v, s->a, s->subtree, error, output[0],
                              output[1], output[2], output[3]);
}

static dyn_status centroidal_momentum(const states *s, dyn_error *error, double *const output[]) {
    return dyn_centroidal_momentum(s->model, s->workspace, s->count, s->q, s->v, error, output[0]);
}

static dyn_status centroidal(const states *s, dyn_error *error, double *const output[]) {
    return dyn_centroidal(s->model, s->workspace, s->count, s->q, s->v, error, output[0], output[1], output[2]);
}

/* ---- frames ------------------------------------------------------------------------------------------------------ */

/* Rows of position and quaternion. */
static dyn_status frame_pose(const states *s, dyn_error *error, double *const output[]) {
    double position[BLOCK_SAMPLES * 3], rotation[BLOCK_SAMPLES * 9];
    dyn_status status = dyn_frame_pose(s->model, s->workspace, s->count, s->q, s->frame, error, position, rotation);
    for (size_t i = 0; status == DYN_OK && i < s->count; i++) {
        memcpy(output[0] + 7 * i, position + 3 * i, 3 * sizeof(double));
        dyn_rotation_to_quaternion(rotation + 9 * i, output[0] + 7 * i + 3);
    }
    return status;
}

static dyn_status frame_jacobian(const states *s, dyn_error *error, double *const output[]) {
    return dyn_frame_jacobian(s->model, s->workspace, s->count, s->q, s->frame, s->reference_frame, error, output[0]);
}

static dyn_status frame_motion(const states *s, dyn_error *error, double *const output[]) {
    return dyn_frame_motion(s->model, s->workspace, s->count, s->q, s->v, s->a, s->frame, s->reference_frame, error,
                            output[0], output[1], output[2]);
}

/* The Jacobian comes along. */
static dyn_status frame_derivatives(const states *s, dyn_error *error, double *const output[]) {
    return dyn_frame_derivatives(s->model, s->workspace, s->count, s->q, s->v, s->a, s->frame, s->reference_frame,
                                 error, output[0], output[1], output[2], output[3]);
}

static dyn_status frame_hessian(const states *s, dyn_error *error, double *const output[]) {
    return dyn_frame_hessian(s->model, s->workspace, s->count, s->q, s->frame, s->reference_frame, error, output[0]);
}

static dyn_status manipulability(const states *s, dyn_error *error, double *const output[]) {
    double linear[BLOCK_SAMPLES * 2], angular[BLOCK_SAMPLES * 2], spatial[BLOCK_SAMPLES];
    dyn_status status =
        dyn_manipulability(s->model, s->workspace, s->count, s->q, s->frame, error, linear, angular, spatial);
    const double *const parts[] = {angular, linear, spatial};
    const size_t widths[] = {2, 2, 1};
    if (status == DYN_OK) {
        join(s->count, 3, parts, widths, output[0]);
    }
    return status;
}

/* The second output is room for the parts of the first. */
static dyn_status ellipsoids(const states *s, dyn_error *error, double *const output[]) {
    static const size_t widths[] = {3, 9, 3, 9, 3, 9, 3, 9};
    double *parts[8], *next = output[1];
    for (int i = 0; i < 8; i++) {
        parts[i] = next;
        next += s->count * widths[i];
    }
    dyn_status status = dyn_velocity_ellipsoids(s->model, s->workspace, s->count, s->q, s->frame, s->reference_frame,
                                                error, parts[0], parts[1], parts[2], parts[3]);
    if (status == DYN_OK) {
        status = dyn_mass_ellipsoids(s->model, s->workspace, s->count, s->q, s->frame, s->reference_frame, error,
                                     parts[4], parts[5], parts[6], parts[7]);
    }
    if (status == DYN_OK) {
        join(s->count, 8, (const double *const *)parts, widths, output[0]);
    }
    return status;
}

static dyn_status operational_space(const states *s, dyn_error *error, double *const output[]) {
    dyn_status status = dyn_operational_space(s->model, s->workspace, s->count, s->gravity, s->q, s->v, s->task, error,
                                              output[0], output[1], output[2], output[3], output[4], output[5]);
    if (status != DYN_OK && strcmp(error->place, "task") == 0) {
        snprintf(error->place, sizeof error->place, "task_axes");
    }
    return status;
}

/* ---- derivatives ------------------------------------------------------------------------------------------------- */

/* The mass matrix comes along; below, its inverse. */
static dyn_status inverse_dynamics_derivatives(const states *s, dyn_error *error, double *const output[]) {
    return dyn_rnea_derivatives(s->model, s->workspace, s->count, s->gravity, s->q, s->v, s->a, s->forces, error,
                                output[0], output[1], output[2]);
}

static dyn_status forward_dynamics_derivatives(const states *s, dyn_error *error, double *const output[]) {
    return dyn_aba_derivatives(s->model, s->workspace, s->count, s->gravity, s->q, s->v, s->tau, s->forces, error,
                               output[0], output[1], output[2]);
}

static dyn_status gravity_derivatives(const states *s, dyn_error *error, double *const output[]) {
    return dyn_gravity_derivatives(s->model, s->workspace, s->count, s->gravity, s->q, error, output[0]);
}

static dyn_status inverse_dynamics_second_derivatives(const states *s, dyn_error *error, double *const output[]) {
    return dyn_rnea_second_derivatives(s->model, s->workspace, s->count, s->gravity, s->q, s->v, s->a, error, output[0],
                                       output[1], output[2], output[3]);
}

/* The first derivatives come along. */
static dyn_status forward_dynamics_second_derivatives(const states *s, dyn_error *error, double *const output[]) {
    return dyn_aba_second_derivatives(s->model, s->workspace, s->count, s->gravity, s->q, s->v, s->tau, error,
                                      output + 4, output);
}

static dyn_status inverse_dynamics_along(const states *s, dyn_error *error, double *const output[]) {
    return dyn_rnea_directional_derivative(s->model, s->workspace, s->count, s->gravity, s->q, s->v, s->a, s->forces,
                                           s->dq, s->dv, s->da, error, output[0]);
}

static dyn_status forward_dynamics_along(const states *s, dyn_error *error, double *const output[]) {
    return dyn_aba_directional_derivative(s->model, s->workspace, s->count, s->gravity, s->q, s->v, s->tau, s->forces,
                                          s->dq, s->dv, s->dtau, error, output[0]);
}

/* The momentum matrix comes along. */
static dyn_status centroidal_derivatives(const states *s, dyn_error *error, double *const output[]) {
    return dyn_centroidal_derivatives(s->model, s->workspace, s->count, s->q, s->v, s->a, error, output[0], output[1],
                                      output[2], output[3]);
}

const computation computations[] = {
    {.run = inverse_dynamics, .outputs = {QUANTITY(INVERSE_DYNAMICS)}, .yields = 1, .linear = 20},
    {.run = forward_dynamics, .outputs = {QUANTITY(FORWARD_DYNAMICS)}, .yields = 1, .linear = 40},
    {.run = mass_matrix, .outputs = {QUANTITY(MASS_MATRIX)}, .yields = 1, .linear = 20, .quadratic = 2},
    {.run = inverse_mass_matrix, .outputs = {QUANTITY(INVERSE_MASS_MATRIX)}, .yields = 1, .linear = 40, .quadratic = 4},
    {.run = coriolis_matrix, .outputs = {QUANTITY(CORIOLIS_MATRIX)}, .yields = 1, .linear = 60, .quadratic = 6},
    {.run = christoffel_symbols,
     .outputs = {QUANTITY(CHRISTOFFEL_SYMBOLS)},
     .yields = 1,
     .linear = 60,
     .quadratic = 20,
     .cubic = 2},
    {.run = gravity_forces, .outputs = {QUANTITY(GRAVITY_FORCES)}, .yields = 1, .linear = 20},
    {.run = bias_forces, .outputs = {QUANTITY(BIAS_FORCES)}, .yields = 1, .linear = 20},
    {.run = joint_wrenches, .outputs = {QUANTITY(JOINT_WRENCHES)}, .yields = 1, .linear = 30},
    {.run = torque_regressor, .outputs = {QUANTITY(TORQUE_REGRESSOR)}, .yields = 1, .linear = 60, .quadratic = 20},
    {.run = energy, .outputs = {QUANTITY(KINETIC_ENERGY), QUANTITY(POTENTIAL_ENERGY)}, .yields = 2, .linear = 20},
    {.run = power, .outputs = {QUANTITY(POWER)}, .yields = 1, .linear = 3},
    {.run = center_of_mass,
     .outputs = {QUANTITY(CENTER_OF_MASS), QUANTITY(CENTER_OF_MASS_VELOCITY), QUANTITY(CENTER_OF_MASS_ACCELERATION),
                 QUANTITY(CENTER_OF_MASS_JACOBIAN)},
     .yields = 4,
     .linear = 30,
     .quadratic = 2},
    {.run = centroidal_momentum, .outputs = {QUANTITY(CENTROIDAL_MOMENTUM)}, .yields = 1, .linear = 30},
    {.run = centroidal,
     .outputs = {QUANTITY(CENTROIDAL_INERTIA), QUANTITY(CENTROIDAL_MOMENTUM_MATRIX),
                 QUANTITY(CENTROIDAL_MOMENTUM_MATRIX_RATE)},
     .yields = 3,
     .linear = 80},
    {.run = frame_pose, .outputs = {QUANTITY(FRAME_POSE)}, .yields = 1, .linear = 20},
    {.run = frame_jacobian, .outputs = {QUANTITY(FRAME_JACOBIAN)}, .yields = 1, .linear = 20},
    {.run = frame_motion,
     .outputs = {QUANTITY(FRAME_TWIST), QUANTITY(FRAME_ACCELERATION), QUANTITY(FRAME_JACOBIAN_RATE)},
     .yields = 3,
     .linear = 30},
    {.run = frame_derivatives,
     .outputs = {QUANTITY(FRAME_TWIST_BY_Q), QUANTITY(FRAME_ACCELERATION_BY_Q), QUANTITY(FRAME_ACCELERATION_BY_V),
                 QUANTITY(FRAME_JACOBIAN)},
     .yields = 3,
     .needs_all = true,
     .linear = 60},
    {.run = inverse_dynamics_derivatives,
     .outputs = {QUANTITY(INVERSE_DYNAMICS_BY_Q), QUANTITY(INVERSE_DYNAMICS_BY_V), QUANTITY(MASS_MATRIX)},
     .yields = 2,
     .needs_all = true,
     .linear = 80,
     .quadratic = 10},
    {.run = forward_dynamics_derivatives,
     .outputs = {QUANTITY(FORWARD_DYNAMICS_BY_Q), QUANTITY(FORWARD_DYNAMICS_BY_V), QUANTITY(INVERSE_MASS_MATRIX)},
     .yields = 2,
     .needs_all = true,
     .linear = 100,
     .quadratic = 20,
     .cubic = 1},
    {.run = gravity_derivatives, .outputs = {QUANTITY(GRAVITY_FORCES_BY_Q)}, .yields = 1, .linear = 60, .quadratic = 6},
    {.run = external_forces, .outputs = {QUANTITY(EXTERNAL_FORCES)}, .yields = 1, .linear = 20},
    {.run = frame_hessian, .outputs = {QUANTITY(FRAME_JACOBIAN_BY_Q)}, .yields = 1, .linear = 40, .quadratic = 10},
    {.run = centroidal_derivatives,
     .outputs = {QUANTITY(CENTROIDAL_MOMENTUM_BY_Q), QUANTITY(CENTROIDAL_MOMENTUM_RATE_BY_Q),
                 QUANTITY(CENTROIDAL_MOMENTUM_RATE_BY_V), QUANTITY(CENTROIDAL_MOMENTUM_MATRIX)},
     .yields = 3,
     .needs_all = true,
     .linear = 100},
    {.run = inverse_dynamics_second_derivatives,
     .outputs = {QUANTITY(INVERSE_DYNAMICS_BY_Q_Q), QUANTITY(INVERSE_DYNAMICS_BY_V_V),
                 QUANTITY(INVERSE_DYNAMICS_BY_Q_V), QUANTITY(MASS_MATRIX_BY_Q)},
     .yields = 4,
     .needs_all = true,
     .linear = 100,
     .quadratic = 20,
     .cubic = 20},
    {.run = forward_dynamics_second_derivatives,
     .outputs = {QUANTITY(FORWARD_DYNAMICS_BY_Q_Q), QUANTITY(FORWARD_DYNAMICS_BY_V_V),
                 QUANTITY(FORWARD_DYNAMICS_BY_Q_V), QUANTITY(INVERSE_MASS_MATRIX_BY_Q), QUANTITY(FORWARD_DYNAMICS_BY_Q),
                 QUANTITY(FORWARD_DYNAMICS_BY_V), QUANTITY(INVERSE_MASS_MATRIX)},
     .yields = 4,
     .needs_all = true,
     .linear = 100,
     .quadratic = 50,
     .cubic = 50,
     .quartic = 4},
    {.run = operational_space,
     .outputs = {QUANTITY(OPERATIONAL_SPACE_INVERSE_INERTIA), QUANTITY(OPERATIONAL_SPACE_INERTIA),
                 QUANTITY(OPERATIONAL_SPACE_BIAS), QUANTITY(OPERATIONAL_SPACE_GRAVITY),
                 QUANTITY(DYNAMICALLY_CONSISTENT_INVERSE), QUANTITY(NULL_SPACE_PROJECTOR)},
     .yields = 6,
     .linear = 800,
     .quadratic = 40},
    {.run = manipulability, .outputs = {QUANTITY(FRAME_MANIPULABILITY)}, .yields = 1, .linear = 200},
    {.run = ellipsoids,
     .outputs = {QUANTITY(FRAME_ELLIPSOIDS), QUANTITY(FRAME_ELLIPSOIDS)},
     .yields = 1,
     .needs_all = true,
     .linear = 600},
    {.run = energy_regressor,
     .outputs = {QUANTITY(ENERGY_REGRESSOR), QUANTITY(ENERGY_REGRESSOR)},
     .yields = 1,
     .needs_all = true,
     .linear = 100},
    {.run = torque_ellipsoid,
     .outputs = {QUANTITY(TORQUE_ELLIPSOID), QUANTITY(TORQUE_ELLIPSOID)},
     .yields = 1,
     .needs_all = true,
     .linear = 100,
     .cubic = 40},
    {.run = inverse_dynamics_along, .outputs = {QUANTITY(INVERSE_DYNAMICS_ALONG)}, .yields = 1, .linear = 60},
    {.run = forward_dynamics_along, .outputs = {QUANTITY(FORWARD_DYNAMICS_ALONG)}, .yields = 1, .linear = 120},
};

const size_t computation_count = sizeof computations / sizeof computations[0];
