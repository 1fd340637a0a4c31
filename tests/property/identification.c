/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks identification with motions of random trees whose parameters are known.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dynamics/dynamics.h>

#include "support/assertions.h"
#include "support/random_tree.h"

enum { LINK = 10 };

static const double PI = 3.14159265358979323846, FRICTION_VELOCITY = 0.01, STRIBECK_VELOCITY = 0.5;

/* A robot, the same robot as its description has it, and a motion of it. */
typedef struct experiment {
    dyn_model *robot, *described;
    size_t n, nq, nv;
    double *q, *v, *a, *tau, *time;
    double *drives; /* nv x DYN_DRIVE_TERMS */
} experiment;

static void experiment_free(experiment *e) {
    dyn_model_free(e->robot), dyn_model_free(e->described);
    free(e->q), free(e->v), free(e->a), free(e->tau), free(e->time), free(e->drives);
}

/* Returns a number of the normal distribution (Box and Muller). */
static double random_normal(random_source *random) {
    double size = sqrt(-2 * log(1 - random_uniform(random, 0, 1)));
    return size * cos(2 * PI * random_uniform(random, 0, 1));
}

/* Returns the model with other inertias: masses between half and twice those of the model, and other shapes. */
static dyn_model *describe_wrongly(random_source *random, const dyn_model *model) {
    size_t width = (size_t)dyn_model_parameter_count(model);
    double *p = numbers(width);
    dyn_model *wrong = NULL;
    dyn_error error;
    dyn_model_parameters(model, p);
    for (size_t k = 0; k < width; k += LINK) {
        double scale = exp2(random_uniform(random, -1, 1)), size[3];
        dyn_inertia box;
        for (int i = 0; i < 3; i++) {
            size[i] = random_uniform(random, 0.05, 0.3);
        }
        require(dyn_inertia_box(p[k] * scale, size, &box, &error), &error);
        random_vector(random, 3, 0.1, box.center_of_mass);
        dyn_inertia_to_parameters(&box, p + k);
    }
    require(dyn_model_with_parameters(model, p, NULL, &wrong, &error), &error);
    free(p);
    return wrong;
}

/* Adds friction, offsets and rotors of the drives to the torques. */
static void add_drives(experiment *e) {
    for (size_t i = 0; i < e->n * e->nv; i++) {
        const double *d = e->drives + i % e->nv * DYN_DRIVE_TERMS;
        double v = e->v[i], direction = v / sqrt(v * v + FRICTION_VELOCITY * FRICTION_VELOCITY);
        double stribeck = direction / (1 + v * v / (STRIBECK_VELOCITY * STRIBECK_VELOCITY));
        double load = direction * fabs(e->tau[i]);
        e->tau[i] += d[0] * v + d[1] * direction + d[2] + d[3] * e->a[i] + d[4] * stribeck + d[5] * load;
    }
}

/* Computes the torques of the robot and its drives. */
static void compute_torques(experiment *e) {
    dyn_workspace *w = NULL;
    dyn_error error;
    require(dyn_workspace_create(e->robot, &w, &error), &error);
    require(dyn_rnea(e->robot, w, e->n, NULL, e->q, e->v, e->a, NULL, e->tau, &error), &error);
    add_drives(e);
    dyn_workspace_free(w);
}

/* Allocates an experiment of n samples with a robot, which it owns. */
static experiment prepare(random_source *random, dyn_model *robot, size_t n) {
    experiment e = {.robot = robot, .described = describe_wrongly(random, robot), .n = n};
    e.nq = (size_t)dyn_model_nq(robot), e.nv = (size_t)dyn_model_nv(robot);
    e.q = numbers(n * e.nq), e.v = numbers(n * e.nv), e.a = numbers(n * e.nv), e.tau = numbers(n * e.nv);
    e.time = numbers(n), e.drives = numbers(e.nv * DYN_DRIVE_TERMS);
    return e;
}

/* Makes an experiment at random states, with or without terms of drives. */
static experiment random_experiment(random_source *random, int joints, size_t n, bool with_drives) {
    random_tree_options options = {.joints = joints, .with_fixed = true, .with_mimic = joints % 3 == 0};
    dyn_model *robot = random_tree(random, &options);
    while (dyn_model_nv(robot) == 0) {
        dyn_model_free(robot);
        robot = random_tree(random, &options);
    }
    experiment e = prepare(random, robot, n);
    for (size_t s = 0; s < n; s++) {
        random_configuration(random, e.robot, 2, e.q + s * e.nq);
        e.time[s] = 0.01 * (double)s;
    }
    random_vector(random, (int)(n * e.nv), 2, e.v);
    random_vector(random, (int)(n * e.nv), 5, e.a);
    for (int j = 0; j < dyn_model_joint_count(e.robot) && with_drives; j++) {
        const dyn_joint *joint = dyn_model_joint(e.robot, j);
        for (int t = 0; t < DYN_DRIVE_TERM_INERTIA && joint->nv == 1; t++) {
            e.drives[joint->v_index * DYN_DRIVE_TERMS + t] = random_uniform(random, 0.1, 1);
        }
    }
    compute_torques(&e);
    return e;
}

static dyn_recorded_motion motion_of(const experiment *e) {
    return (dyn_recorded_motion){.n = e->n, .time = e->time, .q = e->q, .v = e->v, .a = e->a, .tau = e->tau};
}

/* Identifies a motion of the experiment from its wrong description. The caller frees the result. */
static dyn_identification *identify_motion(const experiment *e, const dyn_recorded_motion *motion,
                                           dyn_identification_options options) {
    dyn_identification *result = NULL;
    dyn_error error;
    require(dyn_identify(e->described, motion, &options, &result, &error), &error);
    return result;
}

/* Identifies the motion of the experiment. The caller frees the result. */
static dyn_identification *identify(const experiment *e, dyn_identification_options options) {
    const dyn_recorded_motion motion = motion_of(e);
    return identify_motion(e, &motion, options);
}

/* Computes the true value of each linear estimate. */
static double *true_values(const experiment *e, const dyn_identification *result) {
    dyn_base_parameters *grouping = NULL;
    dyn_error error;
    double *p = numbers((size_t)dyn_model_parameter_count(e->robot)), *truth = numbers(result->estimate_count);
    require(dyn_base_parameters_create(e->robot, NULL, &grouping, &error), &error);
    dyn_model_parameters(e->robot, p);
    require(dyn_base_parameters_reduce(grouping, p, truth, &error), &error);
    for (size_t i = (size_t)dyn_base_parameters_count(grouping); i < result->estimate_count; i++) {
        const dyn_linear_estimate *estimate = &result->estimates[i];
        ck_assert_int_eq(estimate->column, -1);
        truth[i] = e->drives[(size_t)estimate->coordinate * DYN_DRIVE_TERMS + estimate->term];
    }
    dyn_base_parameters_free(grouping);
    free(p);
    return truth;
}

/* ---- Linear estimates -------------------------------------------------------------------------------------------- */

START_TEST(without_noise_the_base_parameters_return) {
    random_source base = random_seed("identification without noise", 20261301);
    for (int k = 0; k < 24; k++) {
        random_source random = random_case(base, (uint64_t)k);
        bool with_drives = k / 4 % 2;
        experiment e = random_experiment(&random, 1 + k % 7, 400, with_drives);
        dyn_estimator estimator = (dyn_estimator)(k % 4);
        dyn_identification_options options = DYN_IDENTIFICATION_OPTIONS_INIT();
        options.estimator = estimator, options.folds = k % 3 ? 4 : 0;
        for (int t = 0; t < DYN_DRIVE_TERMS && !with_drives; t++) {
            options.drive_terms[t] = false;
        }
        dyn_identification *found = identify(&e, options);
        double *truth = true_values(&e, found);
        size_t excited = 0;
        for (size_t i = 0; i < found->estimate_count; i++) {
            const dyn_linear_estimate *estimate = &found->estimates[i];
            /* The offset of a drive whose weight is constant cannot be told from that weight. */
            excited += estimate->is_excited;
            ck_assert_msg(!estimate->is_excited || fabs(estimate->value - truth[i]) <= 1e-8 * fmax(1, fabs(truth[i])),
                          "case %d: estimate %zu is %.12g, not %.12g", k, i, estimate->value, truth[i]);
        }
        ck_assert_msg(with_drives || excited == found->estimate_count, "case %d: %zu of %zu excited", k, excited,
                      found->estimate_count);
        for (size_t j = 0; j < found->coordinate_count; j++) {
            ck_assert_double_lt(found->fits[j].prediction, 1e-7 * fmax(1, found->fits[j].highest));
        }
        free(truth);
        dyn_identification_free(found);
        experiment_free(&e);
    }
}
END_TEST

/* Estimates counted over experiments: all that are excited, and those within 1.96 deviations of the truth. */
typedef struct tally {
    size_t count, within;
} tally;

/* Adds noise to the torques, of one variance for all joints where the estimator assumes that, and counts estimates. */
static void count_noisy(random_source *random, experiment *e, dyn_estimator estimator, tally *t) {
    for (size_t i = 0; i < e->n * e->nv; i++) {
        bool is_one = estimator == DYN_ESTIMATOR_ORDINARY || estimator == DYN_ESTIMATOR_TOTAL;
        double size = is_one ? 0.5 : 0.2 * (double)(1 + i % e->nv);
        e->tau[i] += size * random_normal(random);
    }
    dyn_identification_options options = DYN_IDENTIFICATION_OPTIONS_INIT();
    options.estimator = estimator, options.folds = 0;
    dyn_identification *found = identify(e, options);
    double *truth = true_values(e, found);
    for (size_t i = 0; i < found->estimate_count; i++) {
        const dyn_linear_estimate *estimate = &found->estimates[i];
        if (estimate->is_excited) {
            t->within += fabs(estimate->value - truth[i]) <= 1.959964 * estimate->deviation;
            t->count++;
        }
    }
    free(truth);
    dyn_identification_free(found);
}

