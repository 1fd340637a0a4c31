/* SPDX-License-Identifier: BSD-2-Clause */
#include "algorithms.h"

typedef const algorithm_input *input;
typedef double *const *outputs;

static const double no_gravity[3];

/* ---- dynamics ---------------------------------------------------------------------------------------------------- */

static dyn_status rnea(input in, dyn_error *error, outputs out) {
    return dyn_rnea(in->model, in->workspace, in->n, NULL, in->q, in->v, in->a, in->forces, out[0], error);
}

static dyn_status bias(input in, dyn_error *error, outputs out) {
    return dyn_bias(in->model, in->workspace, in->n, NULL, in->q, in->v, out[0], error);
}

static dyn_status coriolis_forces(input in, dyn_error *error, outputs out) {
    return dyn_bias(in->model, in->workspace, in->n, no_gravity, in->q, in->v, out[0], error);
}

static dyn_status gravity(input in, dyn_error *error, outputs out) {
    return dyn_gravity(in->model, in->workspace, in->n, NULL, in->q, out[0], error);
}

static dyn_status crba(input in, dyn_error *error, outputs out) {
    return dyn_crba(in->model, in->workspace, in->n, in->q, out[0], error);
}

static dyn_status minverse(input in, dyn_error *error, outputs out) {
    return dyn_minverse(in->model, in->workspace, in->n, in->q, out[0], error);
}

static dyn_status mass_solve(input in, dyn_error *error, outputs out) {
    dyn_status status = dyn_mass_factors(in->model, in->workspace, in->n, in->q, out[0], error);
    return status == DYN_OK ? dyn_mass_solve(in->model, in->workspace, in->n, out[0], in->tau, out[1], error) : status;
}

static dyn_status aba(input in, dyn_error *error, outputs out) {
    return dyn_aba(in->model, in->workspace, in->n, NULL, in->q, in->v, in->tau, in->forces, out[0], error);
}

static dyn_status coriolis_matrix(input in, dyn_error *error, outputs out) {
    return dyn_coriolis_matrix(in->model, in->workspace, in->n, in->q, in->v, out[0], error);
}

static dyn_status christoffel(input in, dyn_error *error, outputs out) {
    return dyn_christoffel(in->model, in->workspace, in->n, in->q, out[0], error);
}

static dyn_status joint_wrenches(input in, dyn_error *error, outputs out) {
    return dyn_joint_wrenches(in->model, in->workspace, in->n, NULL, in->q, in->v, in->a, in->forces, out[0], error);
}

static dyn_status regressor(input in, dyn_error *error, outputs out) {
    return dyn_torque_regressor(in->model, in->workspace, in->n, NULL, in->q, in->v, in->a, out[0], error);
}

/* ---- energy and momentum ----------------------------------------------------------------------------------------- */

static dyn_status kinetic_energy(input in, dyn_error *error, outputs out) {
    return dyn_energy(in->model, in->workspace, in->n, NULL, in->q, in->v, out[0], NULL, error);
}

static dyn_status potential_energy(input in, dyn_error *error, outputs out) {
    return dyn_energy(in->model, in->workspace, in->n, NULL, in->q, NULL, NULL, out[0], error);
}

static dyn_status center_of_mass(input in, dyn_error *error, outputs out) {
    return dyn_center_of_mass(in->model, in->workspace, in->n, in->q, NULL, NULL, -1, out[0], NULL, NULL, NULL, error);
}

static dyn_status center_of_mass_motion(input in, dyn_error *error, outputs out) {
    return dyn_center_of_mass(in->model, in->workspace, in->n, in->q, in->v, in->a, -1, NULL, out[0], out[1], NULL,
                              error);
}

static dyn_status center_of_mass_jacobian(input in, dyn_error *error, outputs out) {
    return dyn_center_of_mass(in->model, in->workspace, in->n, in->q, NULL, NULL, -1, NULL, NULL, NULL, out[0], error);
}

static dyn_status centroidal_momentum(input in, dyn_error *error, outputs out) {
    return dyn_centroidal_momentum(in->model, in->workspace, in->n, in->q, in->v, out[0], error);
}

