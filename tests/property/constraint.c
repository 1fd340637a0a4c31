/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks constraint rows: their response on random trees of every joint type, compared with Jacobians and the inverse
 * of M, and their multipliers, compared with those of all active sets.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <dynamics/dynamics.h>

#include "lib/src/constraint/rows.h"
#include "support/assertions.h"
#include "support/random_tree.h"

enum { TREES = 60, MAX_JOINTS = 30, CAPACITY = 24, GROUPS = 5, PROBLEMS = 2000, SMALL = 6 };

/* ---- Response ---------------------------------------------------------------------------------------------------- */

/* A random robot with rows, in as many states as there are lanes. */
typedef struct test_case {
    dyn_model *model;
    dyn_workspace *workspace;
    size_t nq, nv, n;
    double *q, *v, *packed_q, *packed_v;
    void *memory;
    constraint_rows rows;
    double *A, *T, *expected, *inverse, *six, *numbers; /* dense results of one state */
} test_case;

static row_term random_term(random_source *random, const dyn_model *model, unsigned rows) {
    double factor = random_uniform(random, 0.3, 2) * (random_index(random, 2) ? 1 : -1);
    if (rows == 0) {
        return (row_term){
            .source = ROW_OF_COORDINATE, .index = random_index(random, dyn_model_nv(model)), .factor = factor};
    }
    return (row_term){.source = ROWS_OF_FRAME,
                      .index = random_index(random, dyn_model_link_count(model) + 1) - 1,
                      .reference_frame = (dyn_reference_frame)random_index(random, 3),
                      .rows = rows,
                      .factor = factor};
}

/* Returns a random group of rows: a coordinate, two coordinates that a gear couples, rows of a frame, rows of two
 * frames that close a loop, or one row of a frame together with a coordinate. */
static row_group random_group(random_source *random, const dyn_model *model) {
    int kind = random_index(random, 5);
    unsigned rows = kind < 2 ? 0 : kind == 4 ? 1u << random_index(random, 6) : 1 + (unsigned)random_index(random, 63);
    row_group group = {.count = rows ? __builtin_popcount(rows) : 1, .term_count = kind == 0 || kind == 2 ? 1 : 2};
    for (int k = 0; k < group.term_count; k++) {
        group.terms[k] = random_term(random, model, kind == 4 && k == 1 ? 0 : rows);
    }
    return group;
}

static void add_groups(random_source *random, test_case *c) {
    for (int g = 0; g < GROUPS; g++) {
        row_group group = random_group(random, c->model);
        int first = c->rows.set.m;
        ck_assert_int_eq(constraint_rows_add(&c->rows, &group), first + group.count <= CAPACITY ? first : -1);
    }
}

static void case_create(random_source *random, int k, test_case *c) {
    random_tree_options options = {.joints = 1 + k % MAX_JOINTS,
                                   .base = k % 2 ? DYN_BASE_FLOATING : DYN_BASE_FIXED,
                                   .with_mimic = k % 3 == 0,
                                   .with_custom = k % 5 == 1,
                                   .with_fixed = true};
    dyn_error error;
    *c = (test_case){.model = random_tree(random, &options)};
    require(dyn_workspace_create(c->model, &c->workspace, &error), &error);
    c->n = (size_t)c->workspace->kernels->wide->lanes;
    c->nq = (size_t)dyn_model_nq(c->model), c->nv = (size_t)dyn_model_nv(c->model);
    c->q = numbers(c->n * c->nq), c->v = numbers(c->n * c->nv);
    c->packed_q = aligned_alloc(64, 64 * (1 + c->nq)), c->packed_v = aligned_alloc(64, 64 * (1 + c->nv));
    for (size_t s = 0; s < c->n; s++) {
        random_configuration(random, c->model, 2, c->q + s * c->nq);
    }
    random_vector(random, (int)(c->n * c->nv), 2, c->v);
    size_t size = constraint_rows_lay_out(c->model, CAPACITY, c->n, true, 0, &c->rows);
    c->memory = aligned_alloc(64, size);
    memset(c->memory, 0xff, size);
    constraint_rows_lay_out(c->model, CAPACITY, c->n, true, (uintptr_t)c->memory, &c->rows);
    double **all[] = {&c->A, &c->T, &c->expected, &c->inverse, &c->six, &c->numbers};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        *all[i] = numbers((CAPACITY + c->nv) * (CAPACITY + c->nv));
    }
    if (c->nv > 0) {
        add_groups(random, c);
    }
}