/* Checks that a share between two numbers of the estimates lies within 1.96 deviations. */
static void assert_share_between(const char *motions, dyn_estimator estimator, const tally *t, double least,
                                 double most) {
    double share = (double)t->within / (double)t->count;
    printf("%s, estimator %d: %.4f of %zu estimates within 1.96 deviations\n", motions, (int)estimator, share,
           t->count);
    ck_assert_msg(share > least && share < most, "%s, estimator %d: %g of %zu estimates", motions, (int)estimator,
                  share, t->count);
}

/* Checks that 95 % of the estimates lie within 1.96 deviations. */
static void assert_share(const char *motions, dyn_estimator estimator, const tally *t) {
    assert_share_between(motions, estimator, t, 0.93, 0.97);
}

static const dyn_estimator noisy_estimators[] = {DYN_ESTIMATOR_ORDINARY, DYN_ESTIMATOR_WEIGHTED, DYN_ESTIMATOR_HUBER,
                                                 DYN_ESTIMATOR_TOTAL};

START_TEST(estimates_lie_within_their_stated_deviations) {
    random_source base = random_seed("standard deviations of identification", 20261302);
    for (size_t kind = 0; kind < sizeof noisy_estimators / sizeof noisy_estimators[0]; kind++) {
        tally t = {0};
        for (int k = 0; k < 200; k++) {
            random_source random = random_case(base, (uint64_t)k);
            experiment e = random_experiment(&random, 1 + k % 5, 300, true);
            count_noisy(&random, &e, noisy_estimators[kind], &t);
            experiment_free(&e);
        }
        assert_share("random states", noisy_estimators[kind], &t);
    }
}
END_TEST

/* Reference of a controller: acceleration and velocity of each coordinate at a time. */
static void reference_at(const experiment *e, const double *phase, double t, double *v, double *a) {
    for (size_t k = 0; k < e->nv; k++) {
        double w = 2 + 1.3 * phase[k], u = 5.1 - phase[k];
        v[k] = sin(w * t + phase[k]) + 0.6 * cos(u * t);
        a[k] = w * cos(w * t + phase[k]) - 0.6 * u * sin(u * t);
    }
}

/* State of a simulated motion, and the torques that a controller holds. */
typedef struct motion_state {
    dyn_workspace *workspace;
    double *q, *v, *a, *tau;
    double *phase, *v_reference, *a_reference;
} motion_state;

/* Computes torques that lead to the reference, by inverse dynamics. */
static void control(const experiment *e, double t, motion_state *m) {
    dyn_error error;
    reference_at(e, m->phase, t, m->v_reference, m->a_reference);
    for (size_t k = 0; k < e->nv; k++) {
        m->a_reference[k] += 4 * (m->v_reference[k] - m->v[k]);
    }
    require(dyn_rnea(e->robot, m->workspace, 1, NULL, m->q, m->v, m->a_reference, NULL, m->tau, &error), &error);
}

static void record_row(experiment *e, size_t row, double t, const motion_state *m) {
    e->time[row] = t;
    memcpy(e->q + row * e->nq, m->q, e->nq * sizeof *m->q);
    memcpy(e->v + row * e->nv, m->v, e->nv * sizeof *m->v);
    memcpy(e->a + row * e->nv, m->a, e->nv * sizeof *m->a);
    memcpy(e->tau + row * e->nv, m->tau, e->nv * sizeof *m->tau);
}

/* Replaces states, accelerations and torques by a motion of the robot that starts at the first configuration. The
 * motion is that of forward dynamics, by symplectic Euler steps of 2 ms, under torques that a controller holds for 20
 * ms. A row is in the middle of that time, when the acceleration is no longer the one that the controller wanted. */
static void simulate(random_source *random, experiment *e) {
    enum { STEPS = 10 };
    const double step = 0.002;
    size_t nv = e->nv;
    dyn_error error;
    motion_state m = {.q = numbers(e->nq), .v = numbers(nv), .a = numbers(nv), .tau = numbers(nv)};
    m.phase = numbers(nv), m.v_reference = numbers(nv), m.a_reference = numbers(nv);
    require(dyn_workspace_create(e->robot, &m.workspace, &error), &error);
    for (size_t k = 0; k < nv; k++) {
        m.phase[k] = random_uniform(random, 0, 3);
    }
    memcpy(m.q, e->q, e->nq * sizeof *m.q);
    reference_at(e, m.phase, 0, m.v, m.a);
    for (size_t s = 0; s < e->n * STEPS; s++) {
        if (s % STEPS == 0) {
            control(e, step * (double)s, &m);
        }
        require(dyn_aba(e->robot, m.workspace, 1, NULL, m.q, m.v, m.tau, NULL, m.a, &error), &error);
        if (s % STEPS == STEPS / 2) {
            record_row(e, s / STEPS, step * (double)s, &m);
        }
        for (size_t k = 0; k < nv; k++) {
            m.v[k] += step * m.a[k];
            ck_assert_double_lt(fabs(m.v[k]), 100);
        }
        require(dyn_integrate(e->robot, 1, m.q, m.v, step, m.q, &error), &error);
    }
    free(m.q), free(m.v), free(m.a), free(m.tau), free(m.phase), free(m.v_reference), free(m.a_reference);
    dyn_workspace_free(m.workspace);
}

/* Checks the deviations with records of motions that forward dynamics makes: torques go in, a motion comes out. The
 * torques of the record also overcome friction and offsets of the drives. */
START_TEST(estimates_from_simulated_motions_lie_within_their_deviations) {
    random_source base = random_seed("deviations of estimates from simulated motions", 20261318);
    for (size_t kind = 0; kind < sizeof noisy_estimators / sizeof noisy_estimators[0]; kind++) {
        tally t = {0};
        for (int k = 0; k < 40; k++) {
            random_source random = random_case(base, (uint64_t)k);
            experiment e = random_experiment(&random, 1 + k % 5, 300, true);
            simulate(&random, &e);
            add_drives(&e);
            count_noisy(&random, &e, noisy_estimators[kind], &t);
            experiment_free(&e);
        }
        assert_share("simulated motions", noisy_estimators[kind], &t);
    }
}
END_TEST

/* Squares of errors of estimates, in deviations of the ordinary estimates from the same motion without noise of rates,
 * and the estimates within 1.96 of their own deviations. */
typedef struct rate_tally {
    double square;
    tally t;
} rate_tally;

/* Adds the errors of one estimator, in units of the deviations of `clean`. */
static void count_errors(const experiment *e, dyn_estimator estimator, const dyn_identification *clean,
                         rate_tally *sum) {
    dyn_identification_options options = DYN_IDENTIFICATION_OPTIONS_INIT();
    options.estimator = estimator, options.folds = 0;
    dyn_identification *found = identify(e, options);
    double *truth = true_values(e, found);
    for (size_t i = 0; i < found->estimate_count; i++) {
        const dyn_linear_estimate *estimate = &found->estimates[i];
        if (estimate->is_excited && clean->estimates[i].deviation > 0) {
            double error = (estimate->value - truth[i]) / clean->estimates[i].deviation;
            sum->square += error * error;
            sum->t.within += fabs(estimate->value - truth[i]) <= 1.959964 * estimate->deviation;
            sum->t.count++;
        }
    }
    free(truth);
    dyn_identification_free(found);
}

/* Makes an experiment of 10 s in which every coordinate is a sum of three sines, for a tree without quaternions. */
static experiment sine_experiment(random_source *random, int joints, size_t n) {
    experiment e = random_experiment(random, joints, n, true);
    while (e.nq != e.nv) {
        experiment_free(&e);
        e = random_experiment(random, joints, n, true);
    }
    memset(e.q, 0, n * e.nq * sizeof *e.q), memset(e.v, 0, n * e.nv * sizeof *e.v);
    memset(e.a, 0, n * e.nv * sizeof *e.a);
    for (size_t i = 0; i < 3 * e.nv; i++) {
        double w = random_uniform(random, 1, 5), phase = random_uniform(random, 0, 6), size = 1 / w;
        for (size_t s = 0; s < n; s++) {
            double angle = w * (e.time[s] = 10 * (double)s / (double)n) + phase;
            size_t at = s * e.nv + i / 3;
            e.q[at] += size * sin(angle), e.v[at] += w * size * cos(angle), e.a[at] -= w * w * size * sin(angle);
        }
    }
    compute_torques(&e);
    return e;
}

/* Adds noise to the torques and, times `rates`, to the rates of motions. Counts the errors of both. */
static void compare_estimators(double rates, rate_tally *ordinary, rate_tally *total) {
    random_source base = random_seed("noisy rates in identification", 20261327);
    for (int k = 0; k < 40; k++) {
        random_source random = random_case(base, (uint64_t)k);
        experiment e = sine_experiment(&random, 1 + k % 6, 1000);
        for (size_t i = 0; i < e.n * e.nv; i++) {
            e.tau[i] += 0.1 * random_normal(&random);
        }
        dyn_identification_options options = DYN_IDENTIFICATION_OPTIONS_INIT();
        options.folds = 0;
        dyn_identification *clean = identify(&e, options);
        for (size_t i = 0; i < e.n * e.nv; i++) {
            e.v[i] += 0.05 * rates * random_normal(&random), e.a[i] += 0.3 * rates * random_normal(&random);
        }
        count_errors(&e, DYN_ESTIMATOR_ORDINARY, clean, ordinary);
        count_errors(&e, DYN_ESTIMATOR_TOTAL, clean, total);
        dyn_identification_free(clean);
        experiment_free(&e);
    }
}

