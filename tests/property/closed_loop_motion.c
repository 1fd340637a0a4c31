/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Motion of a closed loop: a four-bar linkage in the xz plane, whose coupler and rocker a revolute joint connects. The
 * tree of its joints has three coordinates, the linkage has one degree of freedom.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <dynamics/dynamics.h>

#include "support/assertions.h"

enum { NQ = 3, MOST_ROWS = 30, MOST_LOOPS = 6, SAMPLES = 13 };

/* ---- Linkage ----------------------------------------------------------------------------------------------------- */

/* Dimensions and properties of a linkage. */
typedef struct linkage_options {
    double rocker, rise; /* length of the rocker; height of the coupler's tip above its elbow, m */
    double limit;        /* of the crank's angle, rad; 0: none */
    double damping, friction;
    double rotor; /* inertia of a rotor that turns 50 times as fast as the motor's joint, kg m^2; 0: none */
    int loops;    /* number of constraints that state the same loop */
    bool is_held; /* the motor is held twice: by its coordinate, and by a rod from the ground to the crank */
    double apart; /* distance between the points of the rocker at which the first and the second loop close, m */
} linkage_options;

static const linkage_options usual = {.rocker = 0.8, .rise = 0.4, .loops = 1};

typedef struct linkage {
    dyn_model *model;
    dyn_workspace *workspace;
    size_t m;
} linkage;

static const double turn_of_nothing[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};

static void add_link(dyn_builder *builder, const char *name, double mass, double x, double z) {
    dyn_error error;
    const dyn_link_description link = {
        .name = name, .inertia = {.mass = mass, .center_of_mass = {x, 0, z}, .rotational = {0.08, 0, 0, 0.2, 0, 0.18}}};
    require(dyn_builder_add_link(builder, &link, &error), &error);
}

static void add_hinge(dyn_builder *builder, const char *name, const char *parent, const char *child, double x, double z,
                      const linkage_options *o) {
    dyn_error error;
    dyn_joint_description joint = {.name = name,
                                   .parent_link = parent,
                                   .child_link = child,
                                   .position = {x, 0, z},
                                   .axis = {0, 1, 0},
                                   .damping = o->damping,
                                   .friction = o->friction,
                                   .has_limits = o->limit > 0 && strcmp(name, "motor") == 0,
                                   .limits = {.lower = -o->limit, .upper = o->limit}};
    joint.type = joint.has_limits ? DYN_JOINT_TYPE_REVOLUTE : DYN_JOINT_TYPE_CONTINUOUS;
    memcpy(joint.rotation, turn_of_nothing, sizeof joint.rotation);
    require(dyn_builder_add_joint(builder, &joint, &error), &error);
}

/* Closes the loop at the distance `reach` from the pivot of the rocker. */
static void close_loop(dyn_builder *builder, const char *name, const linkage_options *o, double reach) {
    dyn_error error;
    dyn_constraint_description loop = {.name = name,
                                       .kind = DYN_CONSTRAINT_KIND_LOOP_JOINT,
                                       .type = DYN_JOINT_TYPE_REVOLUTE,
                                       .axis = {0, 1, 0},
                                       .predecessor = {"coupler", {.position = {1, 0, o->rise}}},
                                       .successor = {"rocker", {.position = {0, 0, reach}}}};
    memcpy(loop.predecessor.pose.rotation, turn_of_nothing, sizeof turn_of_nothing);
    memcpy(loop.successor.pose.rotation, turn_of_nothing, sizeof turn_of_nothing);
    require(dyn_builder_add_constraint(builder, &loop, &error), &error);
}

static void add_rotor(dyn_builder *builder, double inertia) {
    dyn_error error;
    const dyn_machine_element_description element = {.name = "rotor",
                                                     .kind = DYN_MACHINE_ELEMENT_KIND_ROTOR,
                                                     .joint = "motor",
                                                     .rotor = {.ratio = 50, .axial_inertia = inertia}};
    require(dyn_builder_add_machine_element(builder, &element, &error), &error);
}

/* Adds two constraints of the motor, whose rows are multiples of each other. The ratio varies with q. */
static void hold_motor(dyn_builder *builder) {
    dyn_error error;
    const dyn_constraint_description coordinate = {
        .name = "coordinate", .kind = DYN_CONSTRAINT_KIND_COUPLING, .coupled = {{"motor", 2}}};
    dyn_constraint_description rod = {.name = "rod",
                                      .kind = DYN_CONSTRAINT_KIND_DISTANCE,
                                      .distance = 0.3 * sqrt(2),
                                      .predecessor = {"ground", {.position = {0.3, 0, 0.1}}},
                                      .successor = {"crank", {.position = {0, 0, 0.4}}}};
    memcpy(rod.predecessor.pose.rotation, turn_of_nothing, sizeof turn_of_nothing);
    memcpy(rod.successor.pose.rotation, turn_of_nothing, sizeof turn_of_nothing);
    require(dyn_builder_add_constraint(builder, &coordinate, &error), &error);
    require(dyn_builder_add_constraint(builder, &rod, &error), &error);
}