static void case_free(test_case *c) {
    double *all[] = {c->A, c->T, c->expected, c->inverse, c->six, c->numbers, c->q, c->v, c->packed_q, c->packed_v};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        free(all[i]);
    }
    free(c->memory);
    dyn_workspace_free(c->workspace);
    dyn_model_free(c->model);
}

/* Computes the response of the rows for the samples of a block: all samples where `count` is greater than 1, otherwise
 * sample `first`. Returns the block. */
static sample_block respond(test_case *c, size_t first, size_t count) {
    sample_block block = count > 1 ? dyn_block_at(c->workspace, c->n, 0, 0) : dyn_block_of_one(c->workspace, first);
    block.kernels->pack(c->q + first * c->nq, c->nq, c->nq, block.count, c->packed_q);
    block.kernels->pack(c->v + first * c->nv, c->nv, c->nv, block.count, c->packed_v);
    constraint_rows_respond(&c->rows, c->model, c->workspace, block, c->packed_q, c->packed_v);
    return block;
}

/* Copies `count` packed numbers of one lane. */
static void copy_lane(const double *packed, size_t count, sample_block block, size_t lane, double *out) {
    for (size_t i = 0; i < count; i++) {
        out[i] = packed[i * block.lanes + lane];
    }
}

/* Computes the rows A and their bias in sample s by the library's public functions. */
static void find_rows(test_case *c, size_t s, double *bias) {
    dyn_error error;
    size_t nv = c->nv, row = 0;
    memset(c->A, 0, CAPACITY * nv * sizeof *c->A);
    memset(bias, 0, CAPACITY * sizeof *bias);
    for (size_t g = 0; g < c->rows.set.group_count; g++) {
        const row_group *group = &c->rows.groups[g];
        for (int k = 0; k < group->term_count; k++) {
            const row_term *t = &group->terms[k];
            if (t->source == ROW_OF_COORDINATE) {
                c->A[row * nv + (size_t)t->index] += t->factor;
                continue;
            }
            double twist[6], rate[6];
            require(dyn_frame_jacobian(c->model, c->workspace, 1, c->q + s * c->nq, t->index, t->reference_frame,
                                       c->six, &error),
                    &error);
            require(dyn_frame_motion(c->model, c->workspace, 1, c->q + s * c->nq, c->v + s * nv, NULL, t->index,
                                     t->reference_frame, twist, rate, NULL, &error),
                    &error);
            for (size_t i = 0, r = row; i < 6; i++) {
                for (size_t j = 0; j < nv && t->rows >> i & 1; j++) {
                    c->A[r * nv + j] += t->factor * c->six[i * nv + j];
                }
                bias[r] += t->rows >> i & 1 ? t->factor * rate[i] : 0;
                r += t->rows >> i & 1;
            }
        }
        row += (size_t)group->count;
    }
}

/* Computes T = M^-1 A' and A T in sample s. */
static void find_response(test_case *c, size_t s) {
    dyn_error error;
    size_t nv = c->nv, m = (size_t)c->rows.set.m;
    require(dyn_minverse(c->model, c->workspace, 1, c->q + s * c->nq, c->inverse, &error), &error);
    for (size_t i = 0; i < nv * m; i++) {
        c->T[i] = 0;
        for (size_t j = 0; j < nv; j++) {
            c->T[i] += c->inverse[i / m * nv + j] * c->A[i % m * nv + j];
        }
    }
    for (size_t i = 0; i < m * m; i++) {
        c->expected[i] = 0;
        for (size_t j = 0; j < nv; j++) {
            c->expected[i] += c->A[i / m * nv + j] * c->T[j * m + i % m];
        }
    }
}

