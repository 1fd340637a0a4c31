/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks operational-space dynamics: compared with the Jacobians, the inverse of M, ABA and the motion of frames, on
 * random trees of every joint type.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/assertions.h"
#include "support/complex_step.h"

enum { CASES = 120, MAX_JOINTS = 60, MAX_FRAMES = 4 };

/* Random robot with a task, and memory for the results. */
typedef struct test_case {
    setting s;
    dyn_task_frame frames[MAX_FRAMES];
    dyn_task task;
    size_t m;
    double *J, *inverse;                                /* m x nv, and M^-1 */
    double *Omega, *Lambda, *mu, *p, *Jbar, *N, *x, *y; /* x, y: scratch memory */
} test_case;

static int row_count(unsigned rows) {
    return __builtin_popcount(rows);
}

/* Computes C = A B, where A is a x b and B is b x c. */
static void multiply(size_t a, size_t b, size_t c, const double *A, const double *B, double *C) {
    for (size_t i = 0; i < a * c; i++) {
        C[i] = 0;
        for (size_t k = 0; k < b; k++) {
            C[i] += A[i / c * b + k] * B[k * c + i % c];
        }
    }
}

static void transpose(size_t rows, size_t columns, const double *A, double *B) {
    for (size_t i = 0; i < rows * columns; i++) {
        B[i % columns * rows + i / columns] = A[i];
    }
}

/* Copies the task's rows of the 6 x width numbers `six` of a frame; returns their number. */
static size_t select_rows(const dyn_task_frame *f, size_t width, const double *six, double *out) {
    size_t count = 0;
    for (int row = 0; row < 6; row++) {
        if (f->rows >> row & 1) {
            memcpy(out + count++ * width, six + (size_t)row * width, width * sizeof *out);
        }
    }
    return count;
}

/* Chooses up to four frames, each with some rows; every fourth case has one frame with all rows. */
static void choose_task(random_source *random, int k, test_case *c) {
    int count = k % 4 == 0 ? 1 : 1 + random_index(random, MAX_FRAMES);
    for (int f = 0; f < count; f++) {
        c->frames[f].frame = random_index(random, dyn_model_link_count(c->s.model));
        c->frames[f].reference_frame = (dyn_reference_frame)random_index(random, 3);
        c->frames[f].rows = k % 4 == 0 ? DYN_TASK_ALL : 1 + (unsigned)random_index(random, DYN_TASK_ALL);
        if (k % 4 == 1) {
            c->frames[f].rows = 1u << random_index(random, 6);
        }
    }
    c->task = (dyn_task){(size_t)count, c->frames};
    c->m = (size_t)dyn_task_row_count(&c->task);
}

static void case_create(random_source *random, int k, test_case *c) {
    dyn_error error;
    *c = (test_case){.m = 0};
    setting_create(random, k, MAX_JOINTS, &c->s);
    choose_task(random, k, c);
    size_t m = c->m, nv = c->s.nv, room = (m + nv + 6) * (m + nv + 6);
    double **all[] = {&c->Omega, &c->Lambda, &c->mu, &c->p, &c->Jbar, &c->N, &c->J, &c->inverse, &c->x, &c->y};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        *all[i] = unset_numbers(room);
    }
    require(dyn_minverse(c->s.model, c->s.workspace, 1, c->s.q, c->inverse, &error), &error);
    size_t row = 0;
    for (size_t f = 0; f < c->task.count; f++) {
        require(dyn_frame_jacobian(c->s.model, c->s.workspace, 1, c->s.q, c->frames[f].frame,
                                   c->frames[f].reference_frame, c->x, &error),
                &error);
        row += select_rows(&c->frames[f], nv, c->x, c->J + row * nv);
    }
    ck_assert_uint_eq(row, m);
}

static void case_free(test_case *c) {
    double *all[] = {c->Omega, c->Lambda, c->mu, c->p, c->Jbar, c->N, c->J, c->inverse, c->x, c->y};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        free(all[i]);
    }
    setting_free(&c->s);
}

/* Computes all results of a task. Returns |Omega| |Lambda|, an estimate of the task's condition, or 0 where the task is
 * singular or the estimate is not below 1e7. */
