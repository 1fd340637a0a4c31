/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bounds rounding errors of the algorithms on badly scaled robots: double precision compared with the same kernels in
 * quadruple precision.
 *
 * The robots are chains of 200 bodies whose masses differ by up to 1e8: light to heavy, heavy to light and mixed.
 * Errors are relative to a result's norm.
 */
#include <check.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include <dynamics/dynamics.h>

#include "support/assertions.h"
#include "support/oracle/oracle.h"
#include "support/random_tree.h"

typedef __float128 quad;

enum { BODIES = 200, ENTRIES = BODIES * BODIES, CASES = 6, SETS = 4 };

static void *zeros(size_t count, size_t size) {
    void *x = calloc(count + 1, size);
    ck_assert_ptr_nonnull(x);
    return x;
}

/* Returns the mass of body i, 1e-4 to 1e4: growing (kind 0), falling (kind 1) or random. */
static double body_mass(random_source *random, int kind, int i) {
    double place = (double)i / (BODIES - 1);
    double exponent = kind == 0 ? place : kind == 1 ? 1 - place : random_uniform(random, 0, 1);
    return pow(10, 8 * exponent - 4);
}

static dyn_model *build_chain(random_source *random, int kind) {
    dyn_builder *builder = NULL;
    dyn_model *model = NULL;
    dyn_error error;
    require(dyn_builder_create("chain", &builder, &error), &error);
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
                                             .type = DYN_JOINT_TYPE_REVOLUTE,
                                             .parent_link = parent,
                                             .child_link = child,
                                             .rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
        random_vector(random, 3, 0.1, link.inertia.center_of_mass);
        random_vector(random, 3, 0.2, description.position);
        random_unit(random, 3, description.axis);
        require(dyn_builder_add_link(builder, &link, &error), &error);
        require(dyn_builder_add_joint(builder, &description, &error), &error);
    }
    require(dyn_builder_build(builder, &(dyn_build_options)DYN_BUILD_OPTIONS_INIT(), NULL, &model, &error), &error);
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

/* Chain in one state, for double and quadruple precision, with memory for the results of both. */
typedef struct sides {
    dyn_model *model;
    dyn_workspace *w, *workspaces[SETS];
    bool is_exact; /* y has the oracle's result: only w computes */
    void *memory;  /* of the oracle */
    double q[BODIES], v[BODIES], a[BODIES], gravity[3];
    quad *Q, *V, *A, *zero, *pivots;
    double *x; /* 3 ENTRIES */
    quad *y;
} sides;

static const kernel_table *const oracle = &dyn_kernel_table_float128;

/* Names of the instruction sets. Where the processor lacks one, its best one replaces it. */
static const char *const instruction_sets[SETS] = {"scalar", "sse2", "avx2", "avx512"};

static void create_workspaces(sides *s) {
    dyn_error error;
    for (int i = 0; i < SETS; i++) {
        ck_assert_int_eq(setenv("DYNAMICS_INSTRUCTION_SET", instruction_sets[i], 1), 0);
        require(dyn_workspace_create(s->model, &s->workspaces[i], &error), &error);
    }
}

static sides sides_create(random_source *random, int kind) {
    sides s = {.model = build_chain(random, kind), .gravity = {0, 0, -9.81}};
    create_workspaces(&s);
    random_vector(random, BODIES, 3, s.q), random_vector(random, BODIES, 2, s.v);
    random_vector(random, BODIES, 2, s.a);
    s.Q = widen(s.q, BODIES), s.V = widen(s.v, BODIES), s.A = widen(s.a, BODIES);
    s.zero = zeros(BODIES, sizeof *s.zero), s.pivots = zeros(BODIES, sizeof *s.pivots);
    s.x = numbers(3 * ENTRIES), s.y = zeros(3 * ENTRIES, sizeof *s.y);
    s.memory = zeros(oracle->memory_size(s.model), 1);
    return s;
}

static void sides_free(sides *s) {
    free(s->Q), free(s->V), free(s->A), free(s->zero), free(s->pivots), free(s->x), free(s->y), free(s->memory);
    for (int i = 0; i < SETS; i++) {
        dyn_workspace_free(s->workspaces[i]);
    }
    dyn_model_free(s->model);
}

static packed_inputs inputs_of(const sides *s) {
    return (packed_inputs){s->gravity, s->Q, s->V, s->A, NULL};
}

/* ---- quantities: both sides of each; the functions return how many numbers to compare ---------------------------- */

static size_t rnea(sides *s) {
    dyn_error error;
    require(dyn_rnea(s->model, s->w, 1, NULL, s->q, s->v, s->a, NULL, s->x, &error), &error);
    if (!s->is_exact) {
        const packed_inputs in = inputs_of(s);
        oracle->rnea(s->model, s->memory, &in, s->y);
    }
    return BODIES;
}