START_TEST(row_response_is_that_of_jacobian_and_mass_matrix) {
    random_source base = random_seed("response of rows", 20261301);
    for (int k = 0; k < TREES; k++) {
        random_source random = random_case(base, (uint64_t)k);
        test_case c;
        double bias[CAPACITY];
        case_create(&random, k, &c);
        size_t m = (size_t)c.rows.set.m;
        sample_block block = respond(&c, 0, c.n);
        ck_assert_uint_eq(block.count, c.n);
        for (size_t l = 0; l < c.n && m > 0; l++) {
            find_rows(&c, l, bias);
            find_response(&c, l);
            copy_lane(c.rows.A, m * c.nv, block, l, c.numbers);
            assert_close("A", k, c.numbers, c.A, m * c.nv, 1e-11);
            copy_lane(c.rows.bias, m, block, l, c.numbers);
            assert_close("dA/dt v", k, c.numbers, bias, m, 1e-10);
            copy_lane(c.rows.response, m * m, block, l, c.numbers);
            assert_norm_close("A M^-1 A'", k, c.numbers, c.expected, m * m, 1e-9);
            copy_lane(c.rows.accelerations, c.nv * m, block, l, c.numbers);
            assert_norm_close("M^-1 A'", k, c.numbers, c.T, c.nv * m, 1e-9);
        }
        case_free(&c);
    }
}
END_TEST

START_TEST(response_has_the_same_bits_alone_and_in_lanes) {
    random_source base = random_seed("response of rows, bits", 20261302);
    for (int k = 0; k < TREES; k++) {
        random_source random = random_case(base, (uint64_t)k);
        test_case c;
        case_create(&random, k, &c);
        size_t m = (size_t)c.rows.set.m, count = m * m + c.nv * m;
        double *together = numbers(c.n * count), *alone = numbers(count);
        sample_block block = respond(&c, 0, c.n);
        for (size_t l = 0; l < c.n; l++) {
            copy_lane(c.rows.response, m * m, block, l, together + l * count);
            copy_lane(c.rows.accelerations, c.nv * m, block, l, together + l * count + m * m);
        }
        for (size_t l = 0; l < c.n; l++) {
            block = respond(&c, l, 1);
            copy_lane(c.rows.response, m * m, block, 0, alone);
            copy_lane(c.rows.accelerations, c.nv * m, block, 0, alone + m * m);
            for (size_t i = 0; i < count; i++) {
                ck_assert_msg(alone[i] == together[l * count + i], "tree %d, sample %zu, number %zu", k, l, i);
            }
        }
        free(together), free(alone);
        case_free(&c);
    }
}
END_TEST

/* Checks that the multipliers of equality rows satisfy A a + dA/dt v = 0 and the equation of motion in one state, where
 * the rows do not contradict each other. */