static double find_all(test_case *c) {
    dyn_error error;
    dyn_status status = dyn_operational_space(c->s.model, c->s.workspace, 1, c->s.gravity, c->s.q, c->s.v, &c->task,
                                              c->Omega, c->Lambda, c->mu, c->p, c->Jbar, c->N, &error);
    if (status == DYN_FAILED_PRECONDITION) {
        ck_assert_str_eq(error.place, "task");
        return 0;
    }
    require(status, &error);
    double condition = norm(c->Omega, c->m * c->m) * norm(c->Lambda, c->m * c->m);
    return condition < 1e7 ? condition : 0;
}

START_TEST(inverse_inertia_is_that_of_jacobian_and_mass_matrix) {
    random_source base = random_seed("operational-space inertia", 20261221);
    dyn_error error;
    for (int k = 0; k < CASES; k++) {
        random_source random = random_case(base, (uint64_t)k);
        test_case c;
        case_create(&random, k, &c);
        size_t m = c.m, nv = c.s.nv;
        double *expected = numbers(m * m);
        multiply(m, nv, nv, c.J, c.inverse, c.x);
        transpose(m, nv, c.J, c.y);
        multiply(m, nv, m, c.x, c.y, expected);
        require(dyn_operational_space(c.s.model, c.s.workspace, 1, NULL, c.s.q, NULL, &c.task, c.Omega, NULL, NULL,
                                      NULL, NULL, NULL, &error),
                &error);
        assert_close("J M^-1 J'", k, c.Omega, expected, m * m, 1e-9);
        free(expected);
        case_free(&c);
    }
}
END_TEST

START_TEST(inverses_are_inverse) {
    random_source base = random_seed("dynamically consistent inverse", 20261222);
    int regular = 0;
    for (int k = 0; k < CASES; k++) {
        random_source random = random_case(base, (uint64_t)k);
        test_case c;
        case_create(&random, k, &c);
        double condition = find_all(&c), *one = numbers(c.m * c.m), *zero = numbers(c.m * c.s.nv);
        size_t m = c.m, nv = c.s.nv;
        if (condition > 0) {
            double tolerance = 1e-9 + 1e-14 * condition;
            regular++;
            for (size_t i = 0; i < m; i++) {
                one[i * m + i] = 1;
            }
            multiply(m, m, m, c.Lambda, c.Omega, c.x);
            assert_close("Lambda J M^-1 J' = 1", k, c.x, one, m * m, tolerance);
            multiply(m, nv, m, c.J, c.Jbar, c.x);
            assert_close("J Jbar = 1", k, c.x, one, m * m, tolerance);
            multiply(m, nv, nv, c.J, c.N, c.x);
            assert_close("J N = 0", k, c.x, zero, m * nv, tolerance * (1 + norm(c.J, m * nv)));
            multiply(nv, nv, nv, c.N, c.N, c.x);
            assert_close("N N = N", k, c.x, c.N, nv * nv, tolerance * (1 + norm(c.N, nv * nv)));
            transpose(m, nv, c.J, c.y);
            multiply(nv, nv, m, c.inverse, c.y, c.x);
            multiply(nv, m, m, c.x, c.Lambda, c.y);
            assert_close("Jbar = M^-1 J' Lambda", k, c.Jbar, c.y, nv * m, tolerance);
        }
        free(one), free(zero);
        case_free(&c);
    }
    ck_assert_msg(regular > CASES / 4, "only %d tasks were regular", regular);
}
END_TEST

/* Computes the acceleration J a + dJ/dt v of the task's rows for joint forces tau. */
static void task_acceleration(const test_case *c, const double *tau, double *out) {
    dyn_error error;
    double *a = numbers(c->s.nv), rate[6];
    require(dyn_aba(c->s.model, c->s.workspace, 1, c->s.gravity, c->s.q, c->s.v, tau, NULL, a, &error), &error);
    for (size_t f = 0; f < c->task.count; f++) {
        require(dyn_frame_motion(c->s.model, c->s.workspace, 1, c->s.q, c->s.v, a, c->frames[f].frame,
                                 c->frames[f].reference_frame, NULL, rate, NULL, &error),
                &error);
        select_rows(&c->frames[f], 1, rate, out);
        out += row_count(c->frames[f].rows);
    }
    free(a);
}

