/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks inner quantities of the formulations on random robots: the factors, operators and multipliers that a
 * formulation returns satisfy its equations.
 */
#include <stdlib.h>

#include <dynamics/dynamics.h>

#include "support/assertions.h"
#include "support/formulation_blocks.h"
#include "support/random_chain.h"
#include "support/random_tree.h"

enum { CASES = 25 };

/* Robot in motion, with its mass matrix and forces, and memory for two matrices (x, y). */
typedef struct quantities {
    dyn_model *model;
    int k;
    size_t nv, links; /* links that move: bodies of the formulations */
    double *q, *v, *a, *M, *tau, *x, *y;
    motion_of_model motion;
} quantities;

/* Creates a random robot of the first type_count joint types: revolute, prismatic and custom, so that every joint moves
 * one link, in a random motion. */
static quantities draw_of(random_source base, int k, int joints, bool branches, int type_count) {
    static const dyn_joint_type types[] = {DYN_JOINT_TYPE_REVOLUTE, DYN_JOINT_TYPE_PRISMATIC, DYN_JOINT_TYPE_CUSTOM};
    dyn_error error;
    dyn_workspace *w;
    random_source random = random_case(base, (uint64_t)k);
    random_chain_options options = {.joints = joints, .types = types, .type_count = type_count, .branches = branches};
    quantities c = {.model = random_chain(&random, &options), .k = k};
    c.nv = c.links = (size_t)dyn_model_nv(c.model);
    size_t rows = 12 * c.links;
    c.q = numbers(c.nv), c.v = numbers(c.nv), c.a = numbers(c.nv), c.tau = numbers(c.nv);
    c.M = numbers(c.nv * c.nv), c.x = numbers(rows * rows), c.y = numbers(rows * rows);
    random_vector(&random, (int)c.nv, 2, c.q);
    random_vector(&random, (int)c.nv, 2, c.v);
    random_vector(&random, (int)c.nv, 3, c.a);
    require(dyn_workspace_create(c.model, &w, &error), &error);
    require(dyn_crba(c.model, w, 1, c.q, c.M, &error), &error);
    require(dyn_rnea(c.model, w, 1, NULL, c.q, c.v, c.a, NULL, c.tau, &error), &error);
    dyn_workspace_free(w);
    c.motion = (motion_of_model){.model = c.model, .q = c.q, .v = c.v, .a = c.a};
    return c;
}

/* Creates a robot of revolute joints, a third of the robots with prismatic ones. */
static quantities draw(random_source base, int k, int joints, bool branches) {
    return draw_of(base, k, joints, branches, k % 3 ? 1 : 2);
}

/* Creates such a robot, or a third of the robots with custom joints. */
static quantities draw_any(random_source base, int k, int joints, bool branches) {
    return draw_of(base, k, joints, branches, 1 + k % 3);
}

static void clear(quantities *c) {
    free(c->q), free(c->v), free(c->a), free(c->tau), free(c->M), free(c->x), free(c->y);
    dyn_model_free(c->model);
}

/* Computes C = A B, where A is rows x inner and B is inner x columns. */
static void product(const double *A, const double *B, size_t rows, size_t inner, size_t columns, double *C) {
    for (size_t i = 0; i < rows * columns; i++) {
        C[i] = 0;
        for (size_t k = 0; k < inner; k++) {
            C[i] += A[i / columns * inner + k] * B[k * columns + i % columns];
        }
    }
}

/* Checks that the n x n matrix A is the identity. */
static void assert_identity(const char *what, int k, const double *A, size_t n) {
    double *identity = numbers(n * n);
    for (size_t i = 0; i < n; i++) {
        identity[i * n + i] = 1;
    }
    assert_norm_close(what, k, A, identity, n * n, 1e-9);
    free(identity);
}

/* Returns the `count` numbers of a block that a formulation computes; the caller frees them. */
static double *block(const char *formulation, const quantities *c, const char *name, size_t count) {
    double *values = numbers(count);
    evaluate_block(formulation, &c->motion, name, count, values);
    return values;
}

START_TEST(all_methods_of_walker_and_orin_and_of_lilly_and_orin_agree) {
    static const char *const methods[][2] = {{"walker_orin", "M_1"}, {"walker_orin", "M_2"}, {"walker_orin", "M_3"},
                                             {"lilly_orin", "M_I"},  {"lilly_orin", "M_II"}, {"lilly_orin", "M_III"},
                                             {"lilly_orin", "M_IV"}};
    random_source base = random_seed("methods for the mass matrix", 1811);
    for (int k = 0; k < CASES; k++) {
        quantities c = draw_any(base, k, 1 + k % 12, k % 2);
        for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++) {
            evaluate_block(methods[i][0], &c.motion, methods[i][1], c.nv * c.nv, c.x);
            assert_norm_close(methods[i][1], k, c.x, c.M, c.nv * c.nv, 1e-12);
        }
        clear(&c);
    }
}
END_TEST