START_TEST(total_least_squares_corrects_errors_of_rates) {
    /* Factors of the noise of the rates, and greatest errors relative to ordinary least squares. */
    static const double rates[] = {0, 0.1, 1}, most[] = {1.05, 1, 0.7};
    for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++) {
        rate_tally ordinary = {0}, total = {0};
        compare_estimators(rates[i], &ordinary, &total);
        double ratio = sqrt(total.square / ordinary.square);
        printf("noise of rates times %g: errors are %.3f of those of ordinary least squares\n", rates[i], ratio);
        ck_assert_msg(ratio <= most[i], "noise of rates times %g: errors grow by %g", rates[i], ratio);
        assert_share("noisy rates", DYN_ESTIMATOR_TOTAL, &total.t);
    }
}
END_TEST

/* Counts the errors of estimates from filtered positions with noise, without rates. */
static void count_filtered(const experiment *e, dyn_estimator estimator, const dyn_identification *clean,
                           rate_tally *sum) {
    dyn_recorded_motion motion = {.n = e->n, .time = e->time, .q = e->q, .tau = e->tau};
    dyn_identification_options options = DYN_IDENTIFICATION_OPTIONS_INIT();
    options.estimator = estimator, options.folds = 0, options.cutoff = 8;
    dyn_identification *found = identify_motion(e, &motion, options);
    double *truth = true_values(e, found);
    for (size_t i = 0; i < found->estimate_count; i++) {
        const dyn_linear_estimate *estimate = &found->estimates[i];
        if (estimate->is_excited && clean->estimates[i].deviation > 0) {
            double error = (estimate->value - truth[i]) / clean->estimates[i].deviation;
            sum->square += error * error;
            sum->t.within += fabs(estimate->value - truth[i]) <= 1.959964 * estimate->deviation;
            sum->t.count++;
        }
    }
    free(truth);
    dyn_identification_free(found);
}

START_TEST(total_least_squares_corrects_errors_of_positions) {
    random_source base = random_seed("noisy positions in identification", 20261341);
    rate_tally ordinary = {0}, total = {0};
    dyn_error error;
    for (int k = 0; k < 40; k++) {
        random_source random = random_case(base, (uint64_t)k);
        experiment e = sine_experiment(&random, 1 + k % 4, 1000);
        /* Rates of planar joints are not derivatives of their positions. */
        require(dyn_derive_rates(e.robot, e.n, e.time, e.q, DYN_RATES_QUINTIC, e.v, e.a, &error), &error);
        compute_torques(&e);
        for (size_t i = 0; i < e.n * e.nv; i++) {
            e.tau[i] += 0.1 * random_normal(&random);
        }
        dyn_identification *clean = identify(&e, (dyn_identification_options)DYN_IDENTIFICATION_OPTIONS_INIT());
        for (size_t i = 0; i < e.n * e.nv; i++) {
            e.q[i] += 2e-3 * random_normal(&random);
        }
        count_filtered(&e, DYN_ESTIMATOR_ORDINARY, clean, &ordinary);
        count_filtered(&e, DYN_ESTIMATOR_TOTAL, clean, &total);
        dyn_identification_free(clean);
        experiment_free(&e);
    }
    double ratio = sqrt(total.square / ordinary.square);
    printf("noise of positions: errors are %.3f of those of ordinary least squares\n", ratio);
    ck_assert_msg(ratio <= 0.7, "errors are %g of those of ordinary least squares", ratio);
    /* Shares of a window overstate the deviations that errors of accelerations cause. */
    assert_share_between("noisy positions", DYN_ESTIMATOR_TOTAL, &total.t, 0.94, 0.985);
}
END_TEST

/* Returns the norm of the errors of the linear estimates, in standard deviations of an experiment without outliers. */
static double error_of(const experiment *e, dyn_estimator estimator, const dyn_identification *clean) {
    dyn_identification_options options = DYN_IDENTIFICATION_OPTIONS_INIT();
    options.estimator = estimator, options.folds = 0;
    dyn_identification *found = identify(e, options);
    double *truth = true_values(e, found), sum = 0;
    for (size_t i = 0; i < found->estimate_count; i++) {
        if (!clean->estimates[i].is_excited) {
            continue;
        }
        double error = (found->estimates[i].value - truth[i]) / clean->estimates[i].deviation;
        sum += error * error;
    }
    free(truth);
    sum = sqrt(sum / (double)found->estimate_count);
    dyn_identification_free(found);
    return sum;
}

START_TEST(huber_weights_resist_outliers) {
    random_source base = random_seed("outliers in identification", 20261303);
    for (int k = 0; k < 6; k++) {
        random_source random = random_case(base, (uint64_t)k);
        experiment e = random_experiment(&random, 2 + k % 4, 400, true);
        for (size_t i = 0; i < e.n * e.nv; i++) {
            e.tau[i] += 0.1 * random_normal(&random);
        }
        dyn_identification_options options = DYN_IDENTIFICATION_OPTIONS_INIT();
        options.folds = 0;
        dyn_identification *clean = identify(&e, options);
        for (size_t i = 0; i < e.n * e.nv; i += 20 + (size_t)random_index(&random, 10)) {
            e.tau[i] += 50;
        }
        double ordinary = error_of(&e, DYN_ESTIMATOR_ORDINARY, clean), huber = error_of(&e, DYN_ESTIMATOR_HUBER, clean);
        ck_assert_msg(huber < 2 && huber < ordinary / 5, "case %d: %g deviations, ordinary %g", k, huber, ordinary);
        dyn_identification_free(clean);
        experiment_free(&e);
    }
}
END_TEST

/* ---- Consistent estimate ----------------------------------------------------------------------------------------- */

START_TEST(the_consistent_estimate_is_a_possible_body) {
    random_source base = random_seed("consistent identification", 20261304);
    dyn_error error;
    for (int k = 0; k < 24; k++) {
        random_source random = random_case(base, (uint64_t)k);
        experiment e = random_experiment(&random, 1 + k % 6, 100, true);
        for (size_t i = 0; i < e.n * e.nv; i++) {
            /* Up to noise that is greater than the torques. */
            e.tau[i] += pow(10, k % 4 - 1) * random_normal(&random);
        }
        dyn_identification_options options = DYN_IDENTIFICATION_OPTIONS_INIT();
        options.prior = pow(10, k % 7 - 4), options.folds = k % 2 ? 3 : 0;
        dyn_identification *found = identify(&e, options);
        for (size_t p = 0; p < found->parameter_count; p += LINK) {
            dyn_inertia body;
            require(dyn_inertia_from_parameters(found->parameters + p, &body, &error), &error);
            require(dyn_inertia_check(&body, &error), &error);
        }
        dyn_model *model = NULL;
        require(dyn_model_with_parameters(e.described, found->parameters, found->drives, &model, &error), &error);
        double *p = numbers(found->parameter_count);
        dyn_model_parameters(model, p);
        assert_close("parameters of the identified model", k, p, found->parameters, found->parameter_count, 1e-12);
        free(p);
        dyn_model_free(model);
        dyn_identification_free(found);
        experiment_free(&e);
    }
}
END_TEST

START_TEST(with_good_data_the_consistent_estimate_has_the_torques) {
    random_source base = random_seed("consistent identification of good data", 20261305);
    for (int k = 0; k < 8; k++) {
        random_source random = random_case(base, (uint64_t)k);
        experiment e = random_experiment(&random, 1 + k % 6, 400, true);
        dyn_identification_options options = DYN_IDENTIFICATION_OPTIONS_INIT();
        options.prior = 1e-3;
        dyn_identification *found = identify(&e, options);
        for (size_t j = 0; j < found->coordinate_count; j++) {
            const dyn_joint_fit *fit = &found->fits[j];
            ck_assert_msg(fit->consistent_prediction < 1e-4 * (fit->highest - fit->lowest), "case %d: joint %zu: %g", k,
                          j, fit->consistent_prediction);
            ck_assert_double_gt(fit->accounted, 0.999);
            ck_assert_double_gt(fit->model_error, 10 * fit->consistent_residual);
        }
        dyn_identification_free(found);
        experiment_free(&e);
    }
}
END_TEST

/* Builds a trunk of two arms of one joint each, without gravity, so that a joint at rest says nothing of its link. */
static dyn_model *two_arms(void) {
    static const char *const names[] = {"trunk", "left", "right"};
    dyn_builder *builder = NULL;
    dyn_model *model = NULL;
    dyn_error error;
    require(dyn_builder_create("arms", &builder, &error), &error);
    require(dyn_builder_set_gravity(builder, (double[3]){0, 0, 0}, &error), &error);
    for (int i = 0; i < 3; i++) {
        dyn_link_description link = {
            .name = names[i],
            .inertia = {.mass = 2, .center_of_mass = {0.1, 0.2, 0.05 * i}, .rotational = {0.02, 0, 0, 0.03, 0, 0.03}}};
        require(dyn_builder_add_link(builder, &link, &error), &error);
        dyn_joint_description joint = {.name = i == 1 ? "l" : "r",
                                       .type = DYN_JOINT_TYPE_REVOLUTE,
                                       .parent_link = "trunk",
                                       .child_link = names[i],
                                       .position = {0, i, 0},
                                       .rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1},
                                       .axis = {1, 0, 1},
                                       .has_limits = true,
                                       .limits = {.lower = -3, .upper = 3, .effort = 8}};
        if (i > 0) {
            require(dyn_builder_add_joint(builder, &joint, &error), &error);
        }
    }
    require(dyn_builder_build(builder, NULL, NULL, &model, &error), &error);
    dyn_builder_free(builder);
    return model;
}