START_TEST(motion_of_a_task_satisfies_its_equation) {
    random_source base = random_seed("operational-space equation of motion", 20261223);
    int regular = 0;
    for (int k = 0; k < CASES; k++) {
        random_source random = random_case(base, (uint64_t)k);
        test_case c;
        case_create(&random, k, &c);
        double condition = find_all(&c);
        size_t m = c.m, nv = c.s.nv;
        if (condition > 0) {
            double tolerance = 1e-8 + 1e-13 * condition;
            double *tau = numbers(nv), *F = numbers(m), *acceleration = numbers(m), *again = numbers(m);
            regular++;
            random_vector(&random, (int)nv, 20, tau);
            transpose(nv, m, c.Jbar, c.x);
            multiply(m, nv, 1, c.x, tau, F);
            task_acceleration(&c, tau, acceleration);
            multiply(m, m, 1, c.Lambda, acceleration, c.y);
            for (size_t i = 0; i < m; i++) {
                c.y[i] += c.mu[i] + c.p[i];
            }
            double scale = 1 + norm(c.Lambda, m * m) * (1 + norm(acceleration, m)) / (1 + norm(F, m));
            assert_close("Lambda a + mu + p = Jbar' tau", k, c.y, F, m, tolerance * scale);
            /* Forces N' tau_0 do not accelerate the task. */
            random_vector(&random, (int)nv, 20, c.y);
            transpose(nv, nv, c.N, c.x);
            for (size_t i = 0; i < nv * nv; i++) {
                tau[i / nv] += c.x[i] * c.y[i % nv];
            }
            task_acceleration(&c, tau, again);
            assert_close("J M^-1 N' = 0", k, again, acceleration, m,
                         tolerance * (1 + norm(c.Omega, m * m)) * (double)nv);
            free(tau), free(F), free(acceleration), free(again);
        }
        case_free(&c);
    }
    ck_assert_msg(regular > CASES / 4, "only %d tasks were regular", regular);
}
END_TEST

/* Checks tasks with a frame twice, and with one that does not move, which are singular, and a floating base alone,
 * which is not. */
START_TEST(singular_task_is_reported_with_its_sample_and_row) {
    random_source random = random_seed("singular tasks", 20261224);
    random_tree_options options = {.joints = 9, .base = DYN_BASE_FLOATING};
    dyn_model *model = random_tree(&random, &options);
    dyn_workspace *w;
    dyn_error error;
    require(dyn_workspace_create(model, &w, &error), &error);
    size_t nq = (size_t)dyn_model_nq(model);
    int last = dyn_model_link_count(model) - 1;
    const dyn_task_frame twice[2] = {{0, DYN_REFERENCE_FRAME_LOCAL, DYN_TASK_ALL},
                                     {0, DYN_REFERENCE_FRAME_WORLD, DYN_TASK_LINEAR}};
    const dyn_task_frame fixed[2] = {{last, DYN_REFERENCE_FRAME_LOCAL, DYN_TASK_ALL},
                                     {DYN_WORLD_FRAME, DYN_REFERENCE_FRAME_WORLD, 1}};
    double *q = numbers(20 * nq), *Omega = numbers(20 * 81), *Lambda = numbers(20 * 81);
    for (size_t s = 0; s < 20; s++) {
        random_configuration(&random, model, 2, q + s * nq);
    }
    dyn_task task = {2, twice};
    ck_assert_int_eq(
        dyn_operational_space(model, w, 20, NULL, q, NULL, &task, Omega, Lambda, NULL, NULL, NULL, NULL, &error),
        DYN_FAILED_PRECONDITION);
    ck_assert_str_eq(error.place, "task");
    ck_assert(error.site.has_sample && error.site.sample == 0);
    ck_assert_int_eq(error.site.cause, DYN_CAUSE_SINGULAR_TASK);
    ck_assert_ptr_nonnull(strstr(error.message, " of link0 depends"));
    require(dyn_operational_space(model, w, 20, NULL, q, NULL, &task, Omega, NULL, NULL, NULL, NULL, NULL, &error),
            &error);
    task.frames = fixed;
    ck_assert_int_eq(
        dyn_operational_space(model, w, 1, NULL, q, NULL, &task, NULL, Lambda, NULL, NULL, NULL, NULL, &error),
        DYN_FAILED_PRECONDITION);
    ck_assert_ptr_nonnull(strstr(error.message, "angular x of world"));
    task.count = 1;
    require(dyn_operational_space(model, w, 20, NULL, q, NULL, &task, Omega, Lambda, NULL, NULL, NULL, NULL, &error),
            &error);
    free(q), free(Omega), free(Lambda);
    dyn_workspace_free(w);
    dyn_model_free(model);
}
END_TEST