/* Checks F + F* + tau = 0 with the generalized active and inertia forces of Kane's formulation. */
START_TEST(generalized_forces_of_kane_balance_those_of_the_joints) {
    random_source base = random_seed("F + F* + tau = 0", 1812);
    for (int k = 0; k < CASES; k++) {
        quantities c = draw_any(base, k, 1 + k % 12, k % 2);
        double *F = block("kane", &c, "F", c.nv), *star = block("kane", &c, "F_star", c.nv);
        for (size_t i = 0; i < c.nv; i++) {
            c.x[i] = -(F[i] + star[i]);
        }
        assert_norm_close("tau", k, c.x, c.tau, c.nv, 1e-11);
        free(F), free(star);
        clear(&c);
    }
}
END_TEST

START_TEST(pivots_of_the_two_orders_are_composite_and_articulated_inertias) {
    static const char *const names[] = {"I_C", "I_A"};
    random_source base = random_seed("pivots of the sparse system", 1813);
    for (int k = 0; k < CASES; k++) {
        quantities c = draw_any(base, k, 1 + k % 9, k % 2);
        size_t rows = 6 * c.links, count = 36 * c.links;
        for (int i = 0; i < 2; i++) {
            evaluate_block("newton_euler_factorization", &c.motion, names[i], count, c.x);
            evaluate_block("absolute_coordinates", &c.motion, names[i], count, c.y);
            assert_norm_close(names[i], k, c.x, c.y, count, 1e-9);
        }
        double *P = block("newton_euler_factorization", &c, "P", rows * rows);
        double *inverse = block("newton_euler_factorization", &c, "P_inverse", rows * rows);
        product(P, inverse, rows, rows, rows, c.x);
        assert_identity("P P^-1", k, c.x, rows);
        evaluate_block("newton_euler_factorization", &c.motion, "M", c.nv * c.nv, c.x);
        assert_norm_close("H' P^-T I P^-1 H", k, c.x, c.M, c.nv * c.nv, 1e-11);
        free(P), free(inverse);
        clear(&c);
    }
}
END_TEST

/* Checks K x = b for the accelerations and wrenches that another formulation has, K = K', and both orders. */
START_TEST(motions_solve_the_sparse_system_in_both_orders) {
    random_source base = random_seed("sparse system", 1831);
    for (int k = 0; k < CASES; k++) {
        quantities c = draw_any(base, k, 1 + k % 9, k % 2);
        size_t n = c.links, size = 12 * n + c.nv;
        double *K = block("newton_euler_factorization", &c, "K", size * size);
        double *b = block("newton_euler_factorization", &c, "b", size);
        double *crba = block("newton_euler_factorization", &c, "order_CRBA", 2 * n);
        double *aba = block("newton_euler_factorization", &c, "order_ABA", 2 * n);
        double *a = block("absolute_coordinates", &c, "a", 6 * n), *f = block("absolute_coordinates", &c, "f", 6 * n);
        double *x = numbers(size), *found = numbers(size);
        for (size_t i = 0; i < 6 * n; i++) {
            x[i / 6 * 12 + i % 6] = a[i], x[i / 6 * 12 + 6 + i % 6] = f[i];
        }
        for (size_t i = 0; i < c.nv; i++) {
            x[12 * n + i] = c.a[i];
        }
        product(K, x, size, size, 1, found);
        assert_norm_close("K x = b", k, found, b, size, 1e-9);
        for (size_t i = 0; i < size * size; i++) {
            ck_assert_double_eq(K[i], K[i % size * size + i / size]);
        }
        for (size_t i = 0; i < n; i++) {
            ck_assert_double_eq(crba[i], (double)(2 * (n - 1 - i)));
            ck_assert_double_eq(crba[n + i], (double)(2 * (n - 1 - i) + 1));
            ck_assert_double_eq(aba[2 * i], (double)(2 * (n - 1 - i)));
            ck_assert_double_eq(aba[2 * i + 1], (double)(2 * (n - 1 - i) + 1));
        }
        free(K), free(b), free(crba), free(aba), free(a), free(f), free(x), free(found);
        clear(&c);
    }
}
END_TEST

/* Checks (I + H phi K)(I - H psi K) = 1, that the factorization of the inverse is M^-1, and that the smoothed
 * accelerations are those of the motion. */
START_TEST(operator_factorizations_are_inverse_to_each_other) {
    random_source base = random_seed("operator factorizations", 1814);
    for (int k = 0; k < CASES; k++) {
        quantities c = draw_any(base, k, 1 + k % 12, k % 2);
        size_t n = c.nv;
        double *W = block("spatial_operator_algebra", &c, "W", n * n);
        double *inverse = block("spatial_operator_algebra", &c, "W_inverse", n * n);
        product(W, inverse, n, n, n, c.x);
        assert_identity("(I + H phi K)(I - H psi K)", k, c.x, n);
        evaluate_block("spatial_operator_algebra", &c.motion, "M_inverse", n * n, inverse);
        product(inverse, c.M, n, n, n, c.x);
        assert_identity("M^-1 M", k, c.x, n);
        evaluate_block("spatial_operator_algebra", &c.motion, "accelerations", n, c.x);
        assert_norm_close("smoothed accelerations", k, c.x, c.a, n, 1e-9);
        free(W), free(inverse);
        clear(&c);
    }
}
END_TEST

