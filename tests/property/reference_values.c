/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compares the library with the reference values: every array, for every robot and state, agrees to 1e-10 of its norm.
 * A field that the table `fields` does not contain is a failure, and so are missing reference values.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/algorithms.h"
#include "support/assertions.h"
#include "support/golden.h"

static const double tolerance = 1e-10;

static char **files;

/* Robot in one of its states of the reference. */
typedef struct place {
    const golden *g;
    size_t state;
    algorithm_input in; /* without external forces */
    dyn_external_forces forces;
    int joints;
} place;

/* Layout of a field of the reference. In SPATIAL and SPATIAL_ROWS the linear part is first. */
typedef enum layout { VECTOR, SQUARE, SPATIAL, SPATIAL_ROWS, NUMBERS } layout;

/* Field of the reference, with its counterpart in the library: an output of an algorithm, or the result of
 * `compute`. */
typedef struct field {
    const char *name;
    layout layout;
    algorithm_id id;
    int output;
    bool with_forces;
    dyn_status (*compute)(const place *p, dyn_error *error, double *out); /* instead of the algorithm */
    void (*check)(const place *p, const json_t *values);                  /* instead of comparing */
} field;

static const double *read_numbers(const json_t *from, double *out) {
    for (size_t i = 0; i < json_array_size(from); i++) {
        out[i] = json_number_value(json_array_get(from, i));
    }
    return out;
}

/* ---- frames in their own axes ------------------------------------------------------------------------------------ */

static dyn_status local_jacobian(const place *p, dyn_error *error, double *out) {
    return dyn_frame_jacobian(p->g->model, p->in.workspace, 1, p->in.q, p->in.frame, DYN_REFERENCE_FRAME_LOCAL, out,
                              error);
}

static dyn_status local_twist(const place *p, dyn_error *error, double *out) {
    return dyn_frame_motion(p->g->model, p->in.workspace, 1, p->in.q, p->in.v, p->in.a, p->in.frame,
                            DYN_REFERENCE_FRAME_LOCAL, out, NULL, NULL, error);
}

static dyn_status local_acceleration(const place *p, dyn_error *error, double *out) {
    return dyn_frame_motion(p->g->model, p->in.workspace, 1, p->in.q, p->in.v, p->in.a, p->in.frame,
                            DYN_REFERENCE_FRAME_LOCAL, NULL, out, NULL, error);
}

static dyn_status local_jacobian_rate(const place *p, dyn_error *error, double *out) {
    return dyn_frame_motion(p->g->model, p->in.workspace, 1, p->in.q, p->in.v, p->in.a, p->in.frame,
                            DYN_REFERENCE_FRAME_LOCAL, NULL, NULL, out, error);
}

/* Computes the pose of the frame as a 3 x 4 matrix: the rotation, with the position as last column. */
static dyn_status placement(const place *p, dyn_error *error, double *out) {
    double position[3], R[9];
    dyn_status status = dyn_frame_pose(p->g->model, p->in.workspace, 1, p->in.q, p->in.frame, position, R, error);
    for (int i = 0; i < 12; i++) {
        out[i] = i % 4 == 3 ? position[i / 4] : R[i / 4 * 3 + i % 4];
    }
    return status;
}

/* Computes rotation, then position, of the child link of each joint of the reference. */
static dyn_status joint_placements(const place *p, dyn_error *error, double *out) {
    dyn_status status = DYN_OK;
    for (int i = 0; i < p->joints && status == DYN_OK; i++) {
        int link = dyn_model_joint(p->g->model, golden_joint(p->g, (size_t)i))->child_link;
        status = dyn_frame_pose(p->g->model, p->in.workspace, 1, p->in.q, link, out + 12 * i + 9, out + 12 * i, error);
    }
    return status;
}

/* ---- energies and momentum --------------------------------------------------------------------------------------- */

static dyn_status energies(const place *p, dyn_error *error, double *out) {
    return dyn_energy(p->g->model, p->in.workspace, 1, NULL, p->in.q, p->in.v, out, out + 1, error);
}

static dyn_status centroidal_inertia(const place *p, dyn_error *error, double *out) {
    return dyn_centroidal(p->g->model, p->in.workspace, 1, p->in.q, NULL, out, NULL, NULL, error);
}