/* Builds a linkage that is closed at q = 0, where crank and rocker are upright. */
static linkage build(const linkage_options *o) {
    static const char *const names[MOST_LOOPS] = {"loop", "same loop", "third", "fourth", "fifth", "sixth"};
    linkage l;
    dyn_builder *builder;
    dyn_error error;
    require(dyn_builder_create("four_bar", &builder, &error), &error);
    add_link(builder, "ground", 0, 0, 0);
    add_link(builder, "crank", 1, 0, 0.2);
    add_link(builder, "coupler", 2, 0.5, o->rise / 2);
    add_link(builder, "rocker", 1.5, 0, o->rocker / 2);
    add_hinge(builder, "motor", "ground", "crank", 0, 0, o);
    add_hinge(builder, "elbow", "crank", "coupler", 0, 0.4, o);
    add_hinge(builder, "pivot", "ground", "rocker", 1, 0, o);
    for (int i = 0; i < o->loops; i++) {
        close_loop(builder, names[i], o, o->rocker + i * o->apart);
    }
    if (o->rotor > 0) {
        add_rotor(builder, o->rotor);
    }
    if (o->is_held) {
        hold_motor(builder);
    }
    require(dyn_builder_build(builder, NULL, NULL, &l.model, &error), &error);
    require(dyn_workspace_create(l.model, &l.workspace, &error), &error);
    dyn_builder_free(builder);
    l.m = (size_t)dyn_model_constraint_rows(l.model);
    ck_assert_int_eq(dyn_model_nq(l.model), NQ);
    ck_assert_uint_le(l.m, MOST_ROWS);
    return l;
}

static void free_linkage(linkage *l) {
    dyn_workspace_free(l->workspace);
    dyn_model_free(l->model);
}

/* State of the linkage. */
typedef struct state {
    double q[NQ], v[NQ];
} state;

/* Returns the upright state in which the crank turns at the speed w. The coupler does not turn there. */
static state upright(const linkage_options *o, double w) {
    return (state){{0, 0, 0}, {w, -w, w * 0.4 / o->rocker}};
}

static dyn_simulator *simulate(const linkage *l, const dyn_simulation_options *options) {
    dyn_simulator *s;
    dyn_error error;
    require(dyn_simulator_create(l->model, options, &s, &error), &error);
    return s;
}

/* Computes steps of one sample. Returns the result of the last one. */
static dyn_sample_result go(dyn_simulator *s, size_t steps, state *x) {
    dyn_sample_result result = {0};
    dyn_error error;
    for (size_t i = 0; i < steps; i++) {
        require(dyn_simulator_step(s, 1, NULL, x->q, x->v, NULL, &result, &error), &error);
    }
    return result;
}

/* Returns the largest entry of A v. */
static double opening_speed(const linkage *l, const state *x) {
    double A[MOST_ROWS * NQ], most = 0;
    dyn_error error;
    require(dyn_constraint_rows(l->model, l->workspace, 1, x->q, x->v, A, NULL, NULL, &error), &error);
    for (size_t r = 0; r < l->m; r++) {
        most = larger(most, fabs(A[r * NQ] * x->v[0] + A[r * NQ + 1] * x->v[1] + A[r * NQ + 2] * x->v[2]));
    }
    return most;
}

static double energy(const linkage *l, const state *x) {
    double kinetic, potential;
    dyn_error error;
    require(dyn_energy(l->model, l->workspace, 1, NULL, x->q, x->v, &kinetic, &potential, &error), &error);
    return kinetic + potential;
}

/* ---- Long motion ------------------------------------------------------------------------------------------------- */

/* Checks the constraints of a motion that ends at q: two of the six rows of a planar loop are independent. */
static void check_constraints(const linkage *l, const double *q, const dyn_constraint_result *found) {
    double rank, condition;
    dyn_error error;
    const dyn_constraint_space space = {.rank = &rank, .condition = &condition};
    require(dyn_constraint_space_quantities(l->model, l->workspace, 1, q, &space, &error), &error);
    ck_assert_int_eq(found->rank, 2);
    ck_assert_double_eq(rank, 2);
    ck_assert_double_eq_tol(found->condition, condition, 1e-5 * condition);
    ck_assert_msg(found->residual > 0 && found->residual < 1e-9, "residual %g", found->residual);
}