/* Checks that the operators phi and psi, multiplied as matrices, compose the factors I + H phi K and I - H psi K. */
START_TEST(operators_multiply_to_the_factors) {
    static const char *const operators[] = {"phi", "psi"}, *const factors[] = {"W", "W_inverse"};
    random_source base = random_seed("operators", 1815);
    for (int k = 0; k < CASES; k++) {
        quantities c = draw_any(base, k, 1 + k % 9, k % 2);
        size_t n = c.nv, rows = 6 * c.links;
        double *H = block("spatial_operator_algebra", &c, "H", n * rows);
        double *K = block("spatial_operator_algebra", &c, "K", n * rows);
        for (int o = 0; o < 2; o++) {
            double *A = block("spatial_operator_algebra", &c, operators[o], rows * rows);
            product(A, K, rows, rows, n, c.x);
            product(H, c.x, n, rows, n, c.y);
            evaluate_block("spatial_operator_algebra", &c.motion, factors[o], n * n, c.x);
            for (size_t i = 0; i < n * n; i++) {
                c.x[i] = (o == 0 ? 1 : -1) * (c.x[i] - (i % (n + 1) == 0));
            }
            assert_norm_close(operators[o], k, c.y, c.x, n * n, 1e-9);
            free(A);
        }
        free(H), free(K);
        clear(&c);
    }
}
END_TEST

/* Checks that an end effector that is held fixed does not accelerate, that its wrench nu accounts for the difference of
 * accelerations, M (a_held - a) = J' nu, and that L is J M^-1 J'. */
START_TEST(a_held_end_effector_does_not_accelerate) {
    static const double minus_gravity[6] = {0, 0, 0, 0, 0, 9.81};
    random_source base = random_seed("held end effector", 1816);
    for (int k = 0; k < CASES; k++) {
        quantities c = draw_any(base, k, 1 + k % 12, false);
        size_t n = c.nv, rows = 6 * c.links;
        double *S = block("kane", &c, "S", rows * n), *J = S + (rows - 6) * n;
        double *nu = block("vereshchagin", &c, "nu", 6), *held = block("vereshchagin", &c, "a_held", n);
        double *inverse = block("spatial_operator_algebra", &c, "M_inverse", n * n);
        double *A = block("vereshchagin", &c, "A_held", rows), *transposed = numbers(6 * n);
        if (n >= 7 && k % 3) {
            assert_norm_close("acceleration of the held link", k, A + rows - 6, minus_gravity, 6, 1e-6);
        }
        for (size_t i = 0; i < 6 * n; i++) {
            transposed[i % n * 6 + i / n] = J[i];
        }
        for (size_t i = 0; i < n; i++) {
            held[i] -= c.a[i];
        }
        product(c.M, held, n, n, 1, c.x);
        product(transposed, nu, n, 6, 1, c.y);
        assert_norm_close("M (a_held - a) = J' nu", k, c.x, c.y, n, 1e-7);
        product(J, inverse, 6, n, n, c.x);
        product(c.x, transposed, 6, n, 6, c.y);
        evaluate_block("vereshchagin", &c.motion, "L", 36, c.x);
        assert_norm_close("L = J M^-1 J'", k, c.x, c.y, 36, 1e-9);
        free(S), free(nu), free(held), free(inverse), free(A), free(transposed);
        clear(&c);
    }
}
END_TEST

/* Checks that in a revolute joint the wrench less the constraint wrench is a moment of the size of tau without a
 * force. */
START_TEST(constraint_forces_and_joint_forces_add_up_to_the_wrenches) {
    random_source base = random_seed("constraint forces", 1817);
    for (int k = 1; k < 3 * CASES; k += 3) {
        quantities c = draw(base, k, 1 + k % 12, false);
        size_t n = c.nv;
        double *fc = block("constraint_force", &c, "f_c", 6 * n), *f = block("absolute_coordinates", &c, "f", 6 * n);
        for (size_t i = 0; i < 6 * n; i++) {
            f[i] -= fc[i];
        }
        for (size_t i = 0; i < n; i++) {
            double moment = norm(f + 6 * i, 3), size = c.tau[i] < 0 ? -c.tau[i] : c.tau[i];
            ck_assert_double_le(norm(f + 6 * i + 3, 3), 1e-8 * norm(fc, 6 * n));
            ck_assert_double_eq_tol(moment, size, 1e-8 * norm(fc, 6 * n));
        }
        free(fc), free(f);
        clear(&c);
    }
}
END_TEST

/* Turns a vector by the rotation of frame `link` of the robot in motion. */
static void turn_to_base(const quantities *c, dyn_workspace *w, int link, const double x[3], double turned[3]) {
    double place[3], R[9];
    dyn_error error;
    require(dyn_frame_pose(c->model, w, 1, c->q, link, place, R, &error), &error);
    for (int i = 0; i < 3; i++) {
        turned[i] = R[3 * i] * x[0] + R[3 * i + 1] * x[1] + R[3 * i + 2] * x[2];
    }
}

