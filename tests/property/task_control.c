/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks torques for tasks with priorities on random trees: forward dynamics under these torques must have the desired
 * accelerations of the first task, whatever the others and the null-space objective are.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <dynamics/dynamics.h>

#include "support/assertions.h"
#include "support/random_tree.h"

enum { CASES = 80, SAMPLES = 3 };

/* Random robot with a task of two frames. */
typedef struct control_case {
    dyn_model *model;
    dyn_workspace *workspace;
    size_t nq, nv, m, first; /* m rows, of which `first` are of the first frame */
    double *q, *v, *tau_0, *desired;
    dyn_task_frame frames[2];
    unsigned priorities[2];
    dyn_task_goal goal;
} control_case;

static control_case random_case_of(random_source *random, int k) {
    dyn_error error;
    random_tree_options options = {.joints = 6 + random_index(random, 8),
                                   .base = k % 2 ? DYN_BASE_FLOATING : DYN_BASE_FIXED,
                                   .with_fixed = true,
                                   .with_mimic = k % 4 == 3};
    control_case c = {.model = random_tree(random, &options)};
    c.nq = (size_t)dyn_model_nq(c.model), c.nv = (size_t)dyn_model_nv(c.model);
    c.q = numbers(SAMPLES * c.nq), c.v = numbers(SAMPLES * c.nv), c.tau_0 = numbers(SAMPLES * c.nv);
    for (size_t s = 0; s < SAMPLES; s++) {
        random_configuration(random, c.model, 1, c.q + s * c.nq);
        random_vector(random, (int)c.nv, 1, c.v + s * c.nv);
        random_vector(random, (int)c.nv, 10, c.tau_0 + s * c.nv);
    }
    int links = dyn_model_link_count(c.model);
    for (int f = 0; f < 2; f++) {
        c.frames[f] = (dyn_task_frame){f == 0 ? links - 1 : random_index(random, links),
                                       (dyn_reference_frame)random_index(random, 3),
                                       (unsigned)(1 + random_index(random, DYN_TASK_ALL))};
        c.m += (size_t)__builtin_popcount(c.frames[f].rows);
        c.first = f == 0 ? c.m : c.first;
    }
    c.priorities[1] = 1;
    c.desired = numbers(SAMPLES * c.m);
    random_vector(random, (int)(SAMPLES * c.m), 2, c.desired);
    require(dyn_workspace_create(c.model, &c.workspace, &error), &error);
    return c;
}

static void set_goal(control_case *c) {
    c->goal = (dyn_task_goal){{2, c->frames}, c->priorities, c->desired, c->m, 0};
}

static void close_case(control_case *c) {
    dyn_workspace_free(c->workspace);
    dyn_model_free(c->model);
    free(c->q), free(c->v), free(c->tau_0), free(c->desired);
}

/* Computes the accelerations of the rows of the task in sample s under joint forces, by forward dynamics. */
static void find_accelerations(const control_case *c, size_t s, const double *tau, double *rows) {
    dyn_error error;
    double *a = numbers(c->nv), motion[6];
    const double *q = c->q + s * c->nq, *v = c->v + s * c->nv;
    require(dyn_aba(c->model, c->workspace, 1, NULL, q, v, tau, NULL, a, &error), &error);
    for (size_t f = 0; f < c->goal.task.count; f++) {
        const dyn_task_frame *frame = &c->frames[f];
        require(dyn_frame_motion(c->model, c->workspace, 1, q, v, a, frame->frame, frame->reference_frame, NULL, motion,
                                 NULL, &error),
                &error);
        for (int i = 0; i < 6; i++) {
            if (frame->rows >> i & 1) {
                *rows++ = motion[i];
            }
        }
    }
    free(a);
}

/* Returns the least independence of the first task in sample s. */
static double least_independence(const control_case *c, const double *independence, size_t s) {
    double least = 1;
    for (size_t i = 0; i < c->first; i++) {
        least = fmin(least, independence[s * c->m + i]);
    }
    return least;
}