/* Makes an experiment in which the first joint oscillates, and the second one rests. */
static experiment one_arm_moves(random_source *random) {
    experiment e = prepare(random, two_arms(), 500);
    for (size_t s = 0; s < e.n; s++) {
        double t = e.time[s] = 0.01 * (double)s;
        e.q[2 * s] = sin(2 * t) + 0.5 * sin(5 * t);
        e.v[2 * s] = 2 * cos(2 * t) + 2.5 * cos(5 * t);
        e.a[2 * s] = -4 * sin(2 * t) - 12.5 * sin(5 * t);
    }
    e.drives[0] = 0.3, e.drives[1] = 0.2;
    compute_torques(&e);
    return e;
}

START_TEST(a_link_that_never_moves_keeps_its_prior) {
    random_source random = random_seed("links at rest in identification", 20261306);
    experiment e = one_arm_moves(&random);
    dyn_identification_options options = DYN_IDENTIFICATION_OPTIONS_INIT();
    dyn_identification *found = identify(&e, options);
    double prior[2 * LINK];
    dyn_model_parameters(e.described, prior);
    assert_close("the link at rest", 0, found->parameters + LINK, prior + LINK, LINK, 1e-6);
    size_t unknown = 0;
    for (size_t i = 0; i < found->estimate_count; i++) {
        const dyn_linear_estimate *estimate = &found->estimates[i];
        bool is_at_rest =
            estimate->column >= LINK || (estimate->coordinate == 1 && estimate->term != DYN_DRIVE_TERM_OFFSET);
        ck_assert_int_eq(estimate->is_excited, !is_at_rest);
        if (is_at_rest) {
            ck_assert_double_eq_tol(estimate->value, estimate->prior, 1e-12);
            ck_assert(estimate->partner < 0 || !found->estimates[estimate->partner].is_excited);
            unknown++;
        }
    }
    ck_assert_uint_gt(unknown, 2);
    dyn_identification_free(found);
    experiment_free(&e);
}
END_TEST

/* ---- Parameters sought and known loads --------------------------------------------------------------------------- */

/* Returns a random body with a mass of 0.5 to 3 kg. */
static dyn_inertia random_body(random_source *random) {
    dyn_inertia body;
    dyn_error error;
    double size[3];
    for (int i = 0; i < 3; i++) {
        size[i] = random_uniform(random, 0.05, 0.3);
    }
    require(dyn_inertia_box(random_uniform(random, 0.5, 3), size, &body, &error), &error);
    random_vector(random, 3, 0.1, body.center_of_mass);
    return body;
}

/* Returns a link that moves. */
static int moving_link(random_source *random, const dyn_model *model) {
    int link = random_index(random, dyn_model_link_count(model));
    while (dyn_model_link(model, link)->moving_joint < 0) {
        link = (link + 1) % dyn_model_link_count(model);
    }
    return link;
}

/* Adds to tau what payloads and forces change in it. */
static void add_loads(experiment *e, size_t count, const dyn_payload *payloads, const dyn_external_forces *forces) {
    dyn_workspace *w = NULL;
    const dyn_model *loaded = NULL;
    dyn_error error;
    double *tau = numbers(e->n * e->nv), *bare = numbers(e->n * e->nv);
    require(dyn_workspace_create(e->robot, &w, &error), &error);
    require(dyn_rnea(e->robot, w, e->n, NULL, e->q, e->v, e->a, NULL, bare, &error), &error);
    require(dyn_workspace_load(w, count, payloads, &loaded, &error), &error);
    require(dyn_rnea(loaded, w, e->n, NULL, e->q, e->v, e->a, forces, tau, &error), &error);
    for (size_t i = 0; i < e->n * e->nv; i++) {
        e->tau[i] += tau[i] - bare[i];
    }
    free(tau), free(bare);
    dyn_workspace_free(w);
}

/* Identifies an experiment whose description is right. */
static dyn_identification *identify_described(experiment *e, const dyn_recorded_motion *motion,
                                              dyn_identification_options options) {
    dyn_identification *found = NULL;
    dyn_error error;
    require(dyn_identify(e->robot, motion, &options, &found, &error), &error);
    return found;
}

START_TEST(a_payload_is_found_on_a_robot_that_is_known) {
    random_source base = random_seed("identification of payloads", 20261314);
    for (int k = 0; k < 16; k++) {
        random_source random = random_case(base, (uint64_t)k);
        experiment e = random_experiment(&random, 3 + k % 5, 300, k % 2);
        dyn_payload payload = {.link = moving_link(&random, e.robot), .inertia = random_body(&random)};
        dyn_identification_options options = DYN_IDENTIFICATION_OPTIONS_INIT();
        options.payload_link = payload.link, options.prior = 1e-9;
        add_loads(&e, 1, &payload, NULL);
        dyn_recorded_motion motion = motion_of(&e);
        dyn_identification *found = identify_described(&e, &motion, options);
        double truth[LINK], own[LINK], sum[LINK];
        dyn_inertia_to_parameters(&payload.inertia, truth);
        for (size_t i = 0; i < found->estimate_count; i++) {
            const dyn_linear_estimate *estimate = &found->estimates[i];
            /* A parameter to which others are regrouped has another value. */
            if (estimate->column >= 0 && found->estimate_count >= LINK && found->estimates[9].column == 9) {
                ck_assert_double_eq_tol(estimate->value, truth[estimate->column], 1e-8);
            }
            ck_assert(estimate->column < LINK);
        }
        for (size_t j = 0; j < found->coordinate_count; j++) {
            ck_assert_double_lt(found->fits[j].residual, 1e-8);
            ck_assert_double_lt(found->fits[j].consistent_residual, 1e-3);
        }
        /* The body that carries the payload has the sum of both, and all others are as described. */
        double *p = numbers(found->parameter_count);
        int joint = dyn_model_link(e.robot, payload.link)->moving_joint;
        dyn_inertia carried, moved;
        dyn_error error;
        dyn_model_parameters(e.robot, p);
        memcpy(own, p + LINK * joint, sizeof own);
        require(dyn_inertia_from_parameters(found->payload, &carried, &error), &error);
        dyn_inertia_transform(&carried, &dyn_model_link(e.robot, payload.link)->pose, &moved);
        dyn_inertia_to_parameters(&moved, sum);
        for (int i = 0; i < LINK; i++) {
            p[LINK * joint + i] = own[i] + sum[i];
        }
        assert_close("parameters with the payload", k, found->parameters, p, found->parameter_count, 1e-9);
        free(p);
        dyn_identification_free(found);
        experiment_free(&e);
    }
}
END_TEST

START_TEST(chosen_links_are_found_while_the_others_are_held) {
    random_source base = random_seed("identification of chosen links", 20261315);
    dyn_error error;
    for (int k = 0; k < 16; k++) {
        random_source random = random_case(base, (uint64_t)k);
        experiment e = random_experiment(&random, 3 + k % 5, 300, true);
        /* The description is right but for the bodies of two links. */
        int joints = dyn_model_joint_count(e.robot), chosen[2];
        double *p = numbers((size_t)joints * LINK), *wrong = numbers((size_t)joints * LINK);
        chosen[0] = dyn_model_joint(e.robot, random_index(&random, joints))->child_link;
        chosen[1] =
            dyn_model_joint(e.robot, (dyn_model_link(e.robot, chosen[0])->moving_joint + 1) % joints)->child_link;
        dyn_model_parameters(e.robot, p);
        dyn_model_parameters(e.described, wrong);
        for (int i = 0; i < 2; i++) {
            int at = LINK * dyn_model_link(e.robot, chosen[i])->moving_joint;
            for (int c = at; c < at + LINK; c++) {
                double value = p[c];
                p[c] = wrong[c], wrong[c] = value;
            }
        }
        dyn_model_free(e.described);
        require(dyn_model_with_parameters(e.robot, p, NULL, &e.described, &error), &error);
        dyn_identification_options options = DYN_IDENTIFICATION_OPTIONS_INIT();
        options.links = chosen, options.link_count = 2, options.prior = 1e-6;
        dyn_identification *found = identify(&e, options);
        for (size_t j = 0; j < found->coordinate_count; j++) {
            ck_assert_double_lt(found->fits[j].residual, 1e-7 * fmax(1, found->fits[j].highest));
            ck_assert_double_lt(found->fits[j].consistent_residual, 1e-2 * fmax(1, found->fits[j].highest));
        }
        for (size_t c = 0; c < found->parameter_count; c++) {
            int joint = (int)(c / LINK);
            bool is_chosen = joint == dyn_model_link(e.robot, chosen[0])->moving_joint ||
                             joint == dyn_model_link(e.robot, chosen[1])->moving_joint;
            ck_assert(is_chosen || found->parameters[c] == p[c]);
        }
        for (size_t i = 0; i < found->estimate_count; i++) {
            int joint = found->estimates[i].column / LINK;
            ck_assert(found->estimates[i].column < 0 || joint == dyn_model_link(e.robot, chosen[0])->moving_joint ||
                      joint == dyn_model_link(e.robot, chosen[1])->moving_joint);
        }
        free(p), free(wrong);
        dyn_identification_free(found);
        experiment_free(&e);
    }
}
END_TEST