START_TEST(a_hundred_seconds_of_a_linkage_stay_closed_and_keep_their_energy) {
    linkage l = build(&usual);
    dyn_simulation_options options = DYN_SIMULATION_OPTIONS_INIT();
    options.integrator = DYN_INTEGRATOR_RUNGE_KUTTA_4;
    options.substeps = 2;
    dyn_simulator *s = simulate(&l, &options);
    state x = upright(&usual, 2);
    double q[101 * NQ], kinetic[101];
    dyn_rollout_result result;
    dyn_error error;
    const dyn_rollout rollout = DYN_ROLLOUT_INIT(.steps = 100000, .stride = 1000, .q = x.q, .v = x.v);
    const dyn_rollout_output output = DYN_ROLLOUT_OUTPUT_INIT(.q = q, .kinetic = kinetic, .results = &result);
    require(dyn_rollout_run(s, 1, &rollout, &output, &error), &error);
    ck_assert_int_eq(result.status, DYN_SAMPLE_STATUS_RUNNING);
    ck_assert_msg(result.closure_error < 1e-8, "closure error %g", result.closure_error);
    ck_assert_msg(result.energy_drift < 1e-6, "energy drift %g", result.energy_drift);
    check_constraints(&l, q + (size_t)100 * NQ, &result.constraints);
    ck_assert_msg(fabs(q[100 * NQ]) > 10, "the crank turned by %g only", q[100 * NQ]);
    dyn_simulator_free(s);
    free_linkage(&l);
}
END_TEST

START_TEST(fixed_steps_agree_with_adaptive_ones) {
    linkage l = build(&usual);
    dyn_simulation_options options = DYN_SIMULATION_OPTIONS_INIT();
    options.integrator = DYN_INTEGRATOR_RUNGE_KUTTA_4;
    dyn_simulator *s = simulate(&l, &options);
    state x = upright(&usual, 2);
    const double time[2] = {0, 1};
    double q[2 * NQ], v[2 * NQ];
    dyn_adaptive_result result;
    dyn_error error;
    const dyn_adaptive_motion motion = DYN_ADAPTIVE_MOTION_INIT(.n = 2, .time = time, .q = x.q, .v = x.v);
    require(dyn_adaptive_run(s, &motion, q, v, NULL, 0, &result, &error), &error);
    ck_assert_int_eq(result.end, DYN_ADAPTIVE_END_DONE);
    ck_assert_msg(result.closure_error < 1e-11, "closure error %g", result.closure_error);
    check_constraints(&l, q + NQ, &result.constraints);
    go(s, 1000, &x);
    assert_norm_close("q", 0, x.q, q + NQ, NQ, 1e-8);
    assert_norm_close("v", 0, x.v, v + NQ, NQ, 1e-8);
    dyn_simulator_free(s);
    free_linkage(&l);
}
END_TEST

START_TEST(constraint_forces_do_no_work) {
    linkage l = build(&usual);
    dyn_simulator *s = simulate(&l, NULL);
    state x = upright(&usual, 2);
    for (int i = 0; i < 200; i++) {
        double a[NQ], forces[NQ], power = 0, size = 0;
        dyn_error error;
        go(s, 10, &x);
        require(dyn_constrained_forward_dynamics(l.model, l.workspace, 1, NULL, x.q, x.v, NULL, NULL, NULL, a, NULL,
                                                 NULL, &error),
                &error);
        /* Without other forces, M a + h are those of the constraints. */
        require(dyn_rnea(l.model, l.workspace, 1, NULL, x.q, x.v, a, NULL, forces, &error), &error);
        for (int k = 0; k < NQ; k++) {
            power += forces[k] * x.v[k];
            size += fabs(forces[k] * x.v[k]);
        }
        ck_assert_msg(size > 1e-3, "the forces are %g W only", size);
        ck_assert_msg(fabs(power) < 1e-11 * size, "step %d: %g W of %g W", i, power, size);
    }
    dyn_simulator_free(s);
    free_linkage(&l);
}
END_TEST

/* ---- Accelerations ----------------------------------------------------------------------------------------------- */

