/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks the two methods for contacts with each other, on random problems of two bodies with up to eight contacts, most
 * of which have more contacts than their bodies have freedoms, and of up to four joints with stops and dry friction.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/src/constraint/contact_cone.h"
#include "lib/src/constraint/contact_geometry.h"
#include "lib/src/constraint/contact_solve.h"
#include "support/assertions.h"
#include "support/random.h"

enum { BODY_ROWS = 12, JOINTS = 4, ROWS = BODY_ROWS + JOINTS, MOST = 8, MOST_BOUNDED = 2 * JOINTS, PROBLEMS = 300 };

/* Problem with its memory. */
typedef struct sample {
    contact_problem problem;
    double R[ROWS * ROWS], u[ROWS], u_free[ROWS], responses[3 * MOST * ROWS];
    contact_row contacts[MOST];
    bounded_row bounded[MOST_BOUNDED];
    double *memory;
} sample;

static void random_response(random_source *random, double *R) {
    double B[ROWS][ROWS];
    for (int i = 0; i < ROWS * ROWS; i++) {
        B[i / ROWS][i % ROWS] = random_uniform(random, -1, 1);
    }
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < ROWS; j++) {
            R[i * ROWS + j] = i == j ? 0.1 : 0;
            for (int k = 0; k < ROWS; k++) {
                R[i * ROWS + j] += B[i][k] * B[j][k];
            }
        }
    }
}

static void random_contact(random_source *random, double friction, contact_row *c) {
    double length = 0, arm[3];
    *c = (contact_row){.links = {random_index(random, 2), -1}, .friction = friction};
    c->links[1] = random_index(random, 3) == 0 ? 1 - c->links[0] : -1;
    for (int k = 0; k < 3; k++) {
        c->axes[k] = random_uniform(random, -0.5, 0.5) + (k == 2);
        length += c->axes[k] * c->axes[k];
    }
    for (int k = 0; k < 3; k++) {
        c->axes[k] /= sqrt(length);
    }
    contact_tangents(c->axes);
    for (int side = 0; side < 2; side++) {
        for (int k = 0; k < 3; k++) {
            arm[k] = random_uniform(random, -1, 1);
        }
        contact_lever(c, side, arm);
    }
}

/* Adds rows of a joint: a stop at either end of its range, dry friction, or both. */
static void add_joint(random_source *random, int row, sample *s) {
    const double *response = s->R + row * ROWS;
    double required = random_uniform(random, -0.5, 0.5), most = random_uniform(random, 0, 0.3);
    int kind = random_index(random, 4);
    if (kind != 3) {
        bool is_lower = random_index(random, 2) == 0;
        s->bounded[s->problem.bounded_count++] =
            (bounded_row){row, is_lower ? 0 : -INFINITY, is_lower ? INFINITY : 0, required, 0, response};
    }
    if (kind != 0) {
        s->bounded[s->problem.bounded_count++] = (bounded_row){row, -most, most, 0, 0, response};
    }
}

/* Draws a problem with up to `joints` joints; all its contacts have this friction. */
static void draw(random_source *random, double friction, int joints, sample *s) {
    random_response(random, s->R);
    s->problem = (contact_problem){.rows = ROWS,
                                   .count = 1 + random_index(random, MOST),
                                   .u = s->u,
                                   .contacts = s->contacts,
                                   .bounded = s->bounded,
                                   .memory = s->memory};
    for (int i = 0; i < joints; i++) {
        add_joint(random, BODY_ROWS + i, s);
    }
    for (int i = 0; i < s->problem.count; i++) {
        random_contact(random, friction, &s->contacts[i]);
        s->contacts[i].response = s->responses + (size_t)(3 * i * ROWS);
        contact_respond(&s->contacts[i], ROWS, s->R);
    }
    for (int r = 0; r < ROWS; r++) {
        s->u_free[r] = random_uniform(random, -1, 1);
    }
}