static dyn_status centroidal_matrix(input in, dyn_error *error, outputs out) {
    return dyn_centroidal(in->model, in->workspace, in->n, in->q, NULL, NULL, out[0], NULL, error);
}

static dyn_status centroidal_matrix_rate(input in, dyn_error *error, outputs out) {
    return dyn_centroidal(in->model, in->workspace, in->n, in->q, in->v, NULL, out[0], out[1], error);
}

/* ---- frames ------------------------------------------------------------------------------------------------------ */

static dyn_status pose(input in, dyn_error *error, outputs out) {
    return dyn_frame_pose(in->model, in->workspace, in->n, in->q, in->frame, out[0], out[1], error);
}

static dyn_status jacobian(input in, dyn_error *error, outputs out) {
    return dyn_frame_jacobian(in->model, in->workspace, in->n, in->q, in->frame,
                              DYN_REFERENCE_FRAME_LOCAL_WORLD_ALIGNED, out[0], error);
}

static dyn_status jacobian_rate(input in, dyn_error *error, outputs out) {
    return dyn_frame_motion(in->model, in->workspace, in->n, in->q, in->v, NULL, in->frame,
                            DYN_REFERENCE_FRAME_LOCAL_WORLD_ALIGNED, NULL, NULL, out[0], error);
}

static dyn_status twist(input in, dyn_error *error, outputs out) {
    return dyn_frame_motion(in->model, in->workspace, in->n, in->q, in->v, NULL, in->frame,
                            DYN_REFERENCE_FRAME_LOCAL_WORLD_ALIGNED, out[0], NULL, NULL, error);
}

static dyn_status frame_acceleration(input in, dyn_error *error, outputs out) {
    return dyn_frame_motion(in->model, in->workspace, in->n, in->q, in->v, in->a, in->frame,
                            DYN_REFERENCE_FRAME_LOCAL_WORLD_ALIGNED, NULL, out[0], NULL, error);
}

static dyn_status hessian(input in, dyn_error *error, outputs out) {
    return dyn_frame_hessian(in->model, in->workspace, in->n, in->q, in->frame, DYN_REFERENCE_FRAME_LOCAL_WORLD_ALIGNED,
                             out[0], error);
}

static dyn_status frame_force(input in, dyn_error *error, outputs out) {
    return dyn_frame_force(in->model, in->workspace, in->n, in->q, in->frame, DYN_REFERENCE_FRAME_LOCAL_WORLD_ALIGNED,
                           in->wrench, out[0], error);
}

/* Computes J M^-1 J' alone, which exists in a singular configuration too. */
static dyn_status task_inertia(input in, dyn_error *error, outputs out) {
    const dyn_task_frame frame = {in->frame, DYN_REFERENCE_FRAME_LOCAL_WORLD_ALIGNED, DYN_TASK_ALL};
    const dyn_task task = {1, &frame};
    return dyn_operational_space(in->model, in->workspace, in->n, NULL, in->q, NULL, &task, out[0], NULL, NULL, NULL,
                                 NULL, NULL, error);
}

static dyn_status energy_regressor(input in, dyn_error *error, outputs out) {
    return dyn_energy_regressor(in->model, in->workspace, in->n, NULL, in->q, in->v, out[0], out[1], error);
}

/* Computes manipulability with the ellipsoids whose volumes it measures. */
static dyn_status manipulability(input in, dyn_error *error, outputs out) {
    dyn_status status =
        dyn_manipulability(in->model, in->workspace, in->n, in->q, in->frame, NULL, NULL, out[0], error);
    return status != DYN_OK ? status
                            : dyn_velocity_ellipsoids(in->model, in->workspace, in->n, in->q, in->frame,
                                                      DYN_REFERENCE_FRAME_LOCAL_WORLD_ALIGNED, out[1], out[2], out[3],
                                                      out[4], error);
}

static dyn_status mass_ellipsoids(input in, dyn_error *error, outputs out) {
    return dyn_mass_ellipsoids(in->model, in->workspace, in->n, in->q, in->frame,
                               DYN_REFERENCE_FRAME_LOCAL_WORLD_ALIGNED, out[0], out[1], out[2], out[3], error);
}

