/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compares every formulation with RNEA, CRBA and ABA. The tests run over the table of formulations, so that a new row
 * is tested at once.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dynamics/dynamics.h>

#include "support/assertions.h"
#include "support/random_chain.h"
#include "support/random_tree.h"

enum { CASES = 60, MOST_JOINTS = 9 };

/* Kinds of models, by their joints: revolute chains; chains and trees of revolute, prismatic and continuous joints;
 * trees of spherical joints; chains of most joint types; chains and trees of joints with one coordinate, some of them
 * custom; revolute chains, and trees of revolute, prismatic and helical joints, which turn by multiples of their
 * coordinates; trees of all joint types, such trees with mimic joints, and with custom joints besides. */
typedef enum model_kind {
    ROTARY_CHAIN,
    CHAIN,
    ONE_COORDINATE_TREE,
    SPHERICAL_TREE,
    MIXED_CHAIN,
    CUSTOM_CHAIN,
    CUSTOM_TREE,
    SCALED_ROTARY_CHAIN,
    SCALED_TREE,
    TREE,
    COUPLED_TREE,
    COUPLED_CUSTOM_TREE,
    MODEL_KINDS
} model_kind;

static dyn_model *random_model(random_source *random, model_kind kind, int k) {
    int joints = 1 + k % MOST_JOINTS;
    if (kind < TREE) {
        static const dyn_joint_type types[] = {
            DYN_JOINT_TYPE_CUSTOM,     DYN_JOINT_TYPE_REVOLUTE,  DYN_JOINT_TYPE_PRISMATIC,
            DYN_JOINT_TYPE_CONTINUOUS, DYN_JOINT_TYPE_HELICAL,   DYN_JOINT_TYPE_CYLINDRICAL,
            DYN_JOINT_TYPE_PLANAR,     DYN_JOINT_TYPE_UNIVERSAL, DYN_JOINT_TYPE_SPHERICAL};
        static const struct {
            int first, count;
            bool branches, floats, scaled;
        } chains[] = {
            [ROTARY_CHAIN] = {1, 1, false, false, false},       [CHAIN] = {1, 3, false, false, false},
            [ONE_COORDINATE_TREE] = {1, 3, true, false, false}, [SPHERICAL_TREE] = {8, 1, true, true, false},
            [MIXED_CHAIN] = {1, 8, false, true, false},         [CUSTOM_CHAIN] = {0, 5, false, false, false},
            [CUSTOM_TREE] = {0, 5, true, false, false},         [SCALED_ROTARY_CHAIN] = {1, 1, false, false, true},
            [SCALED_TREE] = {1, 4, true, false, true},
        };
        random_chain_options options = {.joints = joints,
                                        .types = types + chains[kind].first,
                                        .type_count = chains[kind].count,
                                        .branches = chains[kind].branches,
                                        .scaled = chains[kind].scaled,
                                        .base = chains[kind].floats && k % 2 ? DYN_BASE_FLOATING : DYN_BASE_FIXED};
        return random_chain(random, &options);
    }
    random_tree_options options = {.joints = joints,
                                   .base = k % 2 ? DYN_BASE_FIXED : DYN_BASE_FLOATING,
                                   .with_fixed = true,
                                   .with_mimic = kind != TREE,
                                   .with_custom = kind == COUPLED_CUSTOM_TREE,
                                   .mimic = DYN_MIMIC_POLICY_COUPLED};
    return random_tree(random, &options);
}

static bool has_custom_joint(const dyn_model *model) {
    bool found = false;
    for (int j = 0; j < dyn_model_joint_count(model); j++) {
        found = found || dyn_model_joint(model, j)->type == DYN_JOINT_TYPE_CUSTOM;
    }
    return found;
}

/* Model in a state, with the results of the tuned algorithms for it. */
typedef struct reference {
    dyn_model *model;
    size_t nv;
    double *q, *v, *a, *tau, *M, *x;
    double gravity[3];
} reference;