/* Computes dA_G/dt v, the part of the momentum's rate that does not depend on accelerations. */
static dyn_status momentum_bias(const place *p, dyn_error *error, double *out) {
    double *dA = numbers(6 * p->g->nv);
    dyn_status status = dyn_centroidal(p->g->model, p->in.workspace, 1, p->in.q, p->in.v, NULL, NULL, dA, error);
    for (size_t i = 0; i < 6 * p->g->nv; i++) {
        out[i / p->g->nv] += dA[i] * p->in.v[i % p->g->nv];
    }
    free(dA);
    return status;
}

/* ---- fields that are not compared number by number --------------------------------------------------------------- */

/* Compares the configuration after an integration with the reference's, which may differ by full turns and by the signs
 * of quaternions. */
static void check_next_configuration(const place *p, const json_t *values) {
    (void)values;
    dyn_error error;
    double *expected = numbers(p->g->nq), *ours = numbers(p->g->nq), *apart = numbers(p->g->nv), zero = 0;
    double h = json_number_value(golden_field(p->g, p->state, "h"));
    golden_configuration(p->g, p->state, "q_next", expected);
    require(dyn_integrate(p->g->model, 1, p->in.q, p->in.v, h, ours, &error), &error);
    require(dyn_difference(p->g->model, 1, expected, ours, apart, &error), &error);
    for (size_t i = 0; i < p->g->nv; i++) {
        double off = remainder(apart[i], 2 * acos(-1));
        assert_close("q_next", (int)p->state, &off, &zero, 1, tolerance);
    }
    free(expected), free(ours), free(apart);
}

static void check_regressor(const place *p, const json_t *values) {
    dyn_error error;
    size_t nv = p->g->nv, columns = (size_t)dyn_model_parameter_count(p->g->model);
    double *ours = numbers(nv * columns), *expected = numbers(nv * columns);
    ck_assert_uint_eq(json_array_size(values), nv * columns);
    require(dyn_torque_regressor(p->g->model, p->in.workspace, 1, NULL, p->in.q, p->in.v, p->in.a, ours, &error),
            &error);
    for (size_t i = 0; i < nv * columns; i++) {
        size_t column = i % columns;
        size_t own = 10 * (size_t)golden_joint(p->g, column / 10) + column % 10;
        expected[p->g->v_map[i / columns] * columns + own] = json_number_value(json_array_get(values, i));
    }
    assert_close("regressor", (int)p->state, ours, expected, nv * columns, tolerance);
    free(ours), free(expected);
}

/* Builds the robot with a weld between the frame, where it is in the state, and the world. */
static dyn_model *hold_frame(const place *p) {
    dyn_builder *builder;
    dyn_model *held;
    dyn_error error;
    dyn_pose pose;
    dyn_build_options options = DYN_BUILD_OPTIONS_INIT();
    require(dyn_model_describe(p->g->model, &builder, &error), &error);
    require(dyn_model_build_options(p->g->model, &options, &error), &error);
    require(dyn_frame_pose(p->g->model, p->in.workspace, 1, p->in.q, p->in.frame, pose.position, pose.rotation, &error),
            &error);
    const dyn_constraint_description weld = {
        .name = "contact6",
        .kind = DYN_CONSTRAINT_KIND_LOOP_JOINT,
        .type = DYN_JOINT_TYPE_FIXED,
        .predecessor = {NULL, pose},
        .successor = {dyn_model_link(p->g->model, p->in.frame)->name, {{0}, {1, 0, 0, 0, 1, 0, 0, 0, 1}}}};
    require(dyn_builder_add_constraint(builder, &weld, &error), &error);
    require(dyn_builder_build(builder, &options, NULL, &held, &error), &error);
    dyn_builder_free(builder);
    return held;
}