static size_t crba(sides *s) {
    dyn_error error;
    require(dyn_crba(s->model, s->w, 1, s->q, s->x, &error), &error);
    if (!s->is_exact) {
        oracle->crba(s->model, s->memory, s->Q, s->y);
    }
    return ENTRIES;
}

static size_t aba(sides *s) {
    dyn_error error;
    require(dyn_aba(s->model, s->w, 1, NULL, s->q, s->v, s->a, NULL, s->x, &error), &error);
    if (!s->is_exact) {
        const packed_inputs in = inputs_of(s);
        oracle->forward_dynamics(s->model, s->memory, &in, s->pivots, s->y);
    }
    return BODIES;
}

static size_t minverse(sides *s) {
    dyn_error error;
    require(dyn_minverse(s->model, s->w, 1, s->q, s->x, &error), &error);
    if (!s->is_exact) {
        oracle->minverse(s->model, s->memory, s->Q, s->pivots, s->y);
    }
    return ENTRIES;
}

static size_t coriolis_matrix(sides *s) {
    dyn_error error;
    require(dyn_coriolis_matrix(s->model, s->w, 1, s->q, s->v, s->x, &error), &error);
    if (!s->is_exact) {
        oracle->coriolis(s->model, s->memory, s->Q, s->V, s->y);
    }
    return ENTRIES;
}

/* Computes the centroidal momentum matrix A_G and its rate; returns the number of values. */
static size_t centroidal(sides *s) {
    dyn_error error;
    quad inertia[9];
    const size_t size = 6 * BODIES;
    require(dyn_centroidal(s->model, s->w, 1, s->q, s->v, NULL, s->x, s->x + size, &error), &error);
    if (!s->is_exact) {
        oracle->centroidal(s->model, s->memory, s->Q, s->V, s->zero, inertia, s->y, s->y + size);
    }
    return 2 * size;
}

static size_t jacobian_rate(sides *s) {
    dyn_error error;
    quad twist[6], rate[6];
    require(dyn_frame_motion(s->model, s->w, 1, s->q, s->v, s->a, BODIES, DYN_REFERENCE_FRAME_WORLD, NULL, NULL, s->x,
                             &error),
            &error);
    if (!s->is_exact) {
        const frame_rates rates = {twist, rate, s->y};
        oracle->frame_motion(s->model, s->memory, s->Q, s->V, s->A, BODIES, DYN_REFERENCE_FRAME_WORLD, &rates);
    }
    return 6 * BODIES;
}

static size_t rnea_derivatives(sides *s) {
    dyn_error error;
    double *x = s->x;
    quad *y = s->y;
    require(
        dyn_rnea_derivatives(s->model, s->w, 1, NULL, s->q, s->v, s->a, NULL, x, x + ENTRIES, x + 2 * ENTRIES, &error),
        &error);
    if (!s->is_exact) {
        const packed_inputs in = inputs_of(s);
        const derivative_matrices dtau = {y, y + ENTRIES, y + 2 * ENTRIES};
        oracle->rnea_derivatives(s->model, s->memory, &in, &dtau);
    }
    return ENTRIES;
}

static size_t aba_derivatives(sides *s) {
    dyn_error error;
    double *x = s->x;
    quad *y = s->y;
    require(
        dyn_aba_derivatives(s->model, s->w, 1, NULL, s->q, s->v, s->a, NULL, x, x + ENTRIES, x + 2 * ENTRIES, &error),
        &error);
    if (!s->is_exact) {
        const packed_inputs in = inputs_of(s);
        const derivative_matrices da = {y, y + ENTRIES, y + 2 * ENTRIES};
        oracle->aba_derivatives(s->model, s->memory, &in, s->pivots, &da);
    }
    return ENTRIES;
}

/* Quantities with the largest errors allowed. The derivatives of ABA and M^-1 are solved for with M, in which the
 * masses of heavy links hide those of light ones; ABA never forms M. */
static const struct {
    const char *name;
    double bound;
    size_t (*compute)(sides *s);
} quantities[] = {
    {"RNEA", 1e-13, rnea},
    {"CRBA", 1e-13, crba},
    {"ABA", 1e-10, aba},
    {"M^-1", 1e-3, minverse},
    {"Coriolis matrix", 1e-13, coriolis_matrix},
    {"A_G, dA_G/dt", 1e-13, centroidal},
    {"dJ/dt", 1e-13, jacobian_rate},
    {"dRNEA/dq", 1e-13, rnea_derivatives},
    {"dABA/dq", 1e-3, aba_derivatives},
};

enum { QUANTITIES = sizeof quantities / sizeof quantities[0] };