/* Requires v_next = v + dt a, where a are the constrained accelerations under the joint forces tau. */
static void check_acceleration(const linkage *l, const state *x, const state *next, const double *tau, double dt) {
    const dyn_constraint_options options = DYN_CONSTRAINT_OPTIONS_INIT(.stabilization = 20);
    double a[NQ], mean[NQ];
    dyn_error error;
    require(dyn_constrained_forward_dynamics(l->model, l->workspace, 1, NULL, x->q, x->v, tau, NULL, &options, a, NULL,
                                             NULL, &error),
            &error);
    for (int i = 0; i < NQ; i++) {
        mean[i] = (next->v[i] - x->v[i]) / dt;
    }
    ck_assert_msg(norm(a, NQ) > 1, "the acceleration is %g only", norm(a, NQ));
    assert_norm_close("a", 0, mean, a, NQ, 1e-9);
}

START_TEST(eulers_steps_use_the_constrained_acceleration) {
    const double dt = 1e-3;
    static const linkage_options linkages[] = {{.rocker = 0.8, .rise = 0.4, .loops = 1},
                                               {.rocker = 0.8, .rise = 0.4, .loops = 1, .damping = 30},
                                               {.rocker = 0.8, .rise = 0.4, .loops = 1, .rotor = 1e-3},
                                               {.rocker = 0.8, .rise = 0.4, .loops = 1, .damping = 30, .rotor = 1e-3}};
    for (size_t i = 0; i < sizeof linkages / sizeof *linkages; i++) {
        const double damping = linkages[i].damping;
        linkage l = build(&linkages[i]);
        dyn_simulation_options options = DYN_SIMULATION_OPTIONS_INIT();
        options.integrator = damping > 0 ? DYN_INTEGRATOR_SEMI_IMPLICIT_EULER : DYN_INTEGRATOR_EXPLICIT_EULER;
        options.step_length = dt;
        options.ignore_projection = true;
        dyn_simulator *s = simulate(&l, &options);
        state x = {{0.4, -0.3, 0.2}, {1, 0.5, -0.7}}, next = x;
        double tau[NQ];
        go(s, 1, &next);
        for (int k = 0; k < NQ; k++) {
            tau[k] = -damping * next.v[k];
        }
        check_acceleration(&l, &x, &next, tau, dt);
        dyn_simulator_free(s);
        free_linkage(&l);
    }
}
END_TEST

START_TEST(stabilization_closes_what_projection_does_not) {
    const double gains[2] = {0, 20};
    double errors[2];
    linkage l = build(&usual);
    for (int i = 0; i < 2; i++) {
        dyn_simulation_options options = DYN_SIMULATION_OPTIONS_INIT();
        options.integrator = DYN_INTEGRATOR_RUNGE_KUTTA_4;
        options.ignore_projection = true;
        options.constraint_stabilization = gains[i];
        dyn_simulator *s = simulate(&l, &options);
        state x = upright(&usual, 2);
        x.q[1] += 1e-3;
        errors[i] = go(s, 1000, &x).closure_error;
        dyn_simulator_free(s);
    }
    ck_assert_msg(errors[0] > 1e-4, "without stabilization the closure error is %g", errors[0]);
    ck_assert_msg(errors[1] < 1e-9, "with stabilization the closure error is %g", errors[1]);
    free_linkage(&l);
}
END_TEST

/* Six times the rows of a loop are more than the method of multipliers serves: constrained articulated bodies do. The
 * semi-implicit step adds damping to the mass matrix. */
START_TEST(a_loop_that_is_stated_several_times_moves_as_one_that_is_stated_once) {
    const int loops[] = {2, MOST_LOOPS};
    for (int i = 0; i < 4; i++) {
        linkage_options stated_once = usual, stated_often;
        stated_once.damping = i < 2 ? 0 : 0.3;
        stated_often = stated_once;
        stated_often.loops = loops[i % 2];
        linkage once = build(&stated_once), often = build(&stated_often);
        dyn_simulator *s = simulate(&once, NULL), *t = simulate(&often, NULL);
        state x = upright(&stated_once, 2), y = x;
        go(s, 500, &x);
        ck_assert_double_lt(go(t, 500, &y).closure_error, 1e-11);
        assert_norm_close("q", i, y.q, x.q, NQ, 1e-9);
        assert_norm_close("v", i, y.v, x.v, NQ, 1e-9);
        dyn_simulator_free(s), dyn_simulator_free(t);
        free_linkage(&once), free_linkage(&often);
    }
}
END_TEST

START_TEST(a_parallelogram_passes_its_dead_centres_closed) {
    const linkage_options parallelogram = {.rocker = 0.4, .rise = 0, .loops = 1};
    linkage l = build(&parallelogram);
    dyn_simulator *s = simulate(&l, NULL);
    state x = upright(&parallelogram, 6);
    for (int i = 0; i < 3000; i++) {
        dyn_sample_result result = go(s, 1, &x);
        ck_assert_int_eq(result.status, DYN_SAMPLE_STATUS_RUNNING);
        ck_assert_msg(result.closure_error < 1e-6, "step %d: closure error %g", i, result.closure_error);
    }
    ck_assert_msg(fabs(x.q[0]) > 3.2, "the crank turned by %g only", x.q[0]);
    dyn_simulator_free(s);
    free_linkage(&l);
}
END_TEST