/* Computes the reference of a model, which it owns, in a random state. */
static reference reference_of(random_source *random, dyn_model *model, int k) {
    dyn_error error;
    dyn_workspace *w;
    reference r = {.model = model};
    r.nv = (size_t)dyn_model_nv(r.model);
    r.q = numbers((size_t)dyn_model_nq(r.model)), r.v = numbers(r.nv), r.a = numbers(r.nv), r.tau = numbers(r.nv);
    r.M = numbers(r.nv * r.nv), r.x = numbers(r.nv * r.nv);
    random_configuration(random, r.model, 2, r.q);
    random_vector(random, (int)r.nv, 2, r.v);
    random_vector(random, (int)r.nv, 3, r.a);
    random_vector(random, 3, 10, r.gravity);
    require(dyn_workspace_create(r.model, &w, &error), &error);
    require(dyn_rnea(r.model, w, 1, r.gravity, r.q, r.v, r.a, NULL, r.tau, &error), &error);
    require(dyn_crba(r.model, w, 1, r.q, r.M, &error), &error);
    double *back = numbers(r.nv);
    require(dyn_aba(r.model, w, 1, r.gravity, r.q, r.v, r.tau, NULL, back, &error), &error);
    assert_norm_close("ABA(RNEA(a)) = a", k, back, r.a, r.nv, 1e-9);
    free(back);
    dyn_workspace_free(w);
    return r;
}

static reference reference_at(random_source *random, model_kind kind, int k) {
    return reference_of(random, random_model(random, kind, k), k);
}

static void clear_reference(reference *r) {
    free(r->q), free(r->v), free(r->a), free(r->tau), free(r->M), free(r->x);
    dyn_model_free(r->model);
}

static void compare(const char *name, int k, const reference *r) {
    dyn_error error;
    dyn_formulation *f;
    char what[96];
    require(dyn_formulation_create(r->model, name, &f, &error), &error);
    snprintf(what, sizeof what, "inverse dynamics by %s", name);
    require(dyn_formulation_inverse_dynamics(f, 1, r->gravity, r->q, r->v, r->a, r->x, &error), &error);
    assert_norm_close(what, k, r->x, r->tau, r->nv, 1e-9);
    snprintf(what, sizeof what, "mass matrix by %s", name);
    require(dyn_formulation_mass_matrix(f, 1, r->q, r->x, &error), &error);
    assert_norm_close(what, k, r->x, r->M, r->nv * r->nv, 1e-9);
    snprintf(what, sizeof what, "forward dynamics by %s", name);
    require(dyn_formulation_forward_dynamics(f, 1, r->gravity, r->q, r->v, r->tau, r->x, &error), &error);
    assert_norm_close(what, k, r->x, r->a, r->nv, 1e-9);
    const dyn_formulation_block *blocks;
    int count;
    require(dyn_formulation_coefficients(f, r->gravity, r->q, r->v, r->a, &blocks, &count, &error), &error);
    ck_assert_int_le(count, DYN_FORMULATION_MAX_BLOCKS);
    dyn_formulation_free(f);
}

START_TEST(every_formulation_agrees_with_the_tuned_algorithms) {
    const char *name = dyn_formulation_traits_at(_i)->name;
    random_source base = random_seed(name, 1801);
    int compared = 0, compared_custom = 0, compared_scaled = 0;
    for (int k = 0; k < CASES * MODEL_KINDS; k++) {
        random_source random = random_case(base, (uint64_t)k);
        dyn_error error;
        reference r = reference_at(&random, (model_kind)(k % MODEL_KINDS), k / MODEL_KINDS);
        dyn_status status = dyn_formulation_applies(r.model, name, &error);
        if (status == DYN_OK) {
            compare(name, k, &r);
            compared++;
            compared_custom += has_custom_joint(r.model);
            compared_scaled += k % MODEL_KINDS == SCALED_ROTARY_CHAIN;
        } else {
            ck_assert_int_eq(status, DYN_FAILED_PRECONDITION);
        }
        clear_reference(&r);
    }
    /* Every formulation applies to chains of revolute joints, or to trees of spherical ones. */
    ck_assert_int_ge(compared, CASES);
    /* A joint that turns by a multiple of its coordinate is a revolute one. */
    bool spherical = dyn_formulation_traits_at(_i)->needs & DYN_FORMULATION_NEED_SPHERICAL;
    ck_assert_int_eq(compared_scaled, spherical ? 0 : CASES);
    /* Those that need joints of another type, or of algebraic coordinates, refuse custom joints. */
    unsigned other = DYN_FORMULATION_NEED_REVOLUTE | DYN_FORMULATION_NEED_SPHERICAL | DYN_FORMULATION_NEED_NO_CUSTOM;
    if (dyn_formulation_traits_at(_i)->needs & other) {
        ck_assert_int_eq(compared_custom, 0);
    } else {
        ck_assert_int_ge(compared_custom, CASES / 4);
    }
}
END_TEST