/* Checks f_i and n_i of each joint against the wrenches of dyn_joint_wrenches in the axes of the child links,
 * which have the origins of the formulations: in base axes, and by their lengths in link axes. */
START_TEST(newton_and_euler_state_the_wrenches_of_all_joints) {
    random_source base = random_seed("wrenches of joints", 1829);
    for (int k = 0; k < CASES; k++) {
        quantities c = draw(base, k, 1 + k % 8, k % 2);
        size_t n = c.nv;
        double *f = block("newton_euler_base", &c, "f", 3 * n), *m = block("newton_euler_base", &c, "n", 3 * n);
        double *own_f = block("newton_euler", &c, "f", 3 * n), *own_m = block("newton_euler", &c, "n", 3 * n);
        double *wrenches = numbers(6 * n), turned[3];
        dyn_workspace *w;
        dyn_error error;
        require(dyn_workspace_create(c.model, &w, &error), &error);
        require(dyn_joint_wrenches(c.model, w, 1, NULL, c.q, c.v, c.a, NULL, wrenches, &error), &error);
        for (size_t i = 0; i < n; i++) {
            int link = dyn_model_joint(c.model, (int)i)->child_link;
            turn_to_base(&c, w, link, wrenches + 6 * i, turned);
            assert_norm_close("n", k, m + 3 * i, turned, 3, 1e-9);
            ck_assert_double_eq_tol(norm(own_m + 3 * i, 3), norm(turned, 3), 1e-9 * (1 + norm(turned, 3)));
            turn_to_base(&c, w, link, wrenches + 6 * i + 3, turned);
            assert_norm_close("f", k, f + 3 * i, turned, 3, 1e-9);
            ck_assert_double_eq_tol(norm(own_f + 3 * i, 3), norm(turned, 3), 1e-9 * (1 + norm(turned, 3)));
        }
        dyn_workspace_free(w);
        free(f), free(m), free(own_f), free(own_m), free(wrenches);
        clear(&c);
    }
}
END_TEST

/* Adds p x f to m. */
static void add_moment(const double p[3], const double f[3], double m[3]) {
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        m[i] += p[j] * f[k] - p[k] * f[j];
    }
}

/* Stores the places, in base axes, of the origin and of the centre of mass of the child link of a joint. */
static void find_places(const quantities *c, dyn_workspace *w, int joint, double origin[3], double center[3]) {
    int frame = dyn_model_joint(c->model, joint)->child_link;
    double R[9];
    dyn_error error;
    require(dyn_frame_pose(c->model, w, 1, c->q, frame, origin, R, &error), &error);
    turn_to_base(c, w, frame, dyn_model_link(c->model, frame)->inertia.center_of_mass, center);
    for (int i = 0; i < 3; i++) {
        center[i] += origin[i];
    }
}

/* Checks F_i and N_i of the links of a chain by their sums: the force of the first joint is the sum of F, and its
 * moment about the base the sum of N_i + c_i x F_i. */
START_TEST(newton_and_euler_state_what_moves_each_link) {
    random_source base = random_seed("forces on links", 1830);
    for (int k = 0; k < CASES; k++) {
        quantities c = draw(base, k, 1 + k % 8, false);
        size_t n = c.nv;
        double *F = block("newton_euler_base", &c, "F", 3 * n), *N = block("newton_euler_base", &c, "N", 3 * n);
        double *f = block("newton_euler_base", &c, "f", 3 * n), *m = block("newton_euler_base", &c, "n", 3 * n);
        double *own_F = block("newton_euler", &c, "F", 3 * n), *own_N = block("newton_euler", &c, "N", 3 * n);
        double force[3] = {0, 0, 0}, moment[3] = {0, 0, 0}, origin[3], center[3];
        dyn_workspace *w;
        dyn_error error;
        require(dyn_workspace_create(c.model, &w, &error), &error);
        for (size_t i = 0; i < n; i++) {
            find_places(&c, w, (int)i, origin, center);
            add_moment(center, F + 3 * i, moment);
            for (size_t r = 0; r < 3; r++) {
                force[r] += F[3 * i + r], moment[r] += N[3 * i + r];
            }
            ck_assert_double_eq_tol(norm(own_F + 3 * i, 3), norm(F + 3 * i, 3), 1e-9 * (1 + norm(F + 3 * i, 3)));
            ck_assert_double_eq_tol(norm(own_N + 3 * i, 3), norm(N + 3 * i, 3), 1e-9 * (1 + norm(N + 3 * i, 3)));
        }
        find_places(&c, w, 0, origin, center);
        add_moment(origin, f, m);
        assert_norm_close("sum of F", k, force, f, 3, 1e-9);
        assert_norm_close("sum of moments", k, moment, m, 3, 1e-9);
        dyn_workspace_free(w);
        free(F), free(N), free(f), free(m), free(own_F), free(own_N);
        clear(&c);
    }
}
END_TEST