/* Checks that all methods of forward dynamics with constraints return the acceleration a and the force of a weld. */
static void check_held_frame(const place *p, const double *a, const double *force) {
    dyn_model *held = hold_frame(p);
    dyn_workspace *workspace;
    dyn_error error;
    double *found = numbers(p->g->nv), lambda[6];
    require(dyn_workspace_create(held, &workspace, &error), &error);
    for (int method = 0; method <= DYN_CONSTRAINT_METHOD_EMBEDDING; method++) {
        const dyn_constraint_options chosen = DYN_CONSTRAINT_OPTIONS_INIT(.method = (dyn_constraint_method)method);
        require(dyn_constrained_forward_dynamics(held, workspace, 1, NULL, p->in.q, p->in.v, p->in.tau, NULL, &chosen,
                                                 found, lambda, NULL, &error),
                &error);
        assert_norm_close("contact6 by a weld", method, found, a, p->g->nv, 1e-7);
        assert_norm_close("force of a weld", method, lambda, force, 6, 1e-6);
    }
    free(found);
    dyn_workspace_free(workspace);
    dyn_model_free(held);
}

/* Checks the acceleration and the force of a frame that is held fixed: J a + dJ v = 0, and RNEA(a) = tau + J' f. */
static void check_contact(const place *p, const json_t *values) {
    (void)values;
    dyn_error error;
    size_t nv = p->g->nv;
    double *a = numbers(nv), *tau = numbers(nv), *load = numbers(nv), reference[6], force[6], rate[6], J_a[6];
    double *J = numbers(6 * nv), zero[6] = {0};
    read_numbers(golden_field(p->g, p->state, "contact6_force_local"), reference);
    for (int i = 0; i < 6; i++) {
        force[i] = reference[(i + 3) % 6];
    }
    golden_rows(p->g, p->state, "contact6_ddq", 1, a);
    require(dyn_frame_force(p->g->model, p->in.workspace, 1, p->in.q, p->in.frame, DYN_REFERENCE_FRAME_LOCAL, force,
                            load, &error),
            &error);
    require(dyn_rnea(p->g->model, p->in.workspace, 1, NULL, p->in.q, p->in.v, a, NULL, tau, &error), &error);
    for (size_t i = 0; i < nv; i++) {
        load[i] += p->in.tau[i];
    }
    assert_close("forces of contact6", (int)p->state, tau, load, nv, tolerance);
    require(dyn_frame_motion(p->g->model, p->in.workspace, 1, p->in.q, p->in.v, a, p->in.frame,
                             DYN_REFERENCE_FRAME_LOCAL, NULL, rate, NULL, &error),
            &error);
    require(local_jacobian(p, &error, J), &error);
    for (size_t i = 0; i < 6; i++) {
        J_a[i] = 0;
        for (size_t k = 0; k < nv; k++) {
            J_a[i] += J[i * nv + k] * a[k];
        }
    }
    assert_close("acceleration of contact6", (int)p->state, rate, zero, 6, tolerance * fmax(1, norm(J_a, 6)));
    check_held_frame(p, a, force);
    free(a), free(tau), free(load), free(J);
}