enum { PULLS = 5, PULLED_SAMPLES = 2 };

/* Returns whether a link is the massless one inside a scaled joint. */
static bool is_inside_joint(const dyn_model *model, int link) {
    return strstr(dyn_model_link(model, link)->name, ":unit");
}

/* Sets forces on random frames of a model, in all three reference frames. Every second one has a row for each
 * sample. */
static void random_pulls(random_source *random, const dyn_model *model, double wrenches[PULLS][6 * PULLED_SAMPLES],
                         dyn_external_force pulls[PULLS]) {
    static const dyn_reference_frame frames[] = {DYN_REFERENCE_FRAME_LOCAL, DYN_REFERENCE_FRAME_WORLD,
                                                 DYN_REFERENCE_FRAME_LOCAL_WORLD_ALIGNED};
    for (int i = 0; i < PULLS; i++) {
        int link = random_index(random, dyn_model_link_count(model));
        random_vector(random, 6 * PULLED_SAMPLES, 20, wrenches[i]);
        pulls[i] = (dyn_external_force){.frame = is_inside_joint(model, link) ? 0 : link,
                                        .reference_frame = frames[i % 3],
                                        .wrench = wrenches[i],
                                        .stride = i % 2 ? 6 : 0};
    }
}

/* Checks inverse and forward dynamics of two samples with external forces. */
static void compare_pulled(const char *name, int k, random_source *random, dyn_model *model) {
    double wrenches[PULLS][6 * PULLED_SAMPLES];
    dyn_external_force pulls[PULLS];
    size_t nq = (size_t)dyn_model_nq(model), nv = (size_t)dyn_model_nv(model), all = PULLED_SAMPLES * nv;
    double *q = numbers(PULLED_SAMPLES * nq), *v = numbers(all), *a = numbers(all), *tau = numbers(all),
           *x = numbers(all);
    dyn_error error;
    dyn_formulation *f;
    dyn_workspace *w;
    char what[96];
    random_pulls(random, model, wrenches, pulls);
    const dyn_external_forces forces = {PULLS, pulls};
    random_configuration(random, model, 2, q), random_configuration(random, model, 2, q + nq);
    random_vector(random, (int)all, 2, v), random_vector(random, (int)all, 3, a);
    require(dyn_workspace_create(model, &w, &error), &error);
    require(dyn_rnea(model, w, PULLED_SAMPLES, NULL, q, v, a, &forces, tau, &error), &error);
    require(dyn_formulation_create(model, name, &f, &error), &error);
    require(dyn_formulation_apply_forces(f, &forces, &error), &error);
    snprintf(what, sizeof what, "inverse dynamics with external forces by %s", name);
    require(dyn_formulation_inverse_dynamics(f, PULLED_SAMPLES, NULL, q, v, a, x, &error), &error);
    assert_norm_close(what, k, x, tau, all, 1e-9);
    snprintf(what, sizeof what, "forward dynamics with external forces by %s", name);
    require(dyn_formulation_forward_dynamics(f, PULLED_SAMPLES, NULL, q, v, tau, x, &error), &error);
    assert_norm_close(what, k, x, a, all, 1e-8);
    dyn_formulation_free(f);
    dyn_workspace_free(w);
    free(q), free(v), free(a), free(tau), free(x);
}

