/*
 * What the algorithms lose to rounding on badly scaled robots: doubles against the same kernels in quadruple precision.
 *
 * Chains of 200 bodies whose masses differ by up to 1e8: light to heavy, heavy to light and mixed. Errors are of a
 * result's norm.
 */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <dynamics/dynamics.h>

#include "support/assertions.h"
#include "support/oracle/oracle.h"
#include "support/random_tree.h"

typedef __float128 quad;

enum { BODIES = 200, CASES = 6, QUANTITIES = 5 };

typedef enum quantity { RNEA, CRBA, ABA, D_RNEA, D_ABA } quantity;

static const char *const names[QUANTITIES] = {"RNEA", "CRBA", "ABA", "dRNEA/dq", "dABA/dq"};

/* Largest errors allowed. The derivatives of ABA are solved for with M, in which heavy links drown the light ones; ABA
 * never forms it. */
static const double bounds[QUANTITIES] = {1e-13, 1e-13, 1e-10, 1e-13, 1e-2};

static void *zeros(size_t count, size_t size) {
    void *x = calloc(count + 1, size);
    ck_assert_ptr_nonnull(x);
    return x;
}

/* Mass of body i: 1e-4 to 1e4, growing, falling or random. */
static double body_mass(random_source *random, int kind, int i) {
    double place = (double)i / (BODIES - 1);
    double exponent = kind == 0 ? place : kind == 1 ? 1 - place : random_uniform(random, 0, 1);
    return pow(10, 8 * exponent - 4);
}

static dyn_model *build_chain(random_source *random, int kind) {
    dyn_builder *builder = NULL;
    dyn_model *model = NULL;
    dyn_error error;
    require(dyn_builder_create("chain", &error, &builder), &error);
    require(dyn_builder_add_link(builder, &(dyn_link_description){.name = "link0"}, &error), &error);
    for (int i = 1; i <= BODIES; i++) {
        char joint[16], parent[16], child[16];
        snprintf(joint, sizeof joint, "joint%d", i);
        snprintf(parent, sizeof parent, "link%d", i - 1);
        snprintf(child, sizeof child, "link%d", i);
        double mass = body_mass(random, kind, i - 1), moment = 0.01 * mass;
        dyn_link_description link = {.name = child,
                                     .inertia = {.mass = mass, .rotational = {moment, 0, 0, moment, 0, moment}}};
        dyn_joint_description description = {.name = joint,
                                             .type = DYN_JOINT_REVOLUTE,
                                             .parent_link = parent,
                                             .child_link = child,
                                             .rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
        random_vector(random, 3, 0.1, link.inertia.center_of_mass);
        random_vector(random, 3, 0.2, description.position);
        random_unit(random, 3, description.axis);
        require(dyn_builder_add_link(builder, &link, &error), &error);
        require(dyn_builder_add_joint(builder, &description, &error), &error);
    }
    require(dyn_builder_build(builder, &(dyn_build_options){0}, NULL, &error, &model), &error);
    dyn_builder_free(builder);
    return model;
}

static quad *widen(const double *x, size_t count) {
    quad *wide = zeros(count, sizeof *wide);
    for (size_t i = 0; i < count; i++) {
        wide[i] = x[i];
    }
    return wide;
}

static double error_of(const double *x, const quad *exact, size_t count) {
    double off = 0, square = 0;
    for (size_t i = 0; i < count; i++) {
        double difference = (double)(x[i] - exact[i]), y = (double)exact[i];
        off += difference * difference, square += y * y;
    }
    return sqrt(off / square);
}

/* Errors of all quantities on one chain; those larger than in `worst` replace them. */
static void measure(random_source *random, int kind, double worst[QUANTITIES]) {
    enum { N = BODIES, ENTRIES = BODIES * BODIES };
    const kernel_table *oracle = &dyn_kernel_table_float128;
    dyn_model *model = build_chain(random, kind);
    dyn_workspace *w = NULL;
    dyn_error error;
    require(dyn_workspace_create(model, &error, &w), &error);
    double q[N], v[N], a[N], gravity[3] = {0, 0, -9.81}, found[QUANTITIES];
    random_vector(random, N, 3, q), random_vector(random, N, 2, v), random_vector(random, N, 2, a);
    quad *Q = widen(q, N), *V = widen(v, N), *A = widen(a, N), *Y = zeros(3 * ENTRIES, sizeof *Y);
    quad *pivots = zeros(N, sizeof *pivots);
    double *X = numbers(3 * ENTRIES);
    void *memory = zeros(oracle->memory_size(model), 1);

    require(dyn_rnea(model, w, 1, NULL, q, v, a, NULL, &error, X), &error);
    oracle->rnea(model, memory, gravity, Q, V, A, NULL, Y);
    found[RNEA] = error_of(X, Y, N);
    require(dyn_crba(model, w, 1, q, &error, X), &error);
    oracle->crba(model, memory, Q, Y);
    found[CRBA] = error_of(X, Y, ENTRIES);
    require(dyn_aba(model, w, 1, NULL, q, v, a, NULL, &error, X), &error);
    oracle->aba(model, memory, gravity, Q, V, A, NULL, pivots, Y);
    found[ABA] = error_of(X, Y, N);
    require(dyn_rnea_derivatives(model, w, 1, NULL, q, v, a, NULL, &error, X, X + ENTRIES, X + 2 * ENTRIES), &error);
    oracle->rnea_derivatives(model, memory, gravity, Q, V, A, NULL, Y, Y + ENTRIES, Y + 2 * ENTRIES);
    found[D_RNEA] = error_of(X, Y, ENTRIES);
    require(dyn_aba_derivatives(model, w, 1, NULL, q, v, a, NULL, &error, X, X + ENTRIES, X + 2 * ENTRIES), &error);
    oracle->aba_derivatives(model, memory, gravity, Q, V, A, NULL, pivots, Y, Y + ENTRIES, Y + 2 * ENTRIES);
    found[D_ABA] = error_of(X, Y, ENTRIES);

    for (int i = 0; i < QUANTITIES; i++) {
        worst[i] = fmax(worst[i], found[i]);
    }
    free(Q), free(V), free(A), free(Y), free(pivots), free(X), free(memory);
    dyn_workspace_free(w);
    dyn_model_free(model);
}

START_TEST(badly_scaled_chains_keep_their_digits) {
    static const char *const kinds[3] = {"light to heavy", "heavy to light", "mixed"};
    random_source base = random_seed("rounding on chains of 200 bodies", 20261205);
    for (int kind = 0; kind < 3; kind++) {
        double worst[QUANTITIES] = {0};
        for (int k = 0; k < CASES / 3; k++) {
            random_source random = random_case(base, (uint64_t)(3 * k + kind));
            measure(&random, kind, worst);
        }
        for (int i = 0; i < QUANTITIES; i++) {
            printf("%-14s %-8s %.1e\n", kinds[kind], names[i], worst[i]);
            ck_assert_msg(worst[i] <= bounds[i], "%s, %s: off by %g of its norm", kinds[kind], names[i], worst[i]);
        }
    }
}
END_TEST

int main(void) {
    TCase *chains = tcase_create("chains");
    tcase_set_timeout(chains, 240);
    tcase_add_test(chains, badly_scaled_chains_keep_their_digits);
    return run_properties("precision", chains);
}