static dyn_status acceleration_ellipsoids(input in, dyn_error *error, outputs out) {
    return dyn_acceleration_ellipsoids(in->model, in->workspace, in->n, in->q, in->frame,
                                       DYN_REFERENCE_FRAME_LOCAL_WORLD_ALIGNED, out[0], out[1], out[2], out[3], error);
}

/* Returns the child link of the last joint. The frame of the input may be fixed to the world, and then has no body. */
static int moving_link(input in) {
    return dyn_model_joint(in->model, dyn_model_joint_count(in->model) - 1)->child_link;
}

static dyn_status body_inertia(input in, dyn_error *error, outputs out) {
    return dyn_body_inertia(in->model, in->workspace, in->n, in->q, moving_link(in),
                            DYN_REFERENCE_FRAME_LOCAL_WORLD_ALIGNED, out[0], error);
}

static dyn_status principal_moments(input in, dyn_error *error, outputs out) {
    return dyn_principal_moments(in->model, in->workspace, in->n, in->q, moving_link(in),
                                 DYN_REFERENCE_FRAME_LOCAL_WORLD_ALIGNED, out[0], out[1], error);
}

static dyn_status joint_inertias(input in, dyn_error *error, outputs out) {
    return dyn_joint_inertias(in->model, in->workspace, in->n, in->q, out[0], out[1], error);
}

static dyn_status rotor_forces(input in, dyn_error *error, outputs out) {
    return dyn_rotor_forces(in->model, in->workspace, in->n, NULL, in->q, in->v, in->a, out[0], error);
}

static dyn_status rotor_coupling_forces(input in, dyn_error *error, outputs out) {
    return dyn_rotor_coupling_forces(in->model, in->workspace, in->n, in->q, in->v, in->a, out[0], error);
}

static dyn_status torque_ellipsoid(input in, dyn_error *error, outputs out) {
    return dyn_torque_ellipsoid(in->model, in->workspace, in->n, in->q, out[0], out[1], error);
}

/* ---- derivatives ------------------------------------------------------------------------------------------------- */

static dyn_status rnea_derivatives(input in, dyn_error *error, outputs out) {
    return dyn_rnea_derivatives(in->model, in->workspace, in->n, NULL, in->q, in->v, in->a, in->forces, out[0], out[1],
                                out[2], error);
}

static dyn_status aba_derivatives(input in, dyn_error *error, outputs out) {
    return dyn_aba_derivatives(in->model, in->workspace, in->n, NULL, in->q, in->v, in->tau, in->forces, out[0], out[1],
                               out[2], error);
}

static dyn_status gravity_derivatives(input in, dyn_error *error, outputs out) {
    return dyn_gravity_derivatives(in->model, in->workspace, in->n, NULL, in->q, out[0], error);
}

static dyn_status frame_derivatives(input in, dyn_error *error, outputs out) {
    return dyn_frame_derivatives(in->model, in->workspace, in->n, in->q, in->v, in->a, in->frame,
                                 DYN_REFERENCE_FRAME_LOCAL_WORLD_ALIGNED, out[0], out[1], out[2], out[3], error);
}

static dyn_status centroidal_derivatives(input in, dyn_error *error, outputs out) {
    return dyn_centroidal_derivatives(in->model, in->workspace, in->n, in->q, in->v, in->a, out[0], out[1], out[2],
                                      out[3], error);
}

/* Computes the derivative of the torques along the direction dq = v, dv = a, da = tau. */
static dyn_status rnea_directional(input in, dyn_error *error, outputs out) {
    return dyn_rnea_directional_derivative(in->model, in->workspace, in->n, NULL, in->q, in->v, in->a, in->forces,
                                           in->v, in->a, in->tau, out[0], error);
}

/* Computes the derivative of the accelerations along the direction dq = v, dv = a, dtau = tau. */
static dyn_status aba_directional(input in, dyn_error *error, outputs out) {
    return dyn_aba_directional_derivative(in->model, in->workspace, in->n, NULL, in->q, in->v, in->tau, in->forces,
                                          in->v, in->a, in->tau, out[0], error);
}

static dyn_status rnea_second_derivatives(input in, dyn_error *error, outputs out) {
    return dyn_rnea_second_derivatives(in->model, in->workspace, in->n, NULL, in->q, in->v, in->a, out[0], out[1],
                                       out[2], out[3], error);
}