static void check_nothing(const place *p, const json_t *values) {
    (void)p, (void)values;
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

static const field fields[] = {
    {.name = "q", .check = check_nothing}, /* inputs */
    {.name = "v", .check = check_nothing},
    {.name = "a", .check = check_nothing},
    {.name = "tau_in", .check = check_nothing},
    {.name = "fext", .check = check_nothing},
    {.name = "h", .check = check_nothing},
    {.name = "rnea", .layout = VECTOR, .id = ALGORITHM_RNEA},
    {.name = "rnea_fext", .layout = VECTOR, .id = ALGORITHM_RNEA, .with_forces = true},
    {.name = "nle", .layout = VECTOR, .id = ALGORITHM_BIAS},
    {.name = "gravity", .layout = VECTOR, .id = ALGORITHM_GRAVITY},
    {.name = "aba", .layout = VECTOR, .id = ALGORITHM_ABA},
    {.name = "aba_fext", .layout = VECTOR, .id = ALGORITHM_ABA, .with_forces = true},
    {.name = "q_next", .check = check_next_configuration},
    {.name = "energy_kin_pot", .layout = NUMBERS, .compute = energies},
    {.name = "com", .layout = NUMBERS, .id = ALGORITHM_CENTER_OF_MASS},
    {.name = "vcom", .layout = NUMBERS, .id = ALGORITHM_CENTER_OF_MASS_MOTION},
    {.name = "hg", .layout = SPATIAL, .id = ALGORITHM_CENTROIDAL_MOMENTUM},
    {.name = "Ig_inertia_about_com", .layout = NUMBERS, .compute = centroidal_inertia},
    {.name = "dAg_v", .layout = SPATIAL, .compute = momentum_bias},
    {.name = "ee_placement_3x4", .layout = NUMBERS, .compute = placement},
    {.name = "ee_v_local", .layout = SPATIAL, .compute = local_twist},
    {.name = "ee_a_local_spatial", .layout = SPATIAL, .compute = local_acceleration},
    {.name = "ee_a_lwa_classical", .layout = SPATIAL, .id = ALGORITHM_FRAME_ACCELERATION},
    {.name = "oMi_R9p3", .layout = NUMBERS, .compute = joint_placements},
    {.name = "M", .layout = SQUARE, .id = ALGORITHM_CRBA},
    {.name = "C", .layout = SQUARE, .id = ALGORITHM_CORIOLIS_MATRIX},
    {.name = "Minv", .layout = SQUARE, .id = ALGORITHM_MINVERSE},
    {.name = "drnea_dq", .layout = SQUARE, .id = ALGORITHM_RNEA_DERIVATIVES},
    {.name = "drnea_dv", .layout = SQUARE, .id = ALGORITHM_RNEA_DERIVATIVES, .output = 1},
    {.name = "M", .layout = SQUARE, .id = ALGORITHM_RNEA_DERIVATIVES, .output = 2},
    {.name = "daba_dq", .layout = SQUARE, .id = ALGORITHM_ABA_DERIVATIVES},
    {.name = "daba_dv", .layout = SQUARE, .id = ALGORITHM_ABA_DERIVATIVES, .output = 1},
    {.name = "Minv", .layout = SQUARE, .id = ALGORITHM_ABA_DERIVATIVES, .output = 2},
    {.name = "regressor_Y", .check = check_regressor},
    {.name = "Ag", .layout = SPATIAL_ROWS, .id = ALGORITHM_CENTROIDAL_MATRIX},
    {.name = "ee_J_local", .layout = SPATIAL_ROWS, .compute = local_jacobian},
    {.name = "ee_J_lwa", .layout = SPATIAL_ROWS, .id = ALGORITHM_JACOBIAN},
    {.name = "ee_dJ_local", .layout = SPATIAL_ROWS, .compute = local_jacobian_rate},
    {.name = "ee_dJ_lwa", .layout = SPATIAL_ROWS, .id = ALGORITHM_JACOBIAN_RATE},
    {.name = "contact6_ddq", .check = check_contact},
    {.name = "contact6_force_local", .check = check_contact},
};

/* Stores a field of the reference in this library's order in `out`; returns the field's number of values. */
static size_t expect(const place *p, const field *f, double *out) {
    size_t nv = p->g->nv, half = f->layout == SPATIAL ? 3 : 3 * nv;
    const json_t *from = golden_field(p->g, p->state, f->name);
    double *rows = numbers(6 * nv);
    switch (f->layout) {
    case VECTOR:
        golden_rows(p->g, p->state, f->name, 1, out);
        break;
    case SQUARE:
        golden_square(p->g, p->state, f->name, out);
        break;
    case SPATIAL:
    case SPATIAL_ROWS:
        if (f->layout == SPATIAL) {
            read_numbers(from, rows);
        } else {
            golden_rows(p->g, p->state, f->name, 6, rows);
        }
        memcpy(out, rows + half, half * sizeof *out);
        memcpy(out + half, rows, half * sizeof *out);
        break;
    case NUMBERS:
        read_numbers(from, out);
        break;
    }
    free(rows);
    return json_array_size(from);
}

static void compare(const place *p, const field *f) {
    dyn_error error;
    size_t size = (f->compute ? 12 * (size_t)p->joints + 6 * p->g->nv : algorithm_width(f->id, p->g->model)) + 12;
    double *ours = numbers(size), *expected = numbers(size), *found = ours;
    algorithm_input in = p->in;
    in.forces = f->with_forces ? &p->forces : NULL;
    require(f->compute ? f->compute(p, &error, ours) : algorithm_compute(f->id, &in, &error, ours), &error);
    for (int i = 0; i < f->output; i++) {
        found += algorithm_output_width(f->id, p->g->model, i);
    }
    size_t count = expect(p, f, expected);
    double scale = norm(expected, count), off = 0;
    for (size_t i = 0; i < count; i++) {
        off += (found[i] - expected[i]) * (found[i] - expected[i]);
    }
    ck_assert_msg(sqrt(off) <= tolerance * scale, "%s, %s, state %zu: off by %g of %g", p->g->name, f->name, p->state,
                  sqrt(off), scale);
    free(ours), free(expected);
}

/* Checks that the table has a line for every field of a state, and compares each field by its lines. Returns the number
 * of comparisons. */
static int compare_state(const place *p) {
    const size_t count = sizeof fields / sizeof fields[0];
    const char *name;
    json_t *values;
    int compared = 0;
    json_object_foreach(json_array_get(p->g->states, p->state), name, values) {
        int lines = 0;
        for (size_t i = 0; i < count; i++) {
            if (strcmp(fields[i].name, name) != 0) {
                continue;
            }
            if (fields[i].check) {
                fields[i].check(p, values);
            } else {
                compare(p, &fields[i]);
            }
            lines++;
        }
        ck_assert_msg(lines > 0, "%s: nothing compares the field %s", p->g->name, name);
        compared += lines;
    }
    return compared;
}

/* Reads the external wrench on the child link of each joint, in the link's frame; the reference has the force first. */
static void read_forces(const place *p, double *wrenches, dyn_external_force *forces) {
    const json_t *from = golden_field(p->g, p->state, "fext");
    for (int i = 0; i < p->joints; i++) {
        for (int k = 0; k < 6; k++) {
            wrenches[6 * i + k] = json_number_value(json_array_get(from, (size_t)(6 * i + (k + 3) % 6)));
        }
        int link = dyn_model_joint(p->g->model, golden_joint(p->g, (size_t)i))->child_link;
        forces[i] = (dyn_external_force){link, DYN_REFERENCE_FRAME_LOCAL, wrenches + 6 * i, 0};
    }
}

START_TEST(every_array_is_the_reference_value) {
    golden g;
    dyn_error error;
    if (!golden_open(files[_i], &g)) {
        return;
    }
    place p = {.g = &g, .joints = dyn_model_joint_count(g.model)};
    double *wrenches = numbers(6 * (size_t)p.joints);
    dyn_external_force *forces = calloc((size_t)p.joints, sizeof *forces);
    const json_t *frame = json_object_get(json_object_get(g.root, "ee_frame"), "name");
    int compared = 0;
    p.forces = (dyn_external_forces){(size_t)p.joints, forces};
    p.in = (algorithm_input){.model = g.model, .n = 1};
    require(dyn_model_find_frame(g.model, json_string_value(frame), &p.in.frame, &error), &error);
    require(dyn_workspace_create(g.model, &p.in.workspace, &error), &error);
    for (p.state = 0; p.state < g.count; p.state++) {
        p.in.q = g.q + p.state * g.nq, p.in.v = g.v + p.state * g.nv;
        p.in.a = g.a + p.state * g.nv, p.in.tau = g.tau + p.state * g.nv;
        read_forces(&p, wrenches, forces);
        compared += compare_state(&p);
    }
    printf("%s: %d fields of %zu states\n", g.name, compared, g.count);
    free(wrenches), free(forces);
    dyn_workspace_free(p.in.workspace);
    golden_close(&g);
}
END_TEST

int main(void) {
    int count = 0;
    files = golden_files();
    while (files && files[count]) {
        count++;
    }
    if (count == 0) {
        puts("there are no reference values in " DYNAMICS_REFERENCE_DIR "/golden");
        return EXIT_FAILURE;
    }
    TCase *robots = tcase_create("robots");
    tcase_set_timeout(robots, 120);
    tcase_add_loop_test(robots, every_array_is_the_reference_value, 0, count);
    int status = run_properties("reference values", robots);
    golden_files_free(files);
    return status;
}