/* Computes a solution by sweeps, and by the accurate method after at least 20 of them. */
static contact_course solve(sample *s, int sweeps) {
    for (int i = 0; i < s->problem.count; i++) {
        memset(s->contacts[i].impulse, 0, sizeof s->contacts[i].impulse);
    }
    for (int i = 0; i < s->problem.bounded_count; i++) {
        s->bounded[i].impulse = 0;
    }
    memcpy(s->u, s->u_free, sizeof s->u);
    s->problem.most_sweeps = sweeps;
    return contact_solve(&s->problem);
}

static sample *create_sample(void) {
    sample *s = calloc(1, sizeof *s);
    ck_assert_ptr_nonnull(s);
    s->memory = calloc(contact_memory(MOST, MOST_BOUNDED), sizeof *s->memory);
    ck_assert_ptr_nonnull(s->memory);
    return s;
}

static void free_sample(sample *s) {
    free(s->memory);
    free(s);
}

/* Loops over problems without joints, and with some. The method converges linearly: a few problems in a thousand need
 * more than the 1000 iterations that 100 sweeps allow. */
START_TEST(the_accurate_method_obeys_the_law_where_sweeps_do_not) {
    random_source random = random_seed("accurate contacts", 1601);
    sample *s = create_sample();
    int unfinished = 0, inexact = 0;
    double worst_of_sweeps = 0, worst = 0;
    for (int i = 0; i < PROBLEMS; i++) {
        draw(&random, random_uniform(&random, 0, 1), _i, s);
        contact_course rough = solve(s, 19), fine = solve(s, 100);
        unfinished += rough.residual > 1e-6, inexact += fine.residual > 1e-9;
        fine = fine.residual > 1e-9 ? solve(s, 1000) : fine;
        worst_of_sweeps = larger(worst_of_sweeps, rough.residual), worst = larger(worst, fine.residual);
    }
    printf("%d joints, residuals: %g m/s after 19 sweeps, %d of %d above 1e-6; %g by both methods, %d above 1e-9\n", _i,
           worst_of_sweeps, unfinished, PROBLEMS, worst, inexact);
    ck_assert_int_gt(unfinished, PROBLEMS / 10);
    ck_assert_int_le(inexact, PROBLEMS / 50);
    ck_assert_double_le(worst, 1e-6);
    free_sample(s);
}
END_TEST

/* Adds the response to the impulses of the accurate method to u, and checks their bounds. */
static void respond(const sample *s, const double *impulses, double *u) {
    const contact_problem *p = &s->problem;
    for (int k = 0; k < 3 * p->count; k++) {
        ck_assert(k % 3 == 0 ? impulses[k] >= 0 : impulses[k] == 0);
        for (int r = 0; r < ROWS; r++) {
            u[r] += s->contacts[k / 3].response[k % 3 * ROWS + r] * impulses[k];
        }
    }
    for (int i = 0; i < p->bounded_count; i++) {
        const bounded_row *b = &s->bounded[i];
        double impulse = impulses[3 * p->count + i];
        ck_assert(impulse >= b->lower && impulse <= b->upper);
        for (int r = 0; r < ROWS; r++) {
            u[r] += b->response[r] * impulse;
        }
    }
}

START_TEST(both_methods_find_the_only_motion_without_friction_of_contacts) {
    random_source random = random_seed("contacts without friction", 1602);
    sample *s = create_sample();
    double impulses[3 * MOST + MOST_BOUNDED];
    for (int i = 0; i < PROBLEMS; i++) {
        draw(&random, 0, _i, s);
        solve(s, 0);
        contact_cone_solve(&s->problem, 10000, s->memory, impulses);
        double u[ROWS];
        memcpy(u, s->u_free, sizeof u);
        respond(s, impulses, u);
        ck_assert_int_le(solve(s, 10000).sweeps, 10000); /* sweeps alone */
        for (int r = 0; r < ROWS; r++) {
            ck_assert_double_eq_tol(u[r], s->u[r], 1e-6);
        }
    }
    free_sample(s);
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("contact methods");
    tcase_add_loop_test(tests, the_accurate_method_obeys_the_law_where_sweeps_do_not, 0, JOINTS + 1);
    tcase_add_loop_test(tests, both_methods_find_the_only_motion_without_friction_of_contacts, 0, JOINTS + 1);
    return run_properties("contact methods", tests);
}