/* Returns the largest error over the instruction sets. */
static double worst_error(sides *s, size_t compute(sides *s)) {
    double worst = 0;
    for (int i = 0; i < SETS; i++) {
        s->w = s->workspaces[i], s->is_exact = i > 0;
        size_t count = compute(s);
        worst = larger(worst, error_of(s->x, s->y, count));
    }
    return worst;
}

START_TEST(badly_scaled_chains_keep_their_digits) {
    static const char *const kinds[3] = {"light to heavy", "heavy to light", "mixed"};
    random_source base = random_seed("rounding on chains of 200 bodies", 20261205);
    for (int kind = 0; kind < 3; kind++) {
        double worst[QUANTITIES] = {0};
        for (int k = 0; k < CASES / 3; k++) {
            random_source random = random_case(base, (uint64_t)(3 * k + kind));
            sides s = sides_create(&random, kind);
            for (int i = 0; i < QUANTITIES; i++) {
                worst[i] = larger(worst[i], worst_error(&s, quantities[i].compute));
            }
            sides_free(&s);
        }
        for (int i = 0; i < QUANTITIES; i++) {
            printf("%-14s %-15s %.1e\n", kinds[kind], quantities[i].name, worst[i]);
            ck_assert_msg(worst[i] <= quantities[i].bound, "%s, %s: off by %g of its norm", kinds[kind],
                          quantities[i].name, worst[i]);
        }
    }
}
END_TEST

/* ---- forward dynamics by formulations ---------------------------------------------------------------------------- */

/* Ways of forward dynamics: articulated bodies in the axes of their links or of the world, which never form M; and
 * M = L D L', in whose entries heavy links hide light ones. */
typedef enum forward_way { LINK_AXES, WORLD_AXES, MASS_MATRIX, CONSTRAINT_FORCES } forward_way;

static const struct {
    const char *name;
    forward_way way;
} formulations[] = {
    {"spatial_operator_algebra", LINK_AXES},
    {"absolute_coordinates", WORLD_AXES},
    {"screws", LINK_AXES},
    {"vereshchagin", WORLD_AXES},
    {"walker_orin", MASS_MATRIX},
    {"lilly_orin", MASS_MATRIX},
    {"newton_euler", MASS_MATRIX},
    {"book_flexible", MASS_MATRIX},
    {"constraint_force", CONSTRAINT_FORCES},
};

enum { FORMULATIONS = sizeof formulations / sizeof formulations[0] };

static double error_of_formulation(sides *s, const char *name) {
    dyn_error error;
    dyn_formulation *f;
    require(dyn_formulation_create(s->model, name, &f, &error), &error);
    require(dyn_formulation_forward_dynamics(f, 1, NULL, s->q, s->v, s->a, s->x, &error), &error);
    dyn_formulation_free(f);
    return error_of(s->x, s->y, BODIES);
}

/* The ABA is more accurate than the CRBA (Featherstone and Orin 2000): at least with vectors in the axes of the links.
 * Constraint forces, which need no M, are about as accurate as the ABA in axes of the world. Errors are relative to the
 * kernels in quadruple precision. */
START_TEST(articulated_bodies_are_more_accurate_than_the_mass_matrix) {
    static const char *const kinds[3] = {"light to heavy", "heavy to light", "mixed"};
    random_source base = random_seed("forward dynamics of chains of 200 bodies", 20261123);
    for (int kind = 0; kind < 3; kind++) {
        double worst[FORMULATIONS] = {0}, worst_body = 0, best_matrix = INFINITY;
        for (int k = 0; k < CASES / 3; k++) {
            random_source random = random_case(base, (uint64_t)(3 * k + kind));
            sides s = sides_create(&random, kind);
            s.w = s.workspaces[0];
            aba(&s);
            for (int i = 0; i < FORMULATIONS; i++) {
                worst[i] = larger(worst[i], error_of_formulation(&s, formulations[i].name));
            }
            sides_free(&s);
        }
        for (int i = 0; i < FORMULATIONS; i++) {
            printf("%-14s %-27s %.1e\n", kinds[kind], formulations[i].name, worst[i]);
            worst_body = formulations[i].way == LINK_AXES ? larger(worst_body, worst[i]) : worst_body;
            ck_assert_msg(formulations[i].way != CONSTRAINT_FORCES || worst[i] <= 1e-9, "%s: off by %g of its norm",
                          formulations[i].name, worst[i]);
            best_matrix = formulations[i].way == MASS_MATRIX ? fmin(best_matrix, worst[i]) : best_matrix;
        }
        ck_assert_double_lt(worst_body, best_matrix);
    }
}
END_TEST

int main(void) {
    TCase *chains = tcase_create("chains");
    tcase_set_timeout(chains, 240);
    tcase_add_test(chains, badly_scaled_chains_keep_their_digits);
    tcase_add_test(chains, articulated_bodies_are_more_accurate_than_the_mass_matrix);
    return run_properties("precision", chains);
}