START_TEST(multipliers_of_equalities_hold_the_rows) {
    random_source base = random_seed("forward dynamics with equalities", 20261303);
    dyn_error error;
    for (int k = 0; k < TREES; k++) {
        random_source random = random_case(base, (uint64_t)k);
        test_case c;
        case_create(&random, k, &c);
        size_t m = (size_t)c.rows.set.m;
        double *a = numbers(c.nv), *tau = numbers(c.nv), largest = 0;
        sample_block block = respond(&c, 0, 1);
        random_vector(&random, (int)c.nv, 3, tau);
        require(dyn_aba(c.model, c.workspace, 1, NULL, c.q, c.v, tau, NULL, a, &error), &error);
        for (size_t r = 0; r < m; r++) {
            c.rows.lower[r] = -INFINITY, c.rows.upper[r] = INFINITY;
            c.rows.motion[r] = c.rows.bias[r];
            for (size_t j = 0; j < c.nv; j++) {
                c.rows.motion[r] += c.rows.A[r * c.nv + j] * a[j];
                largest = fmax(largest, fabs(c.rows.A[r * c.nv + j] * a[j]));
            }
            largest = fmax(largest, fabs(c.rows.bias[r]));
        }
        const constraint_solution *x = constraint_rows_solve(&c.rows, block, 0);
        constraint_rows_apply(&c.rows, block, 0, (int)c.nv, a);
        ck_assert_int_le(x->rank, (int)(m < c.nv ? m : c.nv));
        for (size_t r = 0; r < m && x->residual <= 1e-9 * largest; r++) {
            double motion = c.rows.bias[r];
            for (size_t j = 0; j < c.nv; j++) {
                motion += c.rows.A[r * c.nv + j] * a[j];
            }
            ck_assert_msg(fabs(motion) <= 1e-6 * fmax(1, largest), "tree %d: row %zu still moves at %g", k, r, motion);
        }
        ck_assert_msg(x->rank < (int)m || x->residual <= 1e-9 * fmax(1, largest),
                      "tree %d: independent rows are not held: %g", k, x->residual);
        free(a), free(tau);
        case_free(&c);
    }
}
END_TEST

/* ---- Solver ------------------------------------------------------------------------------------------------------ */

/* Random problem: R = B B', where B has `inner` columns, and bounds of every kind. */
typedef struct random_problem {
    double B[SMALL * SMALL], R[SMALL * SMALL], r[SMALL], lower[SMALL], upper[SMALL];
    constraint_problem problem;
} random_problem;

static void random_bounds(random_source *random, int kind, double *lower, double *upper) {
    static const double kinds[6][2] = {{-INFINITY, INFINITY}, {0, INFINITY}, {-INFINITY, 0}, {-1, 1}, {0, 0}, {-2, -1}};
    double scale = random_uniform(random, 0.1, 2);
    *lower = kinds[kind][0] * scale, *upper = kinds[kind][1] * scale;
    *lower = isnan(*lower) ? 0 : *lower, *upper = isnan(*upper) ? 0 : *upper;
}

static void problem_create(random_source *random, int m, int inner, int kinds, random_problem *p) {
    random_vector(random, SMALL * SMALL, 1, p->B);
    random_vector(random, SMALL, 2, p->r);
    for (int i = 0; i < m * m; i++) {
        p->R[i] = 0;
        for (int j = 0; j < inner; j++) {
            p->R[i] += p->B[i / m * SMALL + j] * p->B[i % m * SMALL + j];
        }
    }
    for (int i = 0; i < m; i++) {
        random_bounds(random, random_index(random, kinds), &p->lower[i], &p->upper[i]);
    }
    p->problem = (constraint_problem){m, p->R, p->r, p->lower, p->upper};
}

/* Returns memory for the arrays of *solution, which then point into it; the caller frees it. */
static void *solution_create(int m, constraint_solution *solution) {
    void *memory = aligned_alloc(64, constraint_solution_lay_out(m, 0, solution) + 64);
    constraint_solution_lay_out(m, (uintptr_t)memory, solution);
    return memory;
}

/* Checks to `tolerance` that the multipliers are within their bounds, and that a row moves only in the direction that a
 * multiplier at its bound cannot prevent (solve.h). */
static void check_conditions(int k, const constraint_problem *p, const constraint_solution *x, double tolerance) {
    for (int i = 0; i < p->m; i++) {
        double w = p->motion[i], size = fabs(w), lambda = x->multipliers[i];
        for (int j = 0; j < p->m; j++) {
            w += p->response[i * p->m + j] * x->multipliers[j];
            size += fabs(p->response[i * p->m + j] * x->multipliers[j]);
        }
        ck_assert_msg(lambda >= p->lower[i] && lambda <= p->upper[i], "%d: multiplier %g outside %g to %g", k, lambda,
                      p->lower[i], p->upper[i]);
        ck_assert_msg(lambda == p->upper[i] || w >= -tolerance * size, "%d: row %d moves at %g", k, i, w);
        ck_assert_msg(lambda == p->lower[i] || w <= tolerance * size, "%d: row %d moves at %g", k, i, w);
    }
}