static dyn_status aba_second_derivatives(input in, dyn_error *error, outputs out) {
    return dyn_aba_second_derivatives(in->model, in->workspace, in->n, NULL, in->q, in->v, in->tau, out, out + 3,
                                      error);
}

/* Motion of a base. */
static const double base_twist[6] = {0.3, -0.5, 0.9, 1.1, 0.2, -0.7},
                    base_acceleration[6] = {-1.3, 0.4, 0.8, 2.1, -0.6, 1.7};
static const dyn_base_motion moving_base = {base_twist, base_acceleration, 0};

static dyn_status base_forces(input in, dyn_error *error, outputs out) {
    return dyn_base_forces(in->model, in->workspace, in->n, in->q, in->v, &moving_base, out[0], NULL, error);
}

static dyn_status base_force_derivatives(input in, dyn_error *error, outputs out) {
    return dyn_base_force_derivatives(in->model, in->workspace, in->n, in->q, in->v, &moving_base, out[0], out[1],
                                      error);
}

static dyn_status frame_motion_on_base(input in, dyn_error *error, outputs out) {
    return dyn_frame_motion_on_base(in->model, in->workspace, in->n, in->q, in->v, in->a, in->frame,
                                    DYN_REFERENCE_FRAME_LOCAL_WORLD_ALIGNED, &moving_base, out[0], out[1], error);
}

