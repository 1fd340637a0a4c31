/* SPDX-License-Identifier: BSD-2-Clause */
#include "identities.h"

#include <stdio.h>
#include <stdlib.h>

#include "assertions.h"
#include "golden.h"
#include "random_tree.h"

enum { MAX_JOINTS = 60 };

/* Identities that the tests check; identity_tests sets the pointer before they run. */
static const identity *all;

void multiply(const double *A, const double *x, size_t rows, size_t columns, double *y) {
    for (size_t i = 0; i < rows; i++) {
        y[i] = dot(A + i * columns, x, columns);
    }
}

double dot(const double *x, const double *y, size_t count) {
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += x[i] * y[i];
    }
    return sum;
}

void difference(double *x, const double *y, size_t count, double step) {
    for (size_t i = 0; i < count; i++) {
        x[i] = (x[i] - y[i]) / (2 * step);
    }
}

static dyn_model *create_tree(random_source *random, int k) {
    random_tree_options options = {.joints = 1 + random_index(random, MAX_JOINTS),
                                   .base = k % 2 ? DYN_BASE_FLOATING : DYN_BASE_FIXED,
                                   .with_mimic = k % 3 == 0,
                                   .with_custom = k % 5 == 4,
                                   .with_fixed = true};
    return random_tree(random, &options);
}

/* Creates a random state of a model; the case owns the model from then on. */
static identity_case case_create(random_source *random, dyn_model *model) {
    identity_case c = {.model = model, .nq = (size_t)dyn_model_nq(model), .nv = (size_t)dyn_model_nv(model)};
    c.random = random;
    dyn_error error;
    require(dyn_workspace_create(model, &c.w, &error), &error);
    size_t nv = c.nv;
    c.q = numbers(c.nq), c.forward = numbers(c.nq), c.back = numbers(c.nq);
    c.v = numbers(nv), c.a = numbers(nv), c.x = numbers(12 * nv + 12), c.y = numbers(12 * nv + 12);
    c.M = numbers(nv * nv), c.N = numbers(nv * nv), c.C = numbers(nv * nv);
    random_configuration(random, model, 2, c.q);
    random_vector(random, (int)nv, 1.5, c.v);
    random_vector(random, (int)nv, 3, c.a);
    require(dyn_integrate(model, 1, c.q, c.v, IDENTITY_STEP, c.forward, &error), &error);
    require(dyn_integrate(model, 1, c.q, c.v, -IDENTITY_STEP, c.back, &error), &error);
    return c;
}

static void case_free(identity_case *c) {
    free(c->q), free(c->v), free(c->a), free(c->forward), free(c->back);
    free(c->x), free(c->y), free(c->M), free(c->N), free(c->C);
    dyn_workspace_free(c->w);
    dyn_model_free(c->model);
}

static void check(int i, int k, random_source *random, dyn_model *model) {
    identity_case c = case_create(random, model);
    all[i].check(&c, k);
    case_free(&c);
}

START_TEST(identity_holds_on_random_trees) {
    random_source base = random_seed(all[_i].name, 500 + (uint64_t)_i);
    for (int k = 0; k < all[_i].cases; k++) {
        random_source random = random_case(base, (uint64_t)k);
        check(_i, k, &random, create_tree(&random, k));
    }
}
END_TEST

START_TEST(identity_holds_on_reference_robots) {
    random_source base = random_seed(all[_i].name, 900 + (uint64_t)_i);
    char **files = golden_files();
    ck_assert_ptr_nonnull(files);
    for (int k = 0; files[k]; k++) {
        random_source random = random_case(base, (uint64_t)k);
        dyn_model *model = golden_robot(files[k]);
        if (model) {
            check(_i, k, &random, model);
        }
    }
    golden_files_free(files);
}
END_TEST

TCase *identity_tests(const identity *identities, int count) {
    TCase *tests = tcase_create("identities");
    all = identities;
    tcase_set_timeout(tests, 240);
    tcase_add_loop_test(tests, identity_holds_on_random_trees, 0, count);
    tcase_add_loop_test(tests, identity_holds_on_reference_robots, 0, count);
    return tests;
}