/* Solves S x = b by elimination with pivots; x contains b on entry. Changes S. Returns false where S is singular. */
static bool eliminate(int n, double *S, double *x) {
    for (int i = 0; i < n; i++) {
        int best = i;
        for (int j = i; j < n; j++) {
            best = fabs(S[j * n + i]) > fabs(S[best * n + i]) ? j : best;
        }
        if (fabs(S[best * n + i]) < 1e-9) {
            return false;
        }
        for (int j = 0; j <= n; j++) {
            double *a = j < n ? &S[i * n + j] : &x[i], *b = j < n ? &S[best * n + j] : &x[best], kept = *a;
            *a = *b, *b = kept;
        }
        for (int row = 0; row < n; row++) {
            double factor = row == i ? 0 : S[row * n + i] / S[i * n + i];
            for (int j = i; j < n; j++) {
                S[row * n + j] -= factor * S[i * n + j];
            }
            x[row] -= factor * x[i];
        }
    }
    for (int i = 0; i < n; i++) {
        x[i] /= S[i * n + i];
    }
    return true;
}

/* Computes the multipliers of active set number `set`: digit i of `set` in base 3 states whether row i is free (0), or
 * its multiplier at the lower (1) or upper (2) bound. Returns whether the multipliers meet all conditions. */
static bool is_solved_by(const constraint_problem *p, int set, double *lambda) {
    int state[SMALL], m = p->m;
    double S[SMALL * SMALL];
    for (int i = 0; i < m; i++, set /= 3) {
        state[i] = set % 3;
        double bound = state[i] == 1 ? p->lower[i] : p->upper[i];
        if (state[i] != 0 && isinf(bound)) {
            return false;
        }
        lambda[i] = state[i] == 0 ? -p->motion[i] : bound;
    }
    for (int i = 0; i < m * m; i++) {
        S[i] = state[i / m] == 0 ? p->response[i] : i / m == i % m;
    }
    if (!eliminate(m, S, lambda)) {
        return false;
    }
    for (int i = 0; i < m; i++) {
        double w = p->motion[i];
        for (int j = 0; j < m; j++) {
            w += p->response[i * m + j] * lambda[j];
        }
        bool is_within = lambda[i] >= p->lower[i] - 1e-12 && lambda[i] <= p->upper[i] + 1e-12;
        bool is_right = state[i] == 0 || p->lower[i] == p->upper[i] || (state[i] == 1 ? w >= -1e-12 : w <= 1e-12);
        if (!is_within || !is_right) {
            return false;
        }
    }
    return true;
}

START_TEST(multipliers_are_those_of_the_only_valid_active_set) {
    random_source base = random_seed("active sets", 20261304);
    int found = 0;
    for (int k = 0; k < PROBLEMS; k++) {
        random_source random = random_case(base, (uint64_t)k);
        random_problem p;
        constraint_solution x;
        double expected[SMALL];
        int m = 1 + k % SMALL, sets = 1;
        void *memory = solution_create(m, &x);
        problem_create(&random, m, SMALL, 6, &p);
        for (int i = 0; i < m; i++) {
            sets *= 3;
        }
        constraint_solve(&p.problem, &x);
        check_conditions(k, &p.problem, &x, 1e-9);
        ck_assert_double_le(x.residual, 1e-9);
        for (int set = 0; set < sets; set++) {
            if (is_solved_by(&p.problem, set, expected)) {
                assert_norm_close("multipliers", k, x.multipliers, expected, (size_t)m, 1e-6);
                found++;
                break;
            }
        }
        free(memory);
    }
    ck_assert_int_gt(found, PROBLEMS * 9 / 10);
}
END_TEST