START_TEST(known_loads_do_not_change_the_estimates) {
    random_source base = random_seed("known loads in identification", 20261316);
    for (int k = 0; k < 12; k++) {
        random_source random = random_case(base, (uint64_t)k);
        experiment e = random_experiment(&random, 2 + k % 5, 300, true);
        double *wrench = numbers(6 * e.n), *load = numbers(e.n), *tau = numbers(e.n * e.nv);
        random_vector(&random, (int)(6 * e.n), 20, wrench);
        dyn_external_force force = {.frame = moving_link(&random, e.robot), .wrench = wrench, .stride = 6};
        force.reference_frame = DYN_REFERENCE_FRAME_WORLD;
        dyn_external_forces forces = {1, &force};
        dyn_payload payload = {.link = moving_link(&random, e.robot), .inertia = random_body(&random)};
        dyn_identification *clean = identify(&e, (dyn_identification_options)DYN_IDENTIFICATION_OPTIONS_INIT());
        /* The second half of the record is with the payload. */
        memcpy(tau, e.tau, e.n * e.nv * sizeof *tau);
        add_loads(&e, 1, &payload, NULL);
        memcpy(e.tau, tau, e.n / 2 * e.nv * sizeof *tau);
        add_loads(&e, 0, NULL, &forces);
        for (size_t s = e.n / 2; s < e.n; s++) {
            load[s] = 1;
        }
        dyn_recorded_motion motion = motion_of(&e);
        motion.forces = &forces, motion.payload_count = 1, motion.payloads = &payload, motion.load = load;
        dyn_identification_options options = DYN_IDENTIFICATION_OPTIONS_INIT();
        dyn_identification *found = NULL;
        dyn_error error;
        require(dyn_identify(e.described, &motion, &options, &found, &error), &error);
        for (size_t i = 0; i < found->estimate_count; i++) {
            ck_assert_double_eq_tol(found->estimates[i].value, clean->estimates[i].value, 1e-8);
        }
        dyn_identification_free(found);
        load[7] = NAN;
        ck_assert_int_eq(dyn_identify(e.described, &motion, &options, &found, &error), DYN_INVALID_ARGUMENT);
        ck_assert_str_eq(error.place, "load[7]");
        dyn_identification_free(clean);
        free(wrench), free(load), free(tau);
        experiment_free(&e);
    }
}
END_TEST

/* ---- Filter ------------------------------------------------------------------------------------------------------ */

/* ---- Friction and gains of drives -------------------------------------------------------------------------------- */

/* Compares the excited estimates with the true values, to a tolerance. */
static void assert_true(const experiment *e, const dyn_identification *found, double tolerance, int k) {
    double *truth = true_values(e, found);
    for (size_t i = 0; i < found->estimate_count; i++) {
        const dyn_linear_estimate *each = &found->estimates[i];
        ck_assert_msg(!each->is_excited || fabs(each->value - truth[i]) <= tolerance * fmax(1, fabs(truth[i])),
                      "case %d: estimate %zu is %.12g, not %.12g", k, i, each->value, truth[i]);
    }
    free(truth);
}

START_TEST(friction_at_rest_and_of_loads_returns) {
    random_source base = random_seed("Stribeck and load friction in identification", 20261320);
    for (int k = 0; k < 12; k++) {
        random_source random = random_case(base, (uint64_t)k);
        experiment e = random_experiment(&random, 1 + k % 6, 500, true);
        for (size_t j = 0; j < e.nv; j++) {
            bool has_drive = e.drives[j * DYN_DRIVE_TERMS] > 0;
            e.drives[j * DYN_DRIVE_TERMS + DYN_DRIVE_TERM_STRIBECK] = has_drive ? random_uniform(&random, 0.1, 1) : 0;
            e.drives[j * DYN_DRIVE_TERMS + DYN_DRIVE_TERM_LOAD] = has_drive ? random_uniform(&random, 0.01, 0.2) : 0;
        }
        compute_torques(&e);
        dyn_identification_options options = DYN_IDENTIFICATION_OPTIONS_INIT();
        options.stribeck_velocity = STRIBECK_VELOCITY;
        options.drive_terms[DYN_DRIVE_TERM_STRIBECK] = options.drive_terms[DYN_DRIVE_TERM_LOAD] = true;
        dyn_recorded_motion motion = motion_of(&e);
        dyn_identification *found = identify_described(&e, &motion, options);
        assert_true(&e, found, 1e-8, k);
        dyn_identification_free(found);
        experiment_free(&e);
    }
}
END_TEST

/* Experiment whose tau are currents of drives with gains, with payloads that rows carry in random shares. */
typedef struct current_experiment {
    experiment e;
    double *gains, *load;
    size_t count;
    dyn_payload *payloads; /* one on each body */
} current_experiment;

static void current_experiment_free(current_experiment *c) {
    experiment_free(&c->e);
    free(c->gains), free(c->load), free(c->payloads);
}

/* Makes an experiment with currents instead of torques, and with a payload on each link that varies. */
static current_experiment currents_of(random_source *random, experiment of_torques, double noise) {
    current_experiment c = {.e = of_torques};
    experiment *e = &c.e;
    double *bare = numbers(e->n * e->nv);
    c.gains = numbers(e->nv), c.load = numbers(e->n);
    c.payloads = calloc((size_t)dyn_model_joint_count(e->robot) + 1, sizeof *c.payloads);
    ck_assert_ptr_nonnull(c.payloads);
    for (int j = 0; j < dyn_model_joint_count(e->robot); j++) {
        c.payloads[c.count++] =
            (dyn_payload){.link = dyn_model_joint(e->robot, j)->child_link, .inertia = random_body(random)};
    }
    memcpy(bare, e->tau, e->n * e->nv * sizeof *bare);
    add_loads(e, c.count, c.payloads, NULL);
    for (size_t k = 0; k < e->nv; k++) {
        c.gains[k] = exp2(random_uniform(random, -4, 6)) * (random_uniform(random, 0, 1) < 0.3 ? -1 : 1);
    }
    for (size_t s = 0; s < e->n; s++) {
        c.load[s] = random_uniform(random, 0, 1);
        for (size_t k = 0; k < e->nv; k++) {
            double *tau = &e->tau[s * e->nv + k];
            *tau = bare[s * e->nv + k] + c.load[s] * (*tau - bare[s * e->nv + k]) + noise * random_normal(random);
            *tau /= c.gains[k];
        }
    }
    free(bare);
    return c;
}

static current_experiment random_currents(random_source *random, int joints, double noise) {
    return currents_of(random, random_experiment(random, joints, 300, true), noise);
}

static dyn_recorded_motion motion_of_currents(const current_experiment *c) {
    dyn_recorded_motion motion = motion_of(&c->e);
    motion.payload_count = c->count, motion.payloads = c->payloads, motion.load = c->load;
    return motion;
}

START_TEST(gains_of_drives_return_without_noise) {
    random_source base = random_seed("gains of drives in identification", 20261321);
    for (int k = 0; k < 16; k++) {
        random_source random = random_case(base, (uint64_t)k);
        current_experiment c = random_currents(&random, 1 + k % 6, 0);
        dyn_identification_options options = DYN_IDENTIFICATION_OPTIONS_INIT();
        options.estimate_gains = true;
        options.estimator = (dyn_estimator)(k / 2 % 4);
        dyn_recorded_motion motion = motion_of_currents(&c);
        double *given = numbers(c.e.nv);
        if (k % 2) {
            given[0] = c.gains[0];
            motion.gains = given;
        }
        dyn_identification *found = NULL;
        dyn_error error;
        require(dyn_identify(c.e.described, &motion, &options, &found, &error), &error);
        for (size_t j = 0; j < c.e.nv; j++) {
            ck_assert_msg(fabs(found->gains[j] / c.gains[j] - 1) < 1e-8, "case %d: gain %zu is %.12g, not %.12g", k, j,
                          found->gains[j], c.gains[j]);
            ck_assert_int_eq(found->gain_deviations[j] > 0, !(k % 2) || j > 0);
        }
        assert_true(&c.e, found, 1e-8, k);
        dyn_identification_free(found);
        free(given);
        current_experiment_free(&c);
    }
}
END_TEST

START_TEST(gains_lie_within_their_stated_deviations) {
    random_source base = random_seed("standard deviations of gains", 20261322);
    size_t count = 0, within = 0, gain_count = 0, gains_within = 0;
    for (int k = 0; k < 150; k++) {
        random_source random = random_case(base, (uint64_t)k);
        current_experiment c = random_currents(&random, 1 + k % 5, 0.1);
        dyn_identification_options options = DYN_IDENTIFICATION_OPTIONS_INIT();
        options.estimate_gains = true, options.folds = 0;
        dyn_recorded_motion motion = motion_of_currents(&c);
        dyn_identification *found = NULL;
        dyn_error error;
        require(dyn_identify(c.e.described, &motion, &options, &found, &error), &error);
        double *truth = true_values(&c.e, found);
        for (size_t i = 0; i < found->estimate_count; i++) {
            const dyn_linear_estimate *each = &found->estimates[i];
            within += each->is_excited && fabs(each->value - truth[i]) <= 1.959964 * each->deviation;
            count += each->is_excited;
        }
        for (size_t j = 0; j < c.e.nv; j++, gain_count++) {
            gains_within += fabs(found->gains[j] - c.gains[j]) <= 1.959964 * found->gain_deviations[j];
        }
        free(truth);
        dyn_identification_free(found);
        current_experiment_free(&c);
    }
    double share = (double)within / (double)count, share_of_gains = (double)gains_within / (double)gain_count;
    printf("%.4f of %zu estimates and %.4f of %zu gains within 1.96 deviations\n", share, count, share_of_gains,
           gain_count);
    ck_assert_msg(share > 0.93 && share < 0.97, "%g of %zu estimates", share, count);
    ck_assert_msg(share_of_gains > 0.92 && share_of_gains < 0.98, "%g of %zu gains", share_of_gains, gain_count);
}
END_TEST

static dyn_identification *identify_gains(const current_experiment *c, dyn_estimator estimator, size_t folds) {
    dyn_identification_options options = DYN_IDENTIFICATION_OPTIONS_INIT();
    options.estimate_gains = true, options.estimator = estimator, options.folds = folds;
    const dyn_recorded_motion motion = motion_of_currents(c);
    dyn_identification *found = NULL;
    dyn_error error;
    require(dyn_identify(c->e.described, &motion, &options, &found, &error), &error);
    return found;
}