/* Moves a linkage by all methods, and requires that it never diverges. Returns the largest closure error at the end. */
static double move_by_all_methods(const linkage *l, const state *start) {
    double most = 0;
    for (int i = 0; i < 6; i++) {
        dyn_simulation_options options = DYN_SIMULATION_OPTIONS_INIT();
        options.integrator = (dyn_integrator)(i % 3);
        options.ignore_projection = i >= 3;
        dyn_simulator *s = simulate(l, &options);
        state x = *start;
        for (int k = 0; k < 2000; k++) {
            dyn_sample_result result = go(s, 1, &x);
            ck_assert_msg(result.status == DYN_SAMPLE_STATUS_RUNNING, "method %d, step %d: status %d", i, k,
                          (int)result.status);
            ck_assert_msg(isfinite(result.closure_error), "method %d, step %d: the closure error is not finite", i, k);
            most = k == 1999 ? larger(most, result.closure_error) : most;
        }
        ck_assert(isfinite(energy(l, &x)));
        dyn_simulator_free(s);
    }
    return most;
}

START_TEST(constraints_that_contradict_each_other_never_give_nan) {
    linkage_options contradicting = usual;
    contradicting.loops = 2;
    contradicting.apart = 0.1;
    linkage l = build(&contradicting);
    state x = upright(&usual, 2);
    double most = move_by_all_methods(&l, &x);
    ck_assert_msg(most > 0.01, "the closure error is %g only", most);
    free_linkage(&l);
}
END_TEST

/* Computes the accelerations of a linkage by all methods, each alone and in a batch, and requires finite numbers. */
static void accelerate_by_all_methods(const linkage *l, const state *x) {
    enum { COPIES = 9 };
    double q[COPIES * NQ], v[COPIES * NQ], a[COPIES * NQ], lambda[COPIES * MOST_ROWS];
    const size_t m = (size_t)dyn_model_constraint_rows(l->model);
    dyn_constraint_result results[COPIES];
    dyn_error error;
    ck_assert_uint_le(m, MOST_ROWS);
    for (size_t i = 0; i < COPIES; i++) {
        memcpy(q + i * NQ, x->q, sizeof x->q);
        memcpy(v + i * NQ, x->v, sizeof x->v);
    }
    for (int method = 0; method <= DYN_CONSTRAINT_METHOD_EMBEDDING; method++) {
        for (size_t n = 1; n <= COPIES; n += COPIES - 1) {
            const dyn_constraint_options options =
                DYN_CONSTRAINT_OPTIONS_INIT(.method = (dyn_constraint_method)method, .stabilization = n > 1 ? 5 : 0);
            require(dyn_constrained_forward_dynamics(l->model, l->workspace, n, NULL, q, v, NULL, NULL, &options, a,
                                                     lambda, results, &error),
                    &error);
            for (size_t i = 0; i < n * NQ; i++) {
                ck_assert_msg(isfinite(a[i]), "method %d: a[%zu] is %g", method, i, a[i]);
            }
            for (size_t i = 0; i < n * m; i++) {
                ck_assert_msg(isfinite(lambda[i]), "method %d: lambda[%zu] is %g", method, i, lambda[i]);
            }
            for (size_t i = 0; i < n; i++) {
                ck_assert(isfinite(results[i].residual) && isfinite(results[i].condition) && results[i].rank >= 0);
            }
        }
    }
}

START_TEST(no_method_gives_nan_in_dead_centres_or_for_doubled_or_contradicting_loops) {
    for (int i = 0; i < 6; i++) {
        linkage_options o = i % 2 ? usual : (linkage_options){.rocker = 0.4, .rise = 0};
        o.loops = i < 2 ? 1 : 2;
        o.apart = i < 4 ? 0 : 0.1;
        linkage l = build(&o);
        state x = upright(&o, 6);
        accelerate_by_all_methods(&l, &x);
        /* The bars of the parallelogram lie in a line. */
        x.q[0] = M_PI / 2, x.q[1] = -M_PI / 2, x.q[2] = M_PI / 2;
        accelerate_by_all_methods(&l, &x);
        free_linkage(&l);
    }
}
END_TEST