/* Returns a robot of three joints with damping, of which the last one follows the first one. */
static dyn_model *damped_robot(void) {
    static const double multiplier = -1.5;
    dyn_builder *builder;
    dyn_model *model;
    dyn_error error;
    const dyn_inertia inertia = {.mass = 1, .rotational = {0.1, 0, 0, 0.1, 0, 0.1}};
    const dyn_joint_description joints[] = {
        {.name = "turn", .type = DYN_JOINT_TYPE_CONTINUOUS, .damping = 0.5},
        {.name = "slide", .type = DYN_JOINT_TYPE_PRISMATIC, .damping = 2},
        {.name = "follow",
         .type = DYN_JOINT_TYPE_CONTINUOUS,
         .damping = 0.25,
         .mimic_joint = "turn",
         .mimic_multiplier = multiplier},
    };
    static const char *const links[] = {"base", "first", "second", "third"};
    require(dyn_builder_create("damped", &builder, &error), &error);
    for (int i = 0; i < 4; i++) {
        const dyn_link_description link = {.name = links[i], .inertia = inertia};
        require(dyn_builder_add_link(builder, &link, &error), &error);
    }
    for (int i = 0; i < 3; i++) {
        dyn_joint_description joint = joints[i];
        joint.parent_link = links[i], joint.child_link = links[i + 1];
        joint.axis[i % 2] = 1;
        joint.rotation[0] = joint.rotation[4] = joint.rotation[8] = 1;
        require(dyn_builder_add_joint(builder, &joint, &error), &error);
    }
    const dyn_build_options options = DYN_BUILD_OPTIONS_INIT(.mimic = DYN_MIMIC_POLICY_COUPLED);
    require(dyn_builder_build(builder, &options, NULL, &model, &error), &error);
    dyn_builder_free(builder);
    return model;
}

/* Checks b v of all joints, those of mimic joints at the coordinates of their masters. */
START_TEST(viscous_forces_are_those_of_passive_damping) {
    static const char *const names[] = {"newton_euler", "newton_euler_base"};
    const double q[2] = {0.3, 0.2}, v[2] = {2, -3}, expected[2] = {(0.5 + 1.5 * 1.5 * 0.25) * 2, -6};
    const dyn_passive_parts damping = {.damping = true, .friction_velocity = 0.01};
    dyn_model *model = damped_robot();
    const motion_of_model motion = {.model = model, .q = q, .v = v};
    double passive[2] = {0}, viscous[2];
    dyn_error error;
    require(dyn_add_passive_forces(model, 1, &damping, -1, q, v, passive, &error), &error);
    assert_norm_close("passive damping", 0, passive, expected, 2, 1e-14);
    for (int i = 0; i < 2; i++) {
        evaluate_block(names[i], &motion, "viscous", 2, viscous);
        assert_norm_close(names[i], 0, viscous, expected, 2, 1e-14);
    }
    dyn_model_free(model);
}
END_TEST

/* Checks Phi = 0, and Phi_q R = 0: the constraints allow the motions of the joints. The constraints are as many as the
 * directions in which joints do not move. */
START_TEST(natural_coordinates_obey_their_constraints) {
    random_source base = random_seed("natural coordinates", 1818);
    for (int k = 0; k < CASES; k++) {
        quantities c = draw(base, k, 1 + k % 6, k % 2);
        size_t n = c.nv, columns = 12 * c.links, rows = columns - n;
        double *zeros = numbers(rows * n), *R = block("natural_coordinates", &c, "R", columns * n);
        double *Phi_q = block("natural_coordinates", &c, "Phi_q", rows * columns);
        evaluate_block("natural_coordinates", &c.motion, "Phi", rows, c.x);
        assert_norm_close("Phi", k, c.x, zeros, rows, 1e-12);
        product(Phi_q, R, rows, columns, n, c.x);
        assert_norm_close("Phi_q R", k, c.x, zeros, rows * n, 1e-12);
        free(zeros), free(R), free(Phi_q);
        clear(&c);
    }
}
END_TEST

/* Checks that M_i a_i + f'_i of Armstrong's formulation is the force in joint i, and K_i a_i + d_i the angular
 * acceleration. */