/* Sums of the logarithms of errors of estimates and of relative errors of gains, and those within 1.96 deviations. */
typedef struct gain_tally {
    double logarithms, gain_logarithms;
    tally gains, estimates;
} gain_tally;

static void count_gains(const current_experiment *c, dyn_estimator estimator, gain_tally *sum) {
    dyn_identification *found = identify_gains(c, estimator, 0);
    double *truth = true_values(&c->e, found);
    for (size_t j = 0; j < c->e.nv; j++) {
        sum->gain_logarithms += log(fabs(found->gains[j] / c->gains[j] - 1));
        sum->gains.within += fabs(found->gains[j] - c->gains[j]) <= 1.959964 * found->gain_deviations[j];
        sum->gains.count++;
    }
    for (size_t i = 0; i < found->estimate_count; i++) {
        const dyn_linear_estimate *each = &found->estimates[i];
        sum->logarithms += each->is_excited ? log(fabs(each->value - truth[i])) : 0;
        sum->estimates.within += each->is_excited && fabs(each->value - truth[i]) <= 1.959964 * each->deviation;
        sum->estimates.count += each->is_excited;
    }
    free(truth);
    dyn_identification_free(found);
}

START_TEST(total_least_squares_corrects_gains_for_errors_of_rates) {
    random_source base = random_seed("gains with noisy rates", 20261342);
    gain_tally weighted = {0}, total = {0};
    for (int k = 0; k < 60; k++) {
        random_source random = random_case(base, (uint64_t)k);
        current_experiment c = currents_of(&random, sine_experiment(&random, 1 + k % 4, 600), 0.1);
        for (size_t i = 0; i < c.e.n * c.e.nv; i++) {
            c.e.v[i] += 0.1 * random_normal(&random), c.e.a[i] += 0.6 * random_normal(&random);
        }
        count_gains(&c, DYN_ESTIMATOR_WEIGHTED, &weighted);
        count_gains(&c, DYN_ESTIMATOR_TOTAL, &total);
        current_experiment_free(&c);
    }
    double ratio = exp((total.logarithms - weighted.logarithms) / (double)total.estimates.count);
    double ratio_of_gains = exp((total.gain_logarithms - weighted.gain_logarithms) / (double)total.gains.count);
    printf("errors of estimates are %.3f, those of gains %.3f of those of weighted least squares, in geometric mean\n",
           ratio, ratio_of_gains);
    ck_assert_msg(ratio <= 0.9 && ratio_of_gains <= 1, "errors are %g and %g of those of weighted least squares", ratio,
                  ratio_of_gains);
    assert_share("estimates with gains and noisy rates", DYN_ESTIMATOR_TOTAL, &total.estimates);
    /* 200 gains: their share has a deviation of 0.016. */
    assert_share_between("gains with noisy rates", DYN_ESTIMATOR_TOTAL, &total.gains, 0.9, 0.98);
}
END_TEST

/* Largest relative error of the gains. */
static double error_of_gains(const current_experiment *c, const dyn_identification *found) {
    double largest = 0;
    for (size_t j = 0; j < c->e.nv; j++) {
        largest = fmax(largest, fabs(found->gains[j] / c->gains[j] - 1));
    }
    return largest;
}

START_TEST(outliers_do_not_decide_on_gains_with_hubers_weights) {
    random_source base = random_seed("gains with outliers", 20261324);
    for (int k = 0; k < 8; k++) {
        random_source random = random_case(base, (uint64_t)k);
        current_experiment c = random_currents(&random, 1 + k % 4, 0.01);
        for (size_t i = 0; i < c.e.n * c.e.nv; i++) {
            bool is_outlier = random_uniform(&random, 0, 1) < 0.03;
            c.e.tau[i] += is_outlier ? 3 * random_normal(&random) / c.gains[i % c.e.nv] : 0;
        }
        dyn_identification *weighted = identify_gains(&c, DYN_ESTIMATOR_WEIGHTED, 5);
        dyn_identification *huber = identify_gains(&c, DYN_ESTIMATOR_HUBER, 5);
        double before = error_of_gains(&c, weighted), after = error_of_gains(&c, huber);
        ck_assert_msg(after < 0.5 * before, "case %d: %g with Huber's weights, %g without", k, after, before);
        dyn_identification_free(weighted);
        dyn_identification_free(huber);
        current_experiment_free(&c);
    }
}
END_TEST

START_TEST(a_part_is_predicted_with_gains_of_the_others) {
    random_source base = random_seed("gains of parts", 20261325);
    for (int k = 0; k < 6; k++) {
        random_source random = random_case(base, (uint64_t)k);
        current_experiment c = random_currents(&random, 1 + k % 3, 0);
        dyn_identification *whole = identify_gains(&c, DYN_ESTIMATOR_WEIGHTED, 5);
        for (size_t j = 0; j < c.e.nv; j++) {
            ck_assert_double_le(whole->fits[j].prediction, 1e-6 * (whole->fits[j].highest - whole->fits[j].lowest));
        }
        /* The drives of the last fifth have other gains, which the other parts do not know. */
        for (size_t i = c.e.n * 4 / 5 * c.e.nv; i < c.e.n * c.e.nv; i++) {
            c.e.tau[i] *= 1.5;
        }
        dyn_identification *changed = identify_gains(&c, DYN_ESTIMATOR_WEIGHTED, 5);
        for (size_t j = 0; j < c.e.nv; j++) {
            ck_assert_msg(changed->fits[j].prediction > changed->fits[j].residual, "case %d: %g and %g", k,
                          changed->fits[j].prediction, changed->fits[j].residual);
        }
        dyn_identification_free(whole);
        dyn_identification_free(changed);
        current_experiment_free(&c);
    }
}
END_TEST

START_TEST(saturated_currents_of_unknown_gains_are_left_out) {
    static const double EFFORT = 8; /* of two_arms */
    random_source base = random_seed("saturated currents", 20261326);
    size_t all = 0;
    for (int k = 0; k < 8; k++) {
        random_source random = random_case(base, (uint64_t)k);
        experiment e = prepare(&random, two_arms(), 400);
        random_vector(&random, 2 * (int)e.n, 1, e.q);
        random_vector(&random, 2 * (int)e.n, 3, e.v);
        random_vector(&random, 2 * (int)e.n, 100, e.a);
        for (size_t s = 0; s < e.n; s++) {
            e.time[s] = 0.01 * (double)s;
        }
        compute_torques(&e);
        current_experiment c = currents_of(&random, e, 0);
        size_t cut = 0, saturated = 0;
        for (size_t i = 0; i < c.e.n * c.e.nv; i++) {
            double most = EFFORT / fabs(c.gains[i % c.e.nv]);
            cut += fabs(c.e.tau[i]) >= most;
            c.e.tau[i] = fmin(fmax(c.e.tau[i], -most), most);
        }
        dyn_identification *found = identify_gains(&c, (dyn_estimator)(k % 4), 5);
        for (size_t j = 0; j < c.e.nv; j++) {
            saturated += found->fits[j].saturated;
        }
        ck_assert_uint_eq(saturated, cut);
        ck_assert_msg(error_of_gains(&c, found) < 1e-7, "case %d: %g", k, error_of_gains(&c, found));
        all += cut;
        dyn_identification_free(found);
        current_experiment_free(&c);
    }
    printf("%zu saturated currents left out\n", all);
    ck_assert_uint_gt(all, 100);
}
END_TEST

START_TEST(gains_without_a_scale_are_refused) {
    random_source base = random_seed("gains without a scale", 20261323);
    dyn_error error;
    for (int k = 0; k < 12; k++) {
        random_source random = random_case(base, (uint64_t)k);
        current_experiment c = random_currents(&random, 1 + k % 4, k % 2 ? 0.1 : 0);
        dyn_identification_options options = DYN_IDENTIFICATION_OPTIONS_INIT();
        dyn_recorded_motion motion = motion_of_currents(&c);
        dyn_identification *found = NULL;
        options.estimate_gains = true;
        /* A payload that all rows carry cannot be told from the robot. */
        motion.load = NULL;
        ck_assert_int_eq(dyn_identify(c.e.described, &motion, &options, &found, &error), DYN_INVALID_ARGUMENT);
        ck_assert_msg(strncmp(error.place, "gains[", 6) == 0, "case %d: %s: %s", k, error.place, error.message);
        motion.payload_count = 0;
        ck_assert_int_eq(dyn_identify(c.e.described, &motion, &options, &found, &error), DYN_INVALID_ARGUMENT);
        ck_assert_msg(strncmp(error.place, "gains[", 6) == 0, "case %d: %s: %s", k, error.place, error.message);
        options.estimator = DYN_ESTIMATOR_TOTAL;
        ck_assert_int_eq(dyn_identify(c.e.described, &motion, &options, &found, &error), DYN_INVALID_ARGUMENT);
        ck_assert_msg(strncmp(error.place, "gains[", 6) == 0, "case %d: %s: %s", k, error.place, error.message);
        current_experiment_free(&c);
    }
}
END_TEST