/* Computes the acceleration of a parallelogram, whose loop is stated twice and whose bars lie in a line, by a method
 * with a tolerance. There the loop cannot be kept unless crank and rocker turn at the same speed. */
static dyn_status accelerate_in_dead_centre(const double v[NQ], dyn_constraint_method method, double tolerance,
                                            dyn_error *error) {
    const linkage_options parallelogram = {.rocker = 0.4, .rise = 0, .loops = 2};
    const double q[NQ] = {M_PI / 2, -M_PI / 2, M_PI / 2};
    const dyn_constraint_options options = DYN_CONSTRAINT_OPTIONS_INIT(.method = method, .tolerance = tolerance);
    linkage l = build(&parallelogram);
    double a[NQ];
    dyn_status status = dyn_constrained_forward_dynamics(l.model, l.workspace, 1, NULL, q, v, NULL, NULL, &options, a,
                                                         NULL, NULL, error);
    free_linkage(&l);
    return status;
}

START_TEST(constraints_that_contradict_each_other_are_an_error_and_doubled_ones_are_none) {
    const double together[NQ] = {6, -6, 6}, apart[NQ] = {6, -6, 0};
    for (int k = 0; k <= DYN_CONSTRAINT_METHOD_EMBEDDING; k++) {
        const dyn_constraint_method method = (dyn_constraint_method)k;
        dyn_error error;
        require(accelerate_in_dead_centre(together, method, 1e-6, &error), &error);
        require(accelerate_in_dead_centre(apart, method, 0, &error), &error);
        require(accelerate_in_dead_centre(apart, method, 1, &error), &error);
        ck_assert_int_eq(accelerate_in_dead_centre(apart, method, 0.01, &error), DYN_FAILED_PRECONDITION);
        ck_assert_msg(strstr(error.message, "loop contradicts other constraints") != NULL, "%s", error.message);
        ck_assert_msg(strstr(error.message, "along \"linear x\" is off by") != NULL, "%s", error.message);
        ck_assert(error.site.has_sample && error.site.sample == 0);
    }
}
END_TEST

START_TEST(a_parallelogram_that_starts_in_its_dead_centre_never_gives_nan) {
    const linkage_options parallelogram = {.rocker = 0.4, .rise = 0, .loops = 2};
    linkage l = build(&parallelogram);
    for (int i = 0; i < 2; i++) {
        state x = {{M_PI / 2, -M_PI / 2, M_PI / 2}, {2 * i, -2 * i, 2 * i}};
        double most = move_by_all_methods(&l, &x);
        ck_assert_msg(most < 1e-3, "the closure error is %g", most);
    }
    free_linkage(&l);
}
END_TEST

/* Computes accelerations and multipliers at a state, one after the other in `values`. */
static void find_motion(const linkage *l, const state *x, const double *tau, double *values) {
    dyn_error error;
    require(dyn_constrained_forward_dynamics(l->model, l->workspace, 1, NULL, x->q, x->v, tau, NULL, NULL, values,
                                             values + NQ, NULL, &error),
            &error);
}

/* Compares the derivatives at a state with differences of order four. */
static void check_derivatives(const linkage *l, const state *x) {
    const double t = 1e-3;
    double tau[NQ] = {3, -1, 2}, da[3][NQ * NQ], dlambda[3][MOST_ROWS * NQ];
    const dyn_constrained_derivatives to = {da[0], da[1], da[2], dlambda[0], dlambda[1], dlambda[2]};
    dyn_error error;
    require(dyn_constrained_forward_dynamics_derivatives(l->model, l->workspace, 1, NULL, x->q, x->v, tau, NULL, NULL,
                                                         &to, &error),
            &error);
    for (int k = 0; k < 3 * NQ; k++) {
        double values[4][NQ + MOST_ROWS], rate[NQ + MOST_ROWS], column[NQ + MOST_ROWS];
        size_t argument = (size_t)k / NQ, of = (size_t)k % NQ;
        for (int i = 0; i < 4; i++) {
            state moved = *x;
            double *arguments[] = {moved.q, moved.v, tau}, before = arguments[argument][of];
            arguments[argument][of] += t * (i < 2 ? i - 2 : i - 1);
            find_motion(l, &moved, tau, values[i]);
            arguments[argument][of] = before;
        }
        for (size_t i = 0; i < NQ + l->m; i++) {
            rate[i] = (values[0][i] - 8 * values[1][i] + 8 * values[2][i] - values[3][i]) / (12 * t);
            column[i] = i < NQ ? da[argument][i * NQ + of] : dlambda[argument][(i - NQ) * NQ + of];
        }
        assert_norm_close("derivatives", k, column, rate, NQ + l->m, 1e-8);
    }
}