START_TEST(linear_answers_of_armstrong_hold_at_the_motion) {
    static const dyn_joint_type types[] = {DYN_JOINT_TYPE_SPHERICAL};
    random_source base = random_seed("answers of spherical joints", 1819);
    for (int k = 0; k < CASES; k++) {
        random_source random = random_case(base, (uint64_t)k);
        random_chain_options options = {.joints = 1 + k % 6, .types = types, .type_count = 1, .branches = k % 2};
        quantities c = {.model = random_chain(&random, &options), .k = k};
        size_t n = (size_t)options.joints;
        double q[4 * 6], v[3 * 6], a[3 * 6];
        random_configuration(&random, c.model, 1, q);
        random_vector(&random, (int)(3 * n), 2, v), random_vector(&random, (int)(3 * n), 3, a);
        c.motion = (motion_of_model){.model = c.model, .q = q, .v = v, .a = a};
        double *M = block("armstrong", &c, "M", 9 * n), *f = block("armstrong", &c, "f", 3 * n);
        double *K = block("armstrong", &c, "K", 9 * n), *d = block("armstrong", &c, "d", 3 * n);
        double *rise = block("newton_euler", &c, "dv", 3 * n), *turn = block("newton_euler", &c, "dw", 3 * n);
        double *transmitted = block("newton_euler", &c, "f", 3 * n);
        for (size_t i = 0; i < n; i++) {
            for (size_t r = 0; r < 3; r++) {
                for (size_t j = 0; j < 3; j++) {
                    f[3 * i + r] += M[9 * i + 3 * j + r] * rise[3 * i + j];
                    d[3 * i + r] += K[9 * i + 3 * r + j] * rise[3 * i + j];
                }
            }
            assert_norm_close("M a + f'", k, f + 3 * i, transmitted + 3 * i, 3, 1e-9);
        }
        assert_norm_close("K a + d", k, d, turn, 3 * n, 1e-9);
        free(M), free(f), free(K), free(d), free(rise), free(turn), free(transmitted);
        dyn_model_free(c.model);
    }
}
END_TEST

/* Equations 8.68, 8.73 and 8.77 of Modern Robotics: W V + A v = V, V = L A v, tau = M a + c + g. */
START_TEST(closed_form_on_the_lie_group_agrees_with_its_recursion) {
    random_source base = random_seed("closed form", 1820);
    for (int k = 0; k < CASES; k++) {
        quantities c = draw_any(base, k, 1 + k % 8, k % 2);
        size_t n = c.nv, rows = 6 * c.links;
        double *A = block("lie_group", &c, "A", rows * n), *V = block("lie_group", &c, "V", rows);
        double *L = block("lie_group", &c, "L", rows * rows), *W = block("lie_group", &c, "W", rows * rows);
        double *g = block("lie_group", &c, "g", n), *forces = block("lie_group", &c, "c", n);
        product(A, c.v, rows, n, 1, c.x);
        product(L, c.x, rows, rows, 1, c.y);
        assert_norm_close("L A v", k, c.y, V, rows, 1e-11);
        product(W, V, rows, rows, 1, c.y);
        for (size_t i = 0; i < rows; i++) {
            c.y[i] += c.x[i];
        }
        assert_norm_close("W V + A v", k, c.y, V, rows, 1e-11);
        evaluate_block("lie_group", &c.motion, "M", n * n, c.x);
        product(c.x, c.a, n, n, 1, c.y);
        for (size_t i = 0; i < n; i++) {
            c.y[i] += forces[i] + g[i];
        }
        assert_norm_close("M a + c + g", k, c.y, c.tau, n, 1e-11);
        free(A), free(V), free(L), free(W), free(g), free(forces);
        clear(&c);
    }
}
END_TEST

START_TEST(home_screws_are_those_of_the_product_of_exponentials) {
    random_source base = random_seed("home screws", 1825);
    for (int k = 0; k < CASES; k++) {
        quantities c = draw(base, k, 1 + k % 8, false);
        size_t n = c.nv;
        dyn_error error;
        double *S = block("lie_group", &c, "S", 6 * n * n), *Mlist = numbers(16 * (n + 1)), *Glist = numbers(36 * n);
        int tip = dyn_model_joint(c.model, (int)n - 1)->child_link;
        require(dyn_model_screws(c.model, tip, Mlist, Glist, c.x, &error), &error);
        for (size_t i = 0; i < 6 * n; i++) {
            c.y[i] = S[(6 * (i % n) + i / n) * n + i % n];
        }
        assert_norm_close("Slist", k, c.y, c.x, 6 * n, 1e-12);
        free(S), free(Mlist), free(Glist);
        clear(&c);
    }
}
END_TEST

/* Checks dM/dq of christoffel against differences of M, its Gamma against h_ikm of Lagrange and Euler, C v and dM/dt
 * against those of the closed form on the Lie group, on chains with custom joints. */
START_TEST(velocity_coefficients_contain_the_rates_of_custom_joints) {
    const double step = 1e-6;
    random_source base = random_seed("velocity coefficients", 1826);
    for (int k = 0; k < CASES; k++) {
        quantities c = draw_of(base, k, 1 + k % 6, false, 3);
        size_t n = c.nv, square = n * n;
        double *dM = block("christoffel", &c, "dM_dq", n * square), *C = block("christoffel", &c, "C", square);
        for (size_t i = 0; i < n; i++) {
            double q = c.q[i];
            c.q[i] = q + step, evaluate_block("walker_orin", &c.motion, "M_1", square, c.x);
            c.q[i] = q - step, evaluate_block("walker_orin", &c.motion, "M_1", square, c.y);
            c.q[i] = q;
            for (size_t e = 0; e < square; e++) {
                c.x[e] = (c.x[e] - c.y[e]) / (2 * step), c.y[e] = dM[e * n + i];
            }
            assert_norm_close("dM/dq", k, c.y, c.x, square, 1e-7);
        }
        evaluate_block("christoffel", &c.motion, "dM_dt", square, c.x);
        evaluate_block("lie_group", &c.motion, "dM_dt", square, c.y);
        assert_norm_close("exercise 8.7", k, c.y, c.x, square, 1e-11);
        for (size_t e = 0; e < square; e++) {
            c.y[e] = C[e] + C[e % n * n + e / n];
        }
        assert_norm_close("dM/dt = C + C'", k, c.y, c.x, square, 1e-11);
        product(C, c.v, n, n, 1, c.x);
        evaluate_block("lie_group", &c.motion, "c", n, c.y);
        assert_norm_close("c of 8.79 = C v", k, c.y, c.x, n, 1e-11);
        evaluate_block("lagrange_euler", &c.motion, "h", n, c.y);
        assert_norm_close("h = C v", k, c.y, c.x, n, 1e-11);
        double *gamma = block("christoffel", &c, "Gamma", n * square),
               *h = block("lagrange_euler", &c, "h_ikm", n * square);
        assert_norm_close("h_ikm = Gamma_ikm", k, h, gamma, n * square, 1e-11);
        free(dM), free(C), free(gamma), free(h);
        clear(&c);
    }
}
END_TEST