static dyn_status articulated_inertia(input in, dyn_error *error, outputs out) {
    int last = dyn_model_joint_count(in->model) - 1, frame = in->frame;
    if (last >= 0 && dyn_model_link(in->model, frame)->moving_joint < 0) {
        frame = dyn_model_joint(in->model, last)->child_link; /* the other one is fixed to the world */
    }
    return dyn_articulated_inertia(in->model, in->workspace, in->n, NULL, in->q, in->v, in->tau, in->forces, frame,
                                   DYN_REFERENCE_FRAME_LOCAL_WORLD_ALIGNED, out[0], out[1], error);
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

static const algorithm algorithms[ALGORITHM_COUNT] = {
    [ALGORITHM_RNEA] = {"RNEA", {SHAPE_NV}, rnea},
    [ALGORITHM_BIAS] = {"bias", {SHAPE_NV}, bias},
    [ALGORITHM_CORIOLIS_FORCES] = {"Coriolis forces", {SHAPE_NV}, coriolis_forces},
    [ALGORITHM_GRAVITY] = {"gravity", {SHAPE_NV}, gravity},
    [ALGORITHM_CRBA] = {"CRBA", {SHAPE_NVxNV}, crba},
    [ALGORITHM_MINVERSE] = {"M^-1", {SHAPE_NVxNV}, minverse},
    [ALGORITHM_MASS_SOLVE] = {"L'DL, M x = b", {SHAPE_NVxNV, SHAPE_NV}, mass_solve},
    [ALGORITHM_ABA] = {"ABA", {SHAPE_NV}, aba},
    [ALGORITHM_CORIOLIS_MATRIX] = {"Coriolis matrix", {SHAPE_NVxNV}, coriolis_matrix},
    [ALGORITHM_CHRISTOFFEL] = {"Christoffel symbols", {SHAPE_NVxNVxNV}, christoffel},
    [ALGORITHM_KINETIC_ENERGY] = {"kinetic energy", {SHAPE_NUMBER}, kinetic_energy},
    [ALGORITHM_POTENTIAL_ENERGY] = {"potential energy", {SHAPE_NUMBER}, potential_energy},
    [ALGORITHM_CENTER_OF_MASS] = {"centre of mass", {SHAPE_3}, center_of_mass},
    [ALGORITHM_CENTER_OF_MASS_MOTION] = {"its motion", {SHAPE_3, SHAPE_3}, center_of_mass_motion},
    [ALGORITHM_CENTER_OF_MASS_JACOBIAN] = {"its Jacobian", {SHAPE_3xNV}, center_of_mass_jacobian},
    [ALGORITHM_CENTROIDAL_MOMENTUM] = {"momentum", {SHAPE_6}, centroidal_momentum},
    [ALGORITHM_CENTROIDAL_MATRIX] = {"A_G", {SHAPE_6xNV}, centroidal_matrix},
    [ALGORITHM_CENTROIDAL_MATRIX_RATE] = {"A_G, dA_G", {SHAPE_6xNV, SHAPE_6xNV}, centroidal_matrix_rate},
    [ALGORITHM_POSE] = {"pose", {SHAPE_3, SHAPE_3x3}, pose},
    [ALGORITHM_JACOBIAN] = {"Jacobian", {SHAPE_6xNV}, jacobian},
    [ALGORITHM_JACOBIAN_RATE] = {"Jacobian rate", {SHAPE_6xNV}, jacobian_rate},
    [ALGORITHM_TWIST] = {"twist", {SHAPE_6}, twist},
    [ALGORITHM_FRAME_ACCELERATION] = {"frame acceleration", {SHAPE_6}, frame_acceleration},
    [ALGORITHM_HESSIAN] = {"Hessian", {SHAPE_6xNVxNV}, hessian},
    [ALGORITHM_JOINT_WRENCHES] = {"joint wrenches", {SHAPE_6xJOINTS}, joint_wrenches},
    [ALGORITHM_FRAME_FORCE] = {"J'F", {SHAPE_NV}, frame_force},
    [ALGORITHM_REGRESSOR] = {"regressor", {SHAPE_NVxP}, regressor},
    [ALGORITHM_ENERGY_REGRESSOR] = {"energy regressor", {SHAPE_P, SHAPE_P}, energy_regressor},
    [ALGORITHM_MANIPULABILITY] = {"manipulability",
                                  {SHAPE_NUMBER, SHAPE_3, SHAPE_3x3, SHAPE_3, SHAPE_3x3},
                                  manipulability},
    [ALGORITHM_MASS_ELLIPSOIDS] = {"mass ellipsoids", {SHAPE_3, SHAPE_3x3, SHAPE_3, SHAPE_3x3}, mass_ellipsoids},
    [ALGORITHM_ACCELERATION_ELLIPSOIDS] = {"acceleration ellipsoids",
                                           {SHAPE_3, SHAPE_3x3, SHAPE_3, SHAPE_3x3},
                                           acceleration_ellipsoids},
    [ALGORITHM_TORQUE_ELLIPSOID] = {"torque ellipsoid", {SHAPE_NV, SHAPE_NVxNV}, torque_ellipsoid},
    [ALGORITHM_JOINT_INERTIAS] = {"joint inertias", {SHAPE_NV, SHAPE_NV}, joint_inertias},
    [ALGORITHM_ROTOR_FORCES] = {"rotor forces", {SHAPE_NV}, rotor_forces},
    [ALGORITHM_ROTOR_COUPLING_FORCES] = {"rotor coupling", {SHAPE_NV}, rotor_coupling_forces},
    [ALGORITHM_BASE_FORCES] = {"base forces", {SHAPE_NV}, base_forces},
    [ALGORITHM_BASE_FORCE_DERIVATIVES] = {"dbase", {SHAPE_NVxNV, SHAPE_NVxNV}, base_force_derivatives},
    [ALGORITHM_FRAME_MOTION_ON_BASE] = {"motion on a base", {SHAPE_6, SHAPE_6}, frame_motion_on_base},
    [ALGORITHM_ARTICULATED_INERTIA] = {"articulated inertia", {SHAPE_6x6, SHAPE_6}, articulated_inertia},
    [ALGORITHM_BODY_INERTIA] = {"body inertia", {SHAPE_6x6}, body_inertia},
    [ALGORITHM_PRINCIPAL_MOMENTS] = {"principal moments", {SHAPE_3, SHAPE_3x3}, principal_moments},
    [ALGORITHM_TASK_INERTIA] = {"J M^-1 J'", {SHAPE_6x6}, task_inertia},
    [ALGORITHM_RNEA_DERIVATIVES] = {"dRNEA", {SHAPE_NVxNV, SHAPE_NVxNV, SHAPE_NVxNV}, rnea_derivatives},
    [ALGORITHM_ABA_DERIVATIVES] = {"dABA", {SHAPE_NVxNV, SHAPE_NVxNV, SHAPE_NVxNV}, aba_derivatives},
    [ALGORITHM_GRAVITY_DERIVATIVES] = {"dg", {SHAPE_NVxNV}, gravity_derivatives},
    [ALGORITHM_FRAME_DERIVATIVES] = {"dframe", {SHAPE_6xNV, SHAPE_6xNV, SHAPE_6xNV, SHAPE_6xNV}, frame_derivatives},
    [ALGORITHM_CENTROIDAL_DERIVATIVES] = {"dmomentum",
                                          {SHAPE_6xNV, SHAPE_6xNV, SHAPE_6xNV, SHAPE_6xNV},
                                          centroidal_derivatives},
    [ALGORITHM_RNEA_DIRECTIONAL] = {"dRNEA along", {SHAPE_NV}, rnea_directional},
    [ALGORITHM_ABA_DIRECTIONAL] = {"dABA along", {SHAPE_NV}, aba_directional},
    [ALGORITHM_RNEA_SECOND_DERIVATIVES] = {"d2RNEA",
                                           {SHAPE_NVxNVxNV, SHAPE_NVxNVxNV, SHAPE_NVxNVxNV, SHAPE_NVxNVxNV},
                                           rnea_second_derivatives},
    [ALGORITHM_ABA_SECOND_DERIVATIVES] = {"d2ABA",
                                          {SHAPE_NVxNV, SHAPE_NVxNV, SHAPE_NVxNV, SHAPE_NVxNVxNV, SHAPE_NVxNVxNV,
                                           SHAPE_NVxNVxNV, SHAPE_NVxNVxNV},
                                          aba_second_derivatives},
};

const algorithm *algorithm_get(algorithm_id id) {
    return &algorithms[id];
}

size_t algorithm_output_width(algorithm_id id, const dyn_model *model, int i) {
    size_t nv = (size_t)dyn_model_nv(model);
    switch (algorithms[id].shape[i]) {
    case SHAPE_NUMBER:
        return 1;
    case SHAPE_3:
        return 3;
    case SHAPE_6:
        return 6;
    case SHAPE_3x3:
        return 9;
    case SHAPE_6x6:
        return 36;
    case SHAPE_NV:
        return nv;
    case SHAPE_3xNV:
        return 3 * nv;
    case SHAPE_6xNV:
        return 6 * nv;
    case SHAPE_6xJOINTS:
        return 6 * (size_t)dyn_model_joint_count(model);
    case SHAPE_NVxNV:
        return nv * nv;
    case SHAPE_P:
        return (size_t)dyn_model_parameter_count(model);
    case SHAPE_NVxP:
        return nv * (size_t)dyn_model_parameter_count(model);
    case SHAPE_6xNVxNV:
        return 6 * nv * nv;
    case SHAPE_NVxNVxNV:
        return nv * nv * nv;
    case SHAPE_NONE:
        break;
    }
    return 0;
}

size_t algorithm_width(algorithm_id id, const dyn_model *model) {
    size_t width = 0;
    for (int i = 0; i < ALGORITHM_OUTPUTS; i++) {
        width += algorithm_output_width(id, model, i);
    }
    return width;
}

void algorithm_lay_out(algorithm_id id, const dyn_model *model, size_t n, double *out,
                       double *arrays[ALGORITHM_OUTPUTS]) {
    for (int i = 0; i < ALGORITHM_OUTPUTS; i++) {
        arrays[i] = algorithms[id].shape[i] != SHAPE_NONE ? out : NULL;
        out += n * algorithm_output_width(id, model, i);
    }
}

dyn_status algorithm_compute(algorithm_id id, const algorithm_input *in, dyn_error *error, double *out) {
    double *arrays[ALGORITHM_OUTPUTS];
    algorithm_lay_out(id, in->model, in->n, out, arrays);
    return algorithms[id].compute(in, error, arrays);
}

bool algorithm_is_cubic(algorithm_id id) {
    bool cubic = id == ALGORITHM_TORQUE_ELLIPSOID; /* it computes eigenvalues of M */
    for (int i = 0; i < ALGORITHM_OUTPUTS; i++) {
        cubic = cubic || algorithms[id].shape[i] == SHAPE_NVxNVxNV;
    }
    return cubic;
}