START_TEST(dependent_rows_are_solved) {
    random_source base = random_seed("dependent rows", 20261305);
    for (int k = 0; k < PROBLEMS; k++) {
        random_source random = random_case(base, (uint64_t)k);
        random_problem p;
        constraint_solution x;
        int inner = 1 + random_index(&random, SMALL - 1);
        double v[SMALL];
        void *memory = solution_create(SMALL, &x);
        /* One-sided rows that the motion v of the unconstrained body violates can all be met at rest. */
        problem_create(&random, SMALL, inner, 3, &p);
        random_vector(&random, inner, 2, v);
        for (int i = 0; i < SMALL; i++) {
            p.r[i] = 0;
            for (int j = 0; j < inner; j++) {
                p.r[i] += p.B[i * SMALL + j] * v[j];
            }
        }
        constraint_solve(&p.problem, &x);
        ck_assert_int_le(x.rank, inner);
        check_conditions(k, &p.problem, &x, 1e-7);
        free(memory);
    }
}
END_TEST

/* Checks rows that are linearly dependent but for a small term on the diagonal of R, with bounds far beyond the
 * multipliers. */
START_TEST(nearly_dependent_rows_with_distant_bounds_are_solved) {
    static const double shares[] = {1e-13, 1e-12, 1e-11, 1e-10};
    random_source base = random_seed("nearly dependent rows", 20261306);
    for (int k = 0; k < PROBLEMS; k++) {
        random_source random = random_case(base, (uint64_t)k);
        random_problem p;
        constraint_solution x;
        int inner = 1 + random_index(&random, SMALL - 1);
        double v[SMALL];
        void *memory = solution_create(SMALL, &x);
        problem_create(&random, SMALL, inner, 4, &p);
        random_vector(&random, inner, 2, v);
        for (int i = 0; i < SMALL; i++) {
            p.lower[i] *= 1e6, p.upper[i] *= 1e6;
            p.R[i * SMALL + i] += shares[k % 4];
            p.r[i] = 0;
            for (int j = 0; j < inner; j++) {
                p.r[i] += p.B[i * SMALL + j] * v[j];
            }
        }
        constraint_solve(&p.problem, &x);
        check_conditions(k, &p.problem, &x, 1e-7);
        free(memory);
    }
}
END_TEST

START_TEST(contradictory_rows_are_reported) {
    const double R[4] = {2, -2, -2, 2}, r[2] = {-1, -1}, lower[2] = {0, 0}, upper[2] = {INFINITY, INFINITY};
    const double free_lower[2] = {-INFINITY, -INFINITY}, zero[4] = {0};
    constraint_solution x;
    void *memory = solution_create(2, &x);
    constraint_solve(&(constraint_problem){2, R, r, lower, upper}, &x);
    ck_assert_double_gt(x.residual, 0.5);
    ck_assert(isfinite(x.multipliers[0]) && isfinite(x.multipliers[1]));
    constraint_solve(&(constraint_problem){2, R, r, free_lower, upper}, &x);
    ck_assert_double_gt(x.residual, 0.5);
    ck_assert_int_eq(x.rank, 1);
    ck_assert(isfinite(x.multipliers[0]) && isfinite(x.multipliers[1]));
    /* Rows on which multipliers have no effect. */
    constraint_solve(&(constraint_problem){2, zero, r, lower, upper}, &x);
    ck_assert_double_eq(x.residual, 1);
    ck_assert(x.multipliers[0] == 0 && x.multipliers[1] == 0);
    free(memory);
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("constraint rows");
    tcase_add_test(tests, row_response_is_that_of_jacobian_and_mass_matrix);
    tcase_add_test(tests, response_has_the_same_bits_alone_and_in_lanes);
    tcase_add_test(tests, multipliers_of_equalities_hold_the_rows);
    tcase_add_test(tests, multipliers_are_those_of_the_only_valid_active_set);
    tcase_add_test(tests, dependent_rows_are_solved);
    tcase_add_test(tests, nearly_dependent_rows_with_distant_bounds_are_solved);
    tcase_add_test(tests, contradictory_rows_are_reported);
    return run_properties("constraint rows", tests);
}