START_TEST(multipliers_of_dependent_rows_have_derivatives) {
    linkage_options doubled = usual, held = usual;
    doubled.loops = 2;
    doubled.rotor = 1e-3;
    held.loops = 0, held.is_held = true;
    linkage twice = build(&doubled), motor = build(&held);
    state x = upright(&doubled, 2);
    dyn_simulator *s = simulate(&twice, NULL);
    go(s, 200, &x);
    check_derivatives(&twice, &x);
    check_derivatives(&motor, &(state){{0, 0.3, -0.2}, {0, 1, 2}});
    dyn_simulator_free(s);
    free_linkage(&twice), free_linkage(&motor);
}
END_TEST

START_TEST(derivatives_of_a_sample_do_not_depend_on_the_others) {
    linkage l = build(&usual);
    const state x = upright(&usual, 2), y = upright(&usual, -1);
    double q[2 * NQ], v[2 * NQ], tau[2 * NQ] = {1, 2, 3, 4, 5, 6}, both[2 * NQ * NQ], one[NQ * NQ];
    dyn_error error;
    memcpy(q, x.q, sizeof x.q), memcpy(q + NQ, y.q, sizeof y.q);
    memcpy(v, x.v, sizeof x.v), memcpy(v + NQ, y.v, sizeof y.v);
    const dyn_constrained_derivatives to_both = {.da_dq = both}, to_one = {.da_dq = one};
    require(dyn_constrained_forward_dynamics_derivatives(l.model, l.workspace, 2, NULL, q, v, tau, NULL, NULL, &to_both,
                                                         &error),
            &error);
    for (size_t s = 0; s < 2; s++) {
        require(dyn_constrained_forward_dynamics_derivatives(l.model, l.workspace, 1, NULL, q + s * NQ, v + s * NQ,
                                                             tau + s * NQ, NULL, NULL, &to_one, &error),
                &error);
        ck_assert_mem_eq(one, both + s * NQ * NQ, sizeof one);
    }
    free_linkage(&l);
}
END_TEST

START_TEST(a_dead_centre_has_no_derivatives) {
    const linkage_options parallelogram = {.rocker = 0.4, .rise = 0, .loops = 1};
    linkage l = build(&parallelogram);
    const double q[NQ] = {M_PI / 2, -M_PI / 2, M_PI / 2}, v[NQ] = {1, -1, 1};
    double da[NQ * NQ];
    dyn_error error;
    dyn_status status = dyn_constrained_forward_dynamics_derivatives(
        l.model, l.workspace, 1, NULL, q, v, NULL, NULL, NULL, &(dyn_constrained_derivatives){.da_dq = da}, &error);
    ck_assert_int_eq(status, DYN_FAILED_PRECONDITION);
    ck_assert_msg(strstr(error.message, "have no derivative"), "%s", error.message);
    free_linkage(&l);
}
END_TEST

/* ---- Stops ------------------------------------------------------------------------------------------------------- */

static linkage_options stopped(void) {
    linkage_options options = usual;
    options.limit = 0.5;
    return options;
}

START_TEST(an_impact_on_a_stop_leaves_the_loop_closed) {
    const linkage_options o = stopped();
    for (int restitution = 0; restitution < 2; restitution++) {
        linkage l = build(&o);
        dyn_simulation_options options = DYN_SIMULATION_OPTIONS_INIT();
        options.integrator = DYN_INTEGRATOR_RUNGE_KUTTA_4;
        options.step_length = 1e-4;
        options.restitution = restitution;
        options.ignore_projection = true;
        dyn_simulator *s = simulate(&l, &options);
        state x = upright(&o, 2);
        double before = energy(&l, &x);
        dyn_sample_result result = {0};
        for (int i = 0; i < 10000 && !result.hit_joint; i++) {
            result = go(s, 1, &x);
        }
        ck_assert_int_eq(result.hit_joint, 1);
        ck_assert_double_gt(result.hit_velocity, 1);
        ck_assert_double_eq(x.v[0], -restitution * result.hit_velocity);
        ck_assert_msg(opening_speed(&l, &x) < 1e-4, "the loop opens at %g", opening_speed(&l, &x));
        double loss = before - energy(&l, &x);
        ck_assert_msg(restitution ? fabs(loss) < 1e-2 : loss > 0.1, "the impact takes %g J", loss);
        dyn_simulator_free(s);
        free_linkage(&l);
    }
}
END_TEST