START_TEST(forward_dynamics_reaches_the_first_task) {
    random_source base = random_seed("task_control", 310);
    int reached = 0;
    for (int k = 0; k < CASES; k++) {
        random_source random = random_case(base, (uint64_t)k);
        control_case c = random_case_of(&random, k);
        double *tau = numbers(SAMPLES * c.nv), *found = numbers(SAMPLES * c.m), *actual = numbers(c.m);
        double *independence = numbers(SAMPLES * c.m);
        const dyn_task_torques to = {tau, found, independence};
        dyn_error error;
        set_goal(&c);
        require(
            dyn_task_torques_for(c.model, c.workspace, SAMPLES, NULL, c.q, c.v, NULL, &c.goal, c.tau_0, &to, &error),
            &error);
        for (size_t s = 0; s < SAMPLES; s++) {
            find_accelerations(&c, s, tau + s * c.nv, actual);
            assert_norm_close("accelerations", k, found + s * c.m, actual, c.m, 1e-6);
            if (least_independence(&c, independence, s) > 1e-4) {
                assert_norm_close("first task", k, actual, c.desired + s * c.m, c.first, 1e-6);
                reached++;
            }
        }
        free(tau), free(found), free(actual), free(independence);
        close_case(&c);
    }
    ck_assert_int_gt(reached, CASES / 2);
}
END_TEST

/* Checks that the second task and the objective change no acceleration of the first task, whether or not that one is
 * singular, and that a sample alone has the bits that it has among others. */
START_TEST(later_tasks_do_not_disturb_earlier_ones) {
    random_source base = random_seed("task_control priorities", 311);
    for (int k = 0; k < CASES; k++) {
        random_source random = random_case(base, (uint64_t)k);
        control_case c = random_case_of(&random, k);
        double *tau = numbers(SAMPLES * c.nv), *one = numbers(c.nv), *both = numbers(c.m), *alone = numbers(c.m);
        const dyn_task_torques to = {.tau = tau}, to_one = {.tau = one};
        dyn_error error;
        set_goal(&c);
        require(
            dyn_task_torques_for(c.model, c.workspace, SAMPLES, NULL, c.q, c.v, NULL, &c.goal, c.tau_0, &to, &error),
            &error);
        for (size_t s = 0; s < SAMPLES; s++) {
            dyn_task_goal goal = c.goal;
            goal.accelerations += s * c.m;
            const double *q = c.q + s * c.nq, *v = c.v + s * c.nv;
            require(dyn_task_torques_for(c.model, c.workspace, 1, NULL, q, v, NULL, &goal, c.tau_0 + s * c.nv, &to_one,
                                         &error),
                    &error);
            ck_assert_mem_eq(one, tau + s * c.nv, c.nv * sizeof *one);
            find_accelerations(&c, s, one, both);
            goal.task.count = 1;
            require(dyn_task_torques_for(c.model, c.workspace, 1, NULL, q, v, NULL, &goal, NULL, &to_one, &error),
                    &error);
            find_accelerations(&c, s, one, alone);
            assert_norm_close("first task", k, both, alone, c.first, 1e-6);
        }
        free(tau), free(one), free(both), free(alone);
        close_case(&c);
    }
}
END_TEST

START_TEST(goals_that_do_not_fit_are_refused) {
    random_source random = random_seed("task_control errors", 312);
    control_case c = random_case_of(&random, 0);
    double *tau = numbers(SAMPLES * c.nv);
    const dyn_task_torques to = {.tau = tau};
    dyn_error error;
    set_goal(&c);
    c.goal.damping = 2;
    ck_assert_int_eq(dyn_task_torques_for(c.model, c.workspace, 1, NULL, c.q, c.v, NULL, &c.goal, NULL, &to, &error),
                     DYN_INVALID_ARGUMENT);
    ck_assert_str_eq(error.place, "damping");
    set_goal(&c);
    c.desired[c.m + 1] = NAN;
    ck_assert_int_eq(
        dyn_task_torques_for(c.model, c.workspace, SAMPLES, NULL, c.q, c.v, NULL, &c.goal, NULL, &to, &error),
        DYN_INVALID_ARGUMENT);
    ck_assert_uint_eq(error.site.sample, 1);
    free(tau);
    close_case(&c);
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("task_control");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, forward_dynamics_reaches_the_first_task);
    tcase_add_test(tests, later_tasks_do_not_disturb_earlier_ones);
    tcase_add_test(tests, goals_that_do_not_fit_are_refused);
    return run_properties("task_control", tests);
}