START_TEST(the_filter_has_the_stated_gain_and_no_delay) {
    enum { N = 2000 };
    static const double ratios[] = {0.25, 0.5, 1, 1.5, 2};
    random_source random = random_seed("filter of identification", 20261307);
    const double cutoff = 2;
    for (size_t k = 0; k < sizeof ratios / sizeof ratios[0]; k++) {
        experiment e = prepare(&random, two_arms(), N);
        double rate = 2 * PI * cutoff * ratios[k], gain = 1 / (1 + pow(ratios[k], 6));
        for (size_t s = 0; s < N; s++) {
            e.time[s] = 0.005 * ((double)s + random_uniform(&random, -0.3, 0.3));
            e.q[2 * s] = e.q[2 * s + 1] = sin(rate * e.time[s]);
            e.tau[2 * s] = e.tau[2 * s + 1] = sin(3 * e.time[s]);
        }
        dyn_recorded_motion motion = {.n = N, .time = e.time, .q = e.q, .tau = e.tau};
        dyn_identification_options options = DYN_IDENTIFICATION_OPTIONS_INIT();
        options.cutoff = cutoff;
        dyn_identification *found = NULL;
        dyn_error error;
        require(dyn_identify(e.described, &motion, &options, &found, &error), &error);
        for (size_t s = N / 4; s < 3 * N / 4; s++) {
            ck_assert_double_eq_tol(found->v[2 * s], gain * rate * cos(rate * e.time[s]), 0.01 * rate);
            ck_assert_double_eq_tol(found->a[2 * s], -gain * rate * rate * sin(rate * e.time[s]), 0.02 * rate * rate);
        }
        dyn_identification_free(found);
        experiment_free(&e);
    }
}
END_TEST

START_TEST(filtered_noisy_positions_yield_the_parameters) {
    random_source random = random_seed("identification from positions alone", 20261308);
    experiment e = one_arm_moves(&random);
    for (size_t s = 0; s < e.n; s++) {
        e.q[2 * s] += 1e-4 * random_normal(&random);
    }
    dyn_recorded_motion motion = {.n = e.n, .time = e.time, .q = e.q, .tau = e.tau};
    dyn_identification_options options = DYN_IDENTIFICATION_OPTIONS_INIT();
    options.cutoff = 6, options.folds = 0;
    dyn_identification *found = NULL;
    dyn_error error;
    require(dyn_identify(e.described, &motion, &options, &found, &error), &error);
    double *truth = true_values(&e, found);
    for (size_t i = 0; i < found->estimate_count; i++) {
        if (found->estimates[i].is_excited) {
            ck_assert_double_eq_tol(found->estimates[i].value, truth[i], 0.03);
        }
    }
    free(truth);
    dyn_identification_free(found);
    experiment_free(&e);
}
END_TEST

/* ---- Bad input --------------------------------------------------------------------------------------------------- */

static void check_refusal(const experiment *e, const dyn_recorded_motion *motion,
                          const dyn_identification_options *options, dyn_status status, const char *place) {
    dyn_identification *found = NULL;
    dyn_error error;
    ck_assert_int_eq(dyn_identify(e->described, motion, options, &found, &error), status);
    ck_assert_str_eq(error.place, place);
    ck_assert_ptr_null(found);
}

START_TEST(joints_at_rest_excite_nothing_by_rounding) {
    random_source base = random_seed("joints at rest", 20261343);
    for (int k = 0; k < 20; k++) {
        random_source random = random_case(base, (uint64_t)k);
        experiment e = sine_experiment(&random, 2 + k % 5, 400);
        for (size_t i = 0; i < e.n * e.nv; i++) {
            e.q[i] = i % e.nv == 0 ? e.q[i] : 0.1 + 0.37 * (double)(i % e.nv);
            e.tau[i] += random_normal(&random);
        }
        dyn_recorded_motion motion = {.n = e.n, .time = e.time, .q = e.q, .tau = e.tau};
        dyn_identification_options options = DYN_IDENTIFICATION_OPTIONS_INIT();
        options.folds = 0, options.cutoff = 8;
        dyn_identification *found = identify_motion(&e, &motion, options);
        for (size_t i = 0; i < found->estimate_count; i++) {
            const dyn_linear_estimate *each = &found->estimates[i];
            ck_assert_msg(fabs(each->value) < 1e6, "case %d: estimate %zu is %g", k, i, each->value);
            bool is_friction = each->coordinate > 0 && each->term < DYN_DRIVE_TERM_OFFSET;
            ck_assert_msg(!is_friction || (!each->is_excited && each->partner < 0), "case %d: estimate %zu", k, i);
        }
        dyn_identification_free(found);
        experiment_free(&e);
    }
}
END_TEST

START_TEST(bad_records_are_refused) {
    random_source random = random_seed("bad records", 20261309);
    experiment e = one_arm_moves(&random);
    dyn_recorded_motion good = motion_of(&e), bad = good;
    dyn_identification_options options = DYN_IDENTIFICATION_OPTIONS_INIT();
    bad.n = 3;
    check_refusal(&e, &bad, &options, DYN_INVALID_ARGUMENT, "motion");
    bad = good, bad.v = NULL;
    check_refusal(&e, &bad, &options, DYN_INVALID_ARGUMENT, "v");
    bad = good, bad.tau = NULL;
    check_refusal(&e, &bad, &options, DYN_INVALID_ARGUMENT, "tau");
    bad = good, bad.time = bad.v = bad.a = NULL;
    check_refusal(&e, &bad, &options, DYN_INVALID_ARGUMENT, "time");
    double gains[] = {1, 0};
    bad = good, bad.gains = gains;
    check_refusal(&e, &bad, &options, DYN_INVALID_ARGUMENT, "gains[1]");
    e.q[13] = NAN;
    check_refusal(&e, &good, &options, DYN_INVALID_ARGUMENT, "q[13]");
    e.q[13] = 0, e.tau[7] = INFINITY;
    check_refusal(&e, &good, &options, DYN_INVALID_ARGUMENT, "tau[7]");
    e.tau[7] = 0, e.time[4] = e.time[3];
    check_refusal(&e, &good, &options, DYN_INVALID_ARGUMENT, "time[4]");
    e.time[4] = 0.04;
    for (size_t s = 250; s < e.n; s++) {
        e.time[s] += 1;
    }
    check_refusal(&e, &good, &options, DYN_INVALID_ARGUMENT, "time[250]");
    experiment_free(&e);
}
END_TEST

START_TEST(bad_options_are_refused) {
    random_source random = random_seed("bad options of identification", 20261310);
    experiment e = one_arm_moves(&random);
    dyn_recorded_motion motion = motion_of(&e);
    motion.v = motion.a = NULL;
    dyn_identification_options options = DYN_IDENTIFICATION_OPTIONS_INIT();
    options.cutoff = 80;
    check_refusal(&e, &motion, &options, DYN_INVALID_ARGUMENT, "cutoff");
    options.cutoff = 1e-3;
    check_refusal(&e, &motion, &options, DYN_INVALID_ARGUMENT, "cutoff");
    options.cutoff = 0, options.estimator = DYN_ESTIMATOR_TOTAL;
    check_refusal(&e, &motion, &options, DYN_INVALID_ARGUMENT, "cutoff");
    options.estimator = DYN_ESTIMATOR_ORDINARY, options.torque_cutoff = -1;
    check_refusal(&e, &motion, &options, DYN_INVALID_ARGUMENT, "torque_cutoff");
    options.torque_cutoff = 0, options.prior = 0;
    check_refusal(&e, &motion, &options, DYN_INVALID_ARGUMENT, "prior");
    options.prior = 1, options.folds = 1;
    check_refusal(&e, &motion, &options, DYN_INVALID_ARGUMENT, "folds");
    options.folds = 5, options.payload_link = 77;
    check_refusal(&e, &motion, &options, DYN_INVALID_ARGUMENT, "payload_link");
    dyn_error error;
    int left = -1;
    require(dyn_model_find_frame(e.described, "trunk", &options.payload_link, &error), &error);
    check_refusal(&e, &motion, &options, DYN_INVALID_ARGUMENT, "payload_link");
    require(dyn_model_find_frame(e.described, "left", &left, &error), &error);
    options.payload_link = -1, options.links = (int[2]){left, left}, options.link_count = 2;
    check_refusal(&e, &motion, &options, DYN_INVALID_ARGUMENT, "links[1]");
    options.drives_only = true;
    check_refusal(&e, &motion, &options, DYN_INVALID_ARGUMENT, "links");
    options.drives_only = false, options.links = NULL;
    options.stribeck_velocity = 0;
    check_refusal(&e, &motion, &options, DYN_INVALID_ARGUMENT, "stribeck_velocity");
    options.stribeck_velocity = 1, options.friction_velocity = NAN;
    check_refusal(&e, &motion, &options, DYN_INVALID_ARGUMENT, "friction_velocity");
    options.friction_velocity = FRICTION_VELOCITY, options.drives_only = true;
    memset(options.drive_terms, 0, sizeof options.drive_terms);
    check_refusal(&e, &motion, &options, DYN_INVALID_ARGUMENT, "motion");
    experiment_free(&e);
}
END_TEST

START_TEST(rough_motions_yield_finite_numbers) {
    random_source base = random_seed("identification from rough motions", 20261313);
    for (int k = 0; k < 40; k++) {
        random_source random = random_case(base, (uint64_t)k);
        experiment e = random_experiment(&random, 4 + k % 4, 20, false);
        dyn_recorded_motion motion = motion_of(&e);
        dyn_identification_options options = DYN_IDENTIFICATION_OPTIONS_INIT();
        dyn_identification *found = NULL;
        dyn_error error;
        random_vector(&random, (int)(e.n * e.nv), 1, e.tau);
        if (dyn_identify(e.described, &motion, &options, &found, &error) == DYN_OK) {
            for (size_t i = 0; i < found->estimate_count; i++) {
                ck_assert_msg(isfinite(found->estimates[i].value), "case %d: estimate %zu", k, i);
                ck_assert_msg(isfinite(found->estimates[i].deviation), "case %d: deviation %zu", k, i);
            }
        }
        dyn_identification_free(found);
        experiment_free(&e);
    }
}
END_TEST