/* Compares chains and trees of LONG_CHAIN joints, which all formulations accept. */
START_TEST(every_formulation_agrees_on_long_chains) {
    enum { LONG_CHAIN = 48 };
    static const dyn_joint_type types[] = {DYN_JOINT_TYPE_REVOLUTE, DYN_JOINT_TYPE_PRISMATIC},
                                balls[] = {DYN_JOINT_TYPE_SPHERICAL};
    const dyn_formulation_traits *traits = dyn_formulation_traits_at(_i);
    bool spherical = traits->needs & DYN_FORMULATION_NEED_SPHERICAL;
    bool serial = traits->needs & DYN_FORMULATION_NEED_SERIAL_CHAIN;
    random_source base = random_seed("long chains", 1833);
    ck_assert_int_ge(traits->most_coordinates, LONG_CHAIN);
    for (int k = 0; k < 2; k++) {
        random_source random = random_case(base, (uint64_t)k);
        const random_chain_options options = {
            .joints = spherical ? LONG_CHAIN / 3 : LONG_CHAIN,
            .types = spherical ? balls : types,
            .type_count = spherical || traits->needs & DYN_FORMULATION_NEED_REVOLUTE ? 1 : 2,
            .branches = k == 1 && !serial,
        };
        reference r = reference_of(&random, random_chain(&random, &options), k);
        compare(traits->name, k, &r);
        clear_reference(&r);
    }
}
END_TEST

START_TEST(every_formulation_considers_external_forces) {
    const char *name = dyn_formulation_traits_at(_i)->name;
    random_source base = random_seed(name, 1811);
    int compared = 0;
    for (int k = 0; k < CASES * MODEL_KINDS; k++) {
        random_source random = random_case(base, (uint64_t)k);
        dyn_error error;
        dyn_model *model = random_model(&random, (model_kind)(k % MODEL_KINDS), k / MODEL_KINDS);
        if (dyn_formulation_applies(model, name, &error) == DYN_OK) {
            compare_pulled(name, k, &random, model);
            compared++;
        }
        dyn_model_free(model);
    }
    ck_assert_int_ge(compared, CASES);
}
END_TEST

START_TEST(external_forces_that_are_wrong_are_refused) {
    random_source random = random_seed("wrong forces", 1812);
    dyn_model *model = random_model(&random, ROTARY_CHAIN, 2);
    const double q[3] = {0}, wrenches[12] = {[8] = 1.0 / 0.0};
    dyn_external_force pull = {.frame = 99, .reference_frame = DYN_REFERENCE_FRAME_WORLD, .wrench = wrenches};
    const dyn_external_forces forces = {1, &pull};
    double two_q[6] = {0}, tau[6], M[9];
    dyn_formulation *f = NULL;
    dyn_error error;
    require(dyn_formulation_create(model, "newton_euler", &f, &error), &error);
    ck_assert_int_eq(dyn_formulation_apply_forces(f, &forces, &error), DYN_NOT_FOUND);
    pull.frame = 1, pull.stride = 6;
    require(dyn_formulation_apply_forces(f, &forces, &error), &error);
    require(dyn_formulation_inverse_dynamics(f, 1, NULL, q, NULL, NULL, tau, &error), &error);
    ck_assert_int_eq(dyn_formulation_inverse_dynamics(f, 2, NULL, two_q, NULL, NULL, tau, &error),
                     DYN_INVALID_ARGUMENT);
    ck_assert_str_eq(error.site.argument, "external_forces");
    ck_assert_uint_eq(error.site.sample, 1);
    require(dyn_formulation_mass_matrix(f, 1, q, M, &error), &error);
    dyn_formulation_free(f);
    dyn_model_free(model);
}
END_TEST