START_TEST(a_linkage_at_its_stop_comes_to_rest_closed_and_within_the_limit) {
    const linkage_options o = stopped();
    linkage l = build(&o);
    dyn_simulator *s = simulate(&l, NULL);
    state x = upright(&o, 2);
    for (int i = 0; i < 3000; i++) {
        dyn_sample_result result = go(s, 1, &x);
        ck_assert_int_eq(result.status, DYN_SAMPLE_STATUS_RUNNING);
        ck_assert_msg(result.closure_error < 1e-11, "step %d: closure error %g", i, result.closure_error);
        ck_assert_double_le(fabs(x.q[0]), o.limit);
    }
    ck_assert_double_eq(x.q[0], o.limit);
    ck_assert_msg(norm(x.v, NQ) < 1e-9, "it moves at %g", norm(x.v, NQ));
    dyn_simulator_free(s);
    free_linkage(&l);
}
END_TEST

/* ---- Samples and options ----------------------------------------------------------------------------------------- */

START_TEST(samples_of_a_batch_have_the_bits_of_single_steps) {
    linkage_options o = stopped();
    o.loops = _i == 0 ? 1 : MOST_LOOPS;
    linkage l = build(&o);
    dyn_simulator *s = simulate(&l, NULL);
    double q[SAMPLES * NQ], v[SAMPLES * NQ];
    state alone[SAMPLES];
    dyn_sample_result results[SAMPLES] = {{0}};
    dyn_error error;
    for (int i = 0; i < SAMPLES; i++) {
        alone[i] = upright(&o, i - 6);
        memcpy(q + (size_t)i * NQ, alone[i].q, sizeof alone[i].q);
        memcpy(v + (size_t)i * NQ, alone[i].v, sizeof alone[i].v);
        go(s, 400, &alone[i]);
    }
    for (int i = 0; i < 400; i++) {
        require(dyn_simulator_step(s, SAMPLES, NULL, q, v, NULL, results, &error), &error);
    }
    for (size_t i = 0; i < SAMPLES; i++) {
        ck_assert_mem_eq(q + i * NQ, alone[i].q, sizeof alone[i].q);
        ck_assert_mem_eq(v + i * NQ, alone[i].v, sizeof alone[i].v);
    }
    dyn_simulator_free(s);
    free_linkage(&l);
}
END_TEST

START_TEST(a_wrong_stabilization_is_refused_by_name) {
    const double gains[] = {-1, NAN, INFINITY};
    linkage l = build(&usual);
    for (size_t i = 0; i < sizeof gains / sizeof *gains; i++) {
        dyn_simulation_options options = DYN_SIMULATION_OPTIONS_INIT();
        options.constraint_stabilization = gains[i];
        dyn_simulator *s;
        dyn_error error;
        ck_assert_int_eq(dyn_simulator_create(l.model, &options, &s, &error), DYN_INVALID_ARGUMENT);
        ck_assert_str_eq(error.place, "constraint_stabilization");
    }
    free_linkage(&l);
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("closed_loop_motion");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, a_hundred_seconds_of_a_linkage_stay_closed_and_keep_their_energy);
    tcase_add_test(tests, constraint_forces_do_no_work);
    tcase_add_test(tests, constraints_that_contradict_each_other_never_give_nan);
    tcase_add_test(tests, constraints_that_contradict_each_other_are_an_error_and_doubled_ones_are_none);
    tcase_add_test(tests, no_method_gives_nan_in_dead_centres_or_for_doubled_or_contradicting_loops);
    tcase_add_test(tests, a_parallelogram_that_starts_in_its_dead_centre_never_gives_nan);
    tcase_add_test(tests, fixed_steps_agree_with_adaptive_ones);
    tcase_add_test(tests, eulers_steps_use_the_constrained_acceleration);
    tcase_add_test(tests, stabilization_closes_what_projection_does_not);
    tcase_add_test(tests, a_loop_that_is_stated_several_times_moves_as_one_that_is_stated_once);
    tcase_add_test(tests, a_parallelogram_passes_its_dead_centres_closed);
    tcase_add_test(tests, multipliers_of_dependent_rows_have_derivatives);
    tcase_add_test(tests, derivatives_of_a_sample_do_not_depend_on_the_others);
    tcase_add_test(tests, a_dead_centre_has_no_derivatives);
    tcase_add_test(tests, an_impact_on_a_stop_leaves_the_loop_closed);
    tcase_add_test(tests, a_linkage_at_its_stop_comes_to_rest_closed_and_within_the_limit);
    tcase_add_loop_test(tests, samples_of_a_batch_have_the_bits_of_single_steps, 0, 2);
    tcase_add_test(tests, a_wrong_stabilization_is_refused_by_name);
    return run_properties("closed_loop_motion", tests);
}