/* ---- Constraints of the last link -------------------------------------------------------------------------------- */

/* Solves A X = B in place for symmetric positive definite A, 6 x 6, and B of `columns` columns. */
static void solve6(double A[36], double *B, size_t columns) {
    for (size_t k = 0; k < 6; k++) {
        for (size_t i = 0; i < 6; i++) {
            double factor = i == k ? 0 : A[6 * i + k] / A[7 * k];
            for (size_t j = 0; j < 6; j++) {
                A[6 * i + j] -= factor * A[6 * k + j];
            }
            for (size_t j = 0; j < columns; j++) {
                B[columns * i + j] -= factor * B[columns * k + j];
            }
        }
    }
    for (size_t i = 0; i < 6 * columns; i++) {
        B[i] /= A[7 * (i / columns)];
    }
}

/* Builds the robot of c with a joint between its last link and the world. */
static dyn_model *with_joint_to_the_world(const quantities *c, dyn_joint_type type) {
    dyn_error error;
    dyn_builder *builder;
    dyn_model *model;
    int last = dyn_model_joint(c->model, (int)c->nv - 1)->child_link;
    const dyn_pose here = {{0.3, -0.2, 0.4}, {0, -1, 0, 1, 0, 0, 0, 0, 1}},
                   there = {{0.1, 0, 0.2}, {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    dyn_constraint_description joint = {.name = "tip",
                                        .kind = DYN_CONSTRAINT_KIND_LOOP_JOINT,
                                        .type = type,
                                        .axis = {0.6, 0, 0.8},
                                        .second_axis = {0, 1, 0},
                                        .predecessor = {NULL, here},
                                        .successor = {dyn_model_link(c->model, last)->name, there}};
    require(dyn_model_describe(c->model, &builder, &error), &error);
    require(dyn_builder_add_constraint(builder, &joint, &error), &error);
    dyn_build_options options = DYN_BUILD_OPTIONS_INIT(.base = DYN_BASE_FIXED);
    require(dyn_builder_build(builder, &options, NULL, &model, &error), &error);
    dyn_builder_free(builder);
    return model;
}

/* Computes the constraints of the last link that are the rows A a + bias = 0: A = C J, and
 * C (J a + dJ/dt v) = C dJ/dt v - bias. Returns their number. */
static int tip_constraints(const quantities *c, const dyn_model *closed, dyn_tip_constraint rows[6]) {
    dyn_error error;
    dyn_workspace *w;
    size_t n = c->nv, m = (size_t)dyn_model_constraint_rows(closed);
    double *A = numbers(m * n), *S = block("kane", c, "S", 6 * c->links * n), *J = S + 6 * (c->links - 1) * n;
    double JJ[36], C[36], bias[6], twist[6], rate[6];
    require(dyn_workspace_create(closed, &w, &error), &error);
    require(dyn_constraint_rows(closed, w, 1, c->q, c->v, A, bias, NULL, &error), &error);
    int last = dyn_model_joint(closed, (int)n - 1)->child_link;
    require(
        dyn_frame_motion(closed, w, 1, c->q, c->v, NULL, last, DYN_REFERENCE_FRAME_WORLD, twist, rate, NULL, &error),
        &error);
    for (size_t i = 0; i < 6; i++) {
        for (size_t j = 0; j < 6; j++) {
            JJ[6 * i + j] = 0;
            for (size_t k = 0; k < n; k++) {
                JJ[6 * i + j] += J[i * n + k] * J[j * n + k];
            }
        }
        for (size_t r = 0; r < m; r++) {
            C[m * i + r] = 0;
            for (size_t k = 0; k < n; k++) {
                C[m * i + r] += J[i * n + k] * A[r * n + k];
            }
        }
    }
    solve6(JJ, C, m);
    for (size_t r = 0; r < m; r++) {
        rows[r].acceleration = -bias[r];
        for (size_t i = 0; i < 6; i++) {
            rows[r].direction[i] = C[m * i + r];
            rows[r].acceleration += C[m * i + r] * rate[i];
        }
    }
    dyn_workspace_free(w);
    free(A), free(S);
    return (int)m;
}

START_TEST(a_constrained_tip_moves_as_in_constrained_forward_dynamics) {
    static const dyn_joint_type types[] = {DYN_JOINT_TYPE_FIXED, DYN_JOINT_TYPE_REVOLUTE, DYN_JOINT_TYPE_SPHERICAL,
                                           DYN_JOINT_TYPE_PRISMATIC, DYN_JOINT_TYPE_PLANAR};
    random_source base = random_seed("constrained tips", 1826);
    for (int k = 1; k < 3 * CASES; k += 3) {
        quantities c = draw(base, k, 7 + k % 4, false);
        dyn_error error;
        dyn_workspace *w;
        dyn_formulation *f;
        dyn_tip_constraint rows[6];
        dyn_model *closed = with_joint_to_the_world(&c, types[k % 5]);
        int count = tip_constraints(&c, closed, rows);
        require(dyn_workspace_create(closed, &w, &error), &error);
        require(
            dyn_constrained_forward_dynamics(closed, w, 1, NULL, c.q, c.v, c.tau, NULL, NULL, c.x, NULL, NULL, &error),
            &error);
        require(dyn_formulation_create(c.model, "vereshchagin", &f, &error), &error);
        require(dyn_formulation_constrain_tip(f, count, rows, &error), &error);
        require(dyn_formulation_forward_dynamics(f, 1, NULL, c.q, c.v, c.tau, c.y, &error), &error);
        assert_norm_close("a", k, c.y, c.x, c.nv, 1e-7);
        ck_assert_int_eq(dyn_formulation_mass_matrix(f, 1, c.q, c.x, &error), DYN_FAILED_PRECONDITION);
        require(dyn_formulation_constrain_tip(f, 0, NULL, &error), &error);
        require(dyn_formulation_forward_dynamics(f, 1, NULL, c.q, c.v, c.tau, c.y, &error), &error);
        assert_norm_close("a of the free chain", k, c.y, c.a, c.nv, 1e-7);
        dyn_formulation_free(f);
        dyn_workspace_free(w);
        dyn_model_free(closed);
        clear(&c);
    }
}
END_TEST

START_TEST(constraints_of_the_tip_are_refused_where_they_do_not_apply) {
    random_source base = random_seed("refused constraints", 1827);
    quantities c = draw(base, 0, 3, false);
    dyn_error error;
    dyn_formulation *f;
    const dyn_tip_constraint bad = {{0, 0, 1.0 / 0.0}, 0};
    require(dyn_formulation_create(c.model, "screws", &f, &error), &error);
    ck_assert_int_eq(dyn_formulation_constrain_tip(f, 1, &bad, &error), DYN_FAILED_PRECONDITION);
    dyn_formulation_free(f);
    require(dyn_formulation_create(c.model, "vereshchagin", &f, &error), &error);
    ck_assert_int_eq(dyn_formulation_constrain_tip(f, 7, &bad, &error), DYN_INVALID_ARGUMENT);
    ck_assert_str_eq(error.place, "count");
    ck_assert_int_eq(dyn_formulation_constrain_tip(f, 1, &bad, &error), DYN_INVALID_ARGUMENT);
    ck_assert_str_eq(error.place, "constraints[0]");
    dyn_formulation_free(f);
    clear(&c);
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("formulation_quantities");
    tcase_add_test(tests, all_methods_of_walker_and_orin_and_of_lilly_and_orin_agree);
    tcase_add_test(tests, generalized_forces_of_kane_balance_those_of_the_joints);
    tcase_add_test(tests, pivots_of_the_two_orders_are_composite_and_articulated_inertias);
    tcase_add_test(tests, motions_solve_the_sparse_system_in_both_orders);
    tcase_add_test(tests, operator_factorizations_are_inverse_to_each_other);
    tcase_add_test(tests, operators_multiply_to_the_factors);
    tcase_add_test(tests, a_held_end_effector_does_not_accelerate);
    tcase_add_test(tests, constraint_forces_and_joint_forces_add_up_to_the_wrenches);
    tcase_add_test(tests, newton_and_euler_state_the_wrenches_of_all_joints);
    tcase_add_test(tests, newton_and_euler_state_what_moves_each_link);
    tcase_add_test(tests, viscous_forces_are_those_of_passive_damping);
    tcase_add_test(tests, natural_coordinates_obey_their_constraints);
    tcase_add_test(tests, linear_answers_of_armstrong_hold_at_the_motion);
    tcase_add_test(tests, closed_form_on_the_lie_group_agrees_with_its_recursion);
    tcase_add_test(tests, home_screws_are_those_of_the_product_of_exponentials);
    tcase_add_test(tests, velocity_coefficients_contain_the_rates_of_custom_joints);
    tcase_add_test(tests, a_constrained_tip_moves_as_in_constrained_forward_dynamics);
    tcase_add_test(tests, constraints_of_the_tip_are_refused_where_they_do_not_apply);
    tcase_set_timeout(tests, 120);
    return run_properties("formulation quantities", tests);
}