/* Checks that forces inside a scaled joint count where the formulation has mimic joints, and are refused elsewhere. */
START_TEST(external_forces_inside_a_scaled_joint_are_considered_or_refused) {
    random_source random = random_seed("forces inside joints", 1813);
    dyn_model *model = random_model(&random, SCALED_TREE, 8);
    const double wrench[6] = {3, -2, 5, 10, 20, -30};
    dyn_external_force pull = {.frame = -1, .reference_frame = DYN_REFERENCE_FRAME_LOCAL, .wrench = wrench};
    const dyn_external_forces forces = {1, &pull};
    double q[9] = {0.3, -0.2, 0.5, 0.1, 0.9, -0.4, 0.7, 0.2, -0.6}, tau[9], own[9];
    dyn_formulation *f = NULL;
    dyn_workspace *w;
    dyn_error error;
    for (int i = 0; i < dyn_model_link_count(model); i++) {
        pull.frame = is_inside_joint(model, i) ? i : pull.frame;
    }
    require(dyn_workspace_create(model, &w, &error), &error);
    require(dyn_formulation_create(model, "newton_euler", &f, &error), &error);
    require(dyn_formulation_apply_forces(f, &forces, &error), &error);
    require(dyn_formulation_inverse_dynamics(f, 1, NULL, q, q, q, tau, &error), &error);
    require(dyn_rnea(model, w, 1, NULL, q, q, q, &forces, own, &error), &error);
    assert_norm_close("newton_euler", 0, tau, own, 9, 1e-12);
    require(dyn_formulation_apply_forces(f, NULL, &error), &error);
    require(dyn_formulation_inverse_dynamics(f, 1, NULL, q, q, q, tau, &error), &error);
    require(dyn_rnea(model, w, 1, NULL, q, q, q, NULL, own, &error), &error);
    assert_norm_close("newton_euler without forces", 0, tau, own, 9, 1e-12);
    dyn_formulation_free(f);
    require(dyn_formulation_create(model, "screws", &f, &error), &error);
    ck_assert_int_eq(dyn_formulation_apply_forces(f, &forces, &error), DYN_FAILED_PRECONDITION);
    ck_assert_ptr_nonnull(strstr(error.message, "mimics"));
    dyn_formulation_free(f);
    dyn_workspace_free(w);
    dyn_model_free(model);
}
END_TEST

/* Checks that the formulation refuses at least one random model of a kind with this reason, and others with a message
 * that names a joint. */
static void expect_refusal(const char *name, model_kind kind, const char *reason) {
    random_source random = random_seed(name, 1802);
    bool found = false;
    for (int k = 0; k < 40; k++) {
        dyn_error error;
        dyn_model *model = random_model(&random, kind, 3 + k % 6);
        if (dyn_formulation_applies(model, name, &error) != DYN_OK) {
            ck_assert_int_eq(error.status, DYN_FAILED_PRECONDITION);
            ck_assert_str_eq(error.place, "formulation");
            ck_assert_ptr_nonnull(strstr(error.message, "joint"));
            found = found || strstr(error.message, reason);
        }
        dyn_model_free(model);
    }
    ck_assert_msg(found, "%s never says \"%s\"", name, reason);
}

START_TEST(a_formulation_that_does_not_apply_says_why) {
    static const struct {
        dyn_formulation_need need;
        model_kind kind; /* of which some model does not meet it */
        const char *reason;
    } refusals[] = {
        {DYN_FORMULATION_NEED_SERIAL_CHAIN, ONE_COORDINATE_TREE, "serial chain"},
        {DYN_FORMULATION_NEED_ONE_COORDINATE, MIXED_CHAIN, "several coordinates"},
        {DYN_FORMULATION_NEED_REVOLUTE, CHAIN, "revolute"},
        {DYN_FORMULATION_NEED_SPHERICAL, CHAIN, "spherical"},
        {DYN_FORMULATION_NEED_NO_HELICAL, MIXED_CHAIN, "helical"},
        {DYN_FORMULATION_NEED_NO_CUSTOM, CUSTOM_TREE, "is custom"},
        {DYN_FORMULATION_NEED_INDEPENDENT, COUPLED_TREE, "mimics"},
        {DYN_FORMULATION_NEED_REGULAR_INERTIAS, MIXED_CHAIN, "singular inertia"},
    };
    const dyn_formulation_traits *traits = dyn_formulation_traits_at(_i);
    for (size_t k = 0; k < sizeof refusals / sizeof refusals[0]; k++) {
        /* Trees mostly branch before anything else, so that a need of chains hides the others. */
        bool is_first = !(traits->needs & DYN_FORMULATION_NEED_SERIAL_CHAIN) || refusals[k].kind < TREE;
        if (traits->needs & refusals[k].need && is_first) {
            expect_refusal(traits->name, refusals[k].kind, refusals[k].reason);
        }
    }
}
END_TEST