/* Checks all results of a floating base and its first link, in a batch and alone. */
START_TEST(batch_has_the_bits_of_single_calls) {
    enum { SAMPLES = 21, WIDTHS = 6 };
    random_source random = random_seed("same bits of tasks", 20261226);
    random_tree_options options = {.joints = 12, .base = DYN_BASE_FLOATING};
    dyn_model *model = random_tree(&random, &options);
    dyn_workspace *w;
    dyn_error error;
    require(dyn_workspace_create(model, &w, &error), &error);
    size_t nq = (size_t)dyn_model_nq(model), nv = (size_t)dyn_model_nv(model);
    const dyn_task_frame base = {0, DYN_REFERENCE_FRAME_WORLD, DYN_TASK_ALL};
    const dyn_task task = {1, &base};
    const size_t widths[WIDTHS] = {36, 36, 6, 6, 6 * nv, nv * nv};
    double *q = numbers(SAMPLES * nq), *v = numbers(SAMPLES * nv), *all[WIDTHS], *one[WIDTHS];
    for (size_t s = 0; s < SAMPLES; s++) {
        random_configuration(&random, model, 2, q + s * nq);
    }
    random_vector(&random, (int)(SAMPLES * nv), 2, v);
    for (int i = 0; i < WIDTHS; i++) {
        all[i] = numbers(SAMPLES * widths[i]), one[i] = numbers(widths[i]);
    }
    require(dyn_operational_space(model, w, SAMPLES, NULL, q, v, &task, all[0], all[1], all[2], all[3], all[4], all[5],
                                  &error),
            &error);
    for (size_t s = 0; s < SAMPLES; s++) {
        require(dyn_operational_space(model, w, 1, NULL, q + s * nq, v + s * nv, &task, one[0], one[1], one[2], one[3],
                                      one[4], one[5], &error),
                &error);
        for (int i = 0; i < WIDTHS; i++) {
            ck_assert_mem_eq(all[i] + s * widths[i], one[i], widths[i] * sizeof(double));
        }
    }
    for (int i = 0; i < WIDTHS; i++) {
        free(all[i]), free(one[i]);
    }
    free(q), free(v);
    dyn_workspace_free(w);
    dyn_model_free(model);
}
END_TEST

START_TEST(bad_tasks_are_refused) {
    random_source random = random_seed("bad tasks", 20261225);
    random_tree_options options = {.joints = 3};
    dyn_model *model = random_tree(&random, &options);
    dyn_workspace *w;
    dyn_error error;
    require(dyn_workspace_create(model, &w, &error), &error);
    double q[64] = {0}, out[DYN_TASK_ROWS * DYN_TASK_ROWS];
    random_configuration(&random, model, 1, q);
    const dyn_task_frame none = {0, DYN_REFERENCE_FRAME_LOCAL, 0}, beyond = {0, DYN_REFERENCE_FRAME_LOCAL, 64},
                         unknown = {99, DYN_REFERENCE_FRAME_LOCAL, 1};
    const dyn_task_frame many[DYN_TASK_FRAMES + 1] = {{0, DYN_REFERENCE_FRAME_LOCAL, 1}};
    const struct {
        dyn_task task;
        dyn_status status;
        const char *place;
    } bad[] = {{{0, NULL}, DYN_INVALID_ARGUMENT, "task"},
               {{DYN_TASK_FRAMES + 1, many}, DYN_INVALID_ARGUMENT, "task"},
               {{1, &none}, DYN_INVALID_ARGUMENT, "task"},
               {{1, &beyond}, DYN_INVALID_ARGUMENT, "task"},
               {{1, &unknown}, DYN_NOT_FOUND, "frame"}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        ck_assert_int_eq(
            dyn_operational_space(model, w, 1, NULL, q, NULL, &bad[i].task, out, NULL, NULL, NULL, NULL, NULL, &error),
            bad[i].status);
        ck_assert_str_eq(error.place, bad[i].place);
    }
    dyn_workspace_free(w);
    dyn_model_free(model);
}
END_TEST

int main(void) {
    TCase *tasks = tcase_create("operational space");
    tcase_set_timeout(tasks, 120);
    tcase_add_test(tasks, inverse_inertia_is_that_of_jacobian_and_mass_matrix);
    tcase_add_test(tasks, inverses_are_inverse);
    tcase_add_test(tasks, motion_of_a_task_satisfies_its_equation);
    tcase_add_test(tasks, singular_task_is_reported_with_its_sample_and_row);
    tcase_add_test(tasks, batch_has_the_bits_of_single_calls);
    tcase_add_test(tasks, bad_tasks_are_refused);
    return run_properties("operational space", tasks);
}