START_TEST(saturated_torques_do_not_take_part) {
    random_source random = random_seed("saturated torques", 20261311);
    experiment e = one_arm_moves(&random);
    size_t saturated = 0;
    for (size_t s = 0; s < e.n; s += 7) {
        /* The effort limit of the joints is 8. */
        e.tau[2 * s] = 8, saturated++;
    }
    dyn_identification_options options = DYN_IDENTIFICATION_OPTIONS_INIT();
    dyn_identification *found = identify(&e, options);
    double *truth = true_values(&e, found);
    ck_assert_uint_eq(found->fits[0].saturated, saturated);
    ck_assert_uint_eq(found->fits[1].saturated, 0);
    for (size_t i = 0; i < found->estimate_count; i++) {
        if (found->estimates[i].is_excited) {
            ck_assert_double_eq_tol(found->estimates[i].value, truth[i], 1e-8);
        }
    }
    free(truth);
    dyn_identification_free(found);
    experiment_free(&e);
}
END_TEST

/* Cuts the torques of a coordinate of an experiment to +-most. Returns the number of rows that change. */
static size_t cut_torques(experiment *e, size_t coordinate, double most) {
    size_t cut = 0;
    for (size_t i = coordinate; i < e->n * e->nv; i += e->nv) {
        cut += fabs(e->tau[i]) > most;
        e->tau[i] = fmin(fmax(e->tau[i], -most), most);
    }
    return cut;
}

/* Returns the greatest absolute torque of a coordinate. */
static double greatest_torque(const experiment *e, size_t coordinate) {
    double greatest = 0;
    for (size_t i = coordinate; i < e->n * e->nv; i += e->nv) {
        greatest = fmax(greatest, fabs(e->tau[i]));
    }
    return greatest;
}

START_TEST(torques_that_a_drive_cuts_below_the_limit_do_not_take_part) {
    random_source base = random_seed("torques cut below the limit", 20261331);
    size_t all = 0;
    for (int k = 0; k < 30; k++) {
        random_source random = random_case(base, (uint64_t)k);
        experiment e = random_experiment(&random, 2 + k % 4, 200, false);
        const dyn_joint *joint = dyn_model_joint(e.described, k % dyn_model_joint_count(e.described));
        if (joint->nv != 1) {
            experiment_free(&e);
            continue;
        }
        size_t coordinate = (size_t)joint->v_index;
        size_t cut = cut_torques(&e, coordinate, 0.5 * greatest_torque(&e, coordinate));
        dyn_identification_options options = DYN_IDENTIFICATION_OPTIONS_INIT();
        dyn_identification *found = identify(&e, options);
        double *truth = true_values(&e, found);
        for (size_t j = 0; j < e.nv; j++) {
            ck_assert_uint_eq(found->fits[j].saturated, j == coordinate ? cut : 0);
        }
        for (size_t i = 0; i < found->estimate_count; i++) {
            if (found->estimates[i].is_excited) {
                ck_assert_double_eq_tol(found->estimates[i].value, truth[i], 1e-6);
            }
        }
        all += cut;
        free(truth);
        dyn_identification_free(found);
        experiment_free(&e);
    }
    printf("%zu torques cut below the limit\n", all);
    ck_assert_uint_gt(all, 100);
}
END_TEST

START_TEST(torques_that_are_constant_by_themselves_take_part) {
    random_source random = random_seed("constant torques", 20261332);
    for (int k = 0; k < 3; k++) {
        experiment e = one_arm_moves(&random);
        for (size_t s = 0; s < e.n; s++) {
            /* An offset; an offset that begins late; Coulomb friction of the joint at rest, which changes its sign. */
            e.tau[2 * s + 1] = k == 0 || (k == 1 && s > 100) ? 0.5 : k == 1 ? 0.1 : s % 200 < 100 ? 0.5 : -0.5;
        }
        for (size_t s = 0; s < 60; s++) {
            /* A rest at the start, with the greatest torque of the record. */
            e.q[2 * s] = e.v[2 * s] = e.a[2 * s] = 0;
            e.tau[2 * s] = 7.5;
        }
        dyn_identification *found = identify(&e, (dyn_identification_options)DYN_IDENTIFICATION_OPTIONS_INIT());
        ck_assert_uint_eq(found->fits[0].saturated, 0);
        ck_assert_uint_eq(found->fits[1].saturated, 0);
        dyn_identification_free(found);
        experiment_free(&e);
    }
}
END_TEST

START_TEST(an_estimate_whose_rows_are_all_saturated_says_so) {
    random_source random = random_seed("a joint with all torques saturated", 20261333);
    experiment e = one_arm_moves(&random);
    for (size_t s = 0; s < e.n; s++) {
        e.tau[2 * s] = s % 3 ? 8 : -8.5;
    }
    dyn_identification *found = identify(&e, (dyn_identification_options)DYN_IDENTIFICATION_OPTIONS_INIT());
    size_t saturated = 0;
    ck_assert_uint_eq(found->fits[0].saturated, e.n);
    for (size_t i = 0; i < found->estimate_count; i++) {
        const dyn_linear_estimate *estimate = &found->estimates[i];
        saturated += estimate->is_saturated;
        ck_assert(!estimate->is_saturated || (!estimate->is_excited && estimate->partner < 0));
        ck_assert(estimate->coordinate != 0 || estimate->is_saturated);
        ck_assert(estimate->coordinate != 1 || !estimate->is_saturated);
    }
    ck_assert_uint_gt(saturated, 3);
    dyn_identification_free(found);
    experiment_free(&e);
}
END_TEST

START_TEST(a_record_with_all_torques_saturated_is_refused) {
    random_source random = random_seed("all torques saturated", 20261317);
    experiment e = one_arm_moves(&random);
    dyn_recorded_motion motion = motion_of(&e);
    dyn_identification_options options = DYN_IDENTIFICATION_OPTIONS_INIT();
    dyn_identification *found = NULL;
    dyn_error error;
    for (size_t i = 0; i < e.n * e.nv; i++) {
        e.tau[i] = i % 3 ? 8 : -9;
    }
    ck_assert_int_eq(dyn_identify(e.described, &motion, &options, &found, &error), DYN_INVALID_ARGUMENT);
    ck_assert_msg(strstr(error.message, "all 1000 torques are saturated") != NULL, "%s", error.message);
    experiment_free(&e);
}
END_TEST

static bool refuse(void *context, double fraction) {
    ++*(int *)context;
    ck_assert(fraction > 0 && fraction <= 1);
    return false;
}

START_TEST(a_caller_can_cancel) {
    random_source random = random_seed("cancelled identification", 20261312);
    experiment e = one_arm_moves(&random);
    dyn_recorded_motion motion = motion_of(&e);
    int calls = 0;
    dyn_identification_options options = DYN_IDENTIFICATION_OPTIONS_INIT();
    options.proceed = refuse, options.context = &calls;
    dyn_identification *found = NULL;
    dyn_error error;
    ck_assert_int_eq(dyn_identify(e.described, &motion, &options, &found, &error), DYN_CANCELLED);
    ck_assert_int_eq(calls, 1);
    experiment_free(&e);
}
END_TEST

int main(void) {
    TCase *all = tcase_create("identification");
    tcase_set_timeout(all, 120);
    tcase_add_test(all, without_noise_the_base_parameters_return);
    tcase_add_test(all, estimates_lie_within_their_stated_deviations);
    tcase_add_test(all, estimates_from_simulated_motions_lie_within_their_deviations);
    tcase_add_test(all, total_least_squares_corrects_errors_of_rates);
    tcase_add_test(all, total_least_squares_corrects_errors_of_positions);
    tcase_add_test(all, huber_weights_resist_outliers);
    tcase_add_test(all, the_consistent_estimate_is_a_possible_body);
    tcase_add_test(all, with_good_data_the_consistent_estimate_has_the_torques);
    tcase_add_test(all, a_link_that_never_moves_keeps_its_prior);
    tcase_add_test(all, a_payload_is_found_on_a_robot_that_is_known);
    tcase_add_test(all, chosen_links_are_found_while_the_others_are_held);
    tcase_add_test(all, known_loads_do_not_change_the_estimates);
    tcase_add_test(all, friction_at_rest_and_of_loads_returns);
    tcase_add_test(all, gains_of_drives_return_without_noise);
    tcase_add_test(all, gains_lie_within_their_stated_deviations);
    tcase_add_test(all, total_least_squares_corrects_gains_for_errors_of_rates);
    tcase_add_test(all, outliers_do_not_decide_on_gains_with_hubers_weights);
    tcase_add_test(all, a_part_is_predicted_with_gains_of_the_others);
    tcase_add_test(all, saturated_currents_of_unknown_gains_are_left_out);
    tcase_add_test(all, gains_without_a_scale_are_refused);
    tcase_add_test(all, the_filter_has_the_stated_gain_and_no_delay);
    tcase_add_test(all, filtered_noisy_positions_yield_the_parameters);
    tcase_add_test(all, joints_at_rest_excite_nothing_by_rounding);
    tcase_add_test(all, bad_records_are_refused);
    tcase_add_test(all, bad_options_are_refused);
    tcase_add_test(all, rough_motions_yield_finite_numbers);
    tcase_add_test(all, saturated_torques_do_not_take_part);
    tcase_add_test(all, torques_that_a_drive_cuts_below_the_limit_do_not_take_part);
    tcase_add_test(all, torques_that_are_constant_by_themselves_take_part);
    tcase_add_test(all, an_estimate_whose_rows_are_all_saturated_says_so);
    tcase_add_test(all, a_record_with_all_torques_saturated_is_refused);
    tcase_add_test(all, a_caller_can_cancel);
    return run_properties("identification", all);
}