START_TEST(a_model_that_is_too_large_is_refused_with_the_bound) {
    const dyn_formulation_traits *traits = dyn_formulation_traits_at(_i);
    ck_assert_int_le(traits->most_coordinates, 1000);
    random_source random = random_seed(traits->name, 1810);
    static const dyn_joint_type types[] = {DYN_JOINT_TYPE_REVOLUTE};
    random_chain_options options = {.joints = traits->most_coordinates + 1, .types = types, .type_count = 1};
    dyn_model *model = random_chain(&random, &options);
    dyn_error error;
    char bound[32];
    snprintf(bound, sizeof bound, "%d at most", traits->most_coordinates);
    ck_assert_int_eq(dyn_formulation_applies(model, traits->name, &error), DYN_FAILED_PRECONDITION);
    ck_assert_ptr_nonnull(strstr(error.message, bound));
    ck_assert_int_eq(error.site.cause, DYN_CAUSE_OTHER);
    dyn_model_free(model);
}
END_TEST

START_TEST(an_unknown_formulation_is_refused_with_all_names) {
    random_source random = random_seed("unknown formulation", 1803);
    dyn_model *model = random_model(&random, CHAIN, 3);
    dyn_formulation *f = NULL;
    dyn_error error;
    ck_assert_int_eq(dyn_formulation_create(model, "lagrange", &f, &error), DYN_INVALID_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(error.message, "\"lagrange\""));
    for (int i = 0; i < dyn_formulation_count(); i++) {
        ck_assert_msg(strstr(error.message, dyn_formulation_traits_at(i)->name), "%s is missing in: %s",
                      dyn_formulation_traits_at(i)->name, error.message);
    }
    dyn_model_free(model);
}
END_TEST

START_TEST(a_formulation_refuses_numbers_that_are_not_finite) {
    random_source random = random_seed("infinite numbers", 1804);
    bool spherical = dyn_formulation_traits_at(_i)->needs & DYN_FORMULATION_NEED_SPHERICAL;
    dyn_model *model = random_model(&random, spherical ? SPHERICAL_TREE : ROTARY_CHAIN, 2);
    dyn_formulation *f = NULL;
    dyn_error error;
    double q[12] = {0, 0, 1.0 / 0.0}, tau[9];
    require(dyn_formulation_create(model, dyn_formulation_traits_at(_i)->name, &f, &error), &error);
    ck_assert_int_eq(dyn_formulation_inverse_dynamics(f, 1, NULL, q, NULL, NULL, tau, &error), DYN_INVALID_ARGUMENT);
    ck_assert_str_eq(error.place, "q[2]");
    dyn_formulation_free(f);
    dyn_model_free(model);
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("formulations");
    int count = dyn_formulation_count();
    tcase_add_loop_test(tests, every_formulation_agrees_with_the_tuned_algorithms, 0, count);
    tcase_add_loop_test(tests, every_formulation_agrees_on_long_chains, 0, count);
    tcase_add_loop_test(tests, every_formulation_considers_external_forces, 0, count);
    tcase_add_test(tests, external_forces_that_are_wrong_are_refused);
    tcase_add_test(tests, external_forces_inside_a_scaled_joint_are_considered_or_refused);
    tcase_add_loop_test(tests, a_formulation_that_does_not_apply_says_why, 0, count);
    tcase_add_loop_test(tests, a_model_that_is_too_large_is_refused_with_the_bound, 0, count);
    tcase_add_test(tests, an_unknown_formulation_is_refused_with_all_names);
    tcase_add_loop_test(tests, a_formulation_refuses_numbers_that_are_not_finite, 0, count);
    tcase_set_timeout(tests, 120);
    return run_properties("formulations", tests);
}
