/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tests the conversion between robots and lists of screws, in both directions. Compares torques with the Newton-Euler
 * algorithm of Modern Robotics, equations 8.50 to 8.54, written here with the book's 4 x 4 and 6 x 6 matrices.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dynamics/constrained_inverse_dynamics.h>
#include <dynamics/contact.h>

#include "robots.h"
#include "support/assertions.h"
#include "support/random.h"
#include "support/ur5_screws.h"

enum { MAX_JOINTS = 8 };

/* ---- the book's algorithm ---------------------------------------------------------------------------------------- */

/* Computes C = A B, n x n; C may be A or B. */
static void multiply(int n, const double *A, const double *B, double *C) {
    double out[36] = {0};
    for (int i = 0; i < n * n; i++) {
        for (int m = 0; m < n; m++) {
            out[i] += A[i / n * n + m] * B[n * m + i % n];
        }
    }
    memcpy(C, out, (size_t)(n * n) * sizeof *C);
}

/* Computes y = A x, or A' x if `transposed`. */
static void apply(const double A[36], bool transposed, const double x[6], double y[6]) {
    double out[6] = {0};
    for (int i = 0; i < 36; i++) {
        out[transposed ? i % 6 : i / 6] += A[i] * x[transposed ? i / 6 : i % 6];
    }
    memcpy(y, out, sizeof out);
}

static void invert(const double T[16], double out[16]) {
    double inverse[16] = {0};
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            inverse[4 * i + j] = T[4 * j + i];
            inverse[4 * i + 3] -= T[4 * j + i] * T[4 * j + 3];
        }
    }
    inverse[15] = 1;
    memcpy(out, inverse, sizeof inverse);
}

static void skew(const double w[3], double W[9]) {
    const double out[9] = {0, -w[2], w[1], w[2], 0, -w[0], -w[1], w[0], 0};
    memcpy(W, out, sizeof out);
}

/* Computes [Ad_T] = [R 0; p~ R R]. */
static void adjoint(const double T[16], double A[36]) {
    const double p[3] = {T[3], T[7], T[11]}, R[9] = {T[0], T[1], T[2], T[4], T[5], T[6], T[8], T[9], T[10]};
    double P[9], PR[9];
    skew(p, P);
    multiply(3, P, R, PR);
    memset(A, 0, 36 * sizeof *A);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            A[6 * i + j] = A[6 * (3 + i) + 3 + j] = R[3 * i + j];
            A[6 * (3 + i) + j] = PR[3 * i + j];
        }
    }
}

/* Computes [ad_V] = [w~ 0; v~ w~]. */
static void lie_bracket(const double V[6], double A[36]) {
    double W[9], U[9];
    skew(V, W), skew(V + 3, U);
    memset(A, 0, 36 * sizeof *A);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            A[6 * i + j] = A[6 * (3 + i) + 3 + j] = W[3 * i + j];
            A[6 * (3 + i) + j] = U[3 * i + j];
        }
    }
}

/* Computes exp([S] theta) by its series. */
static void exponential(const double S[6], double theta, double T[16]) {
    double X[16] = {0}, term[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}, W[9];
    skew(S, W);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            X[4 * i + j] = W[3 * i + j] * theta;
        }
        X[4 * i + 3] = S[3 + i] * theta;
    }
    memcpy(T, term, sizeof term);
    for (int k = 1; k < 60; k++) {
        multiply(4, term, X, term);
        for (int i = 0; i < 16; i++) {
            term[i] /= k;
            T[i] += term[i];
        }
    }
}

static void book_inverse_dynamics(int n, const double *q, const double *v, const double *a, const double g[3],
                                  const double *Mlist, const double *Glist, const double *Slist, const double tip[6],
                                  double *tau) {
    double home[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}, A[MAX_JOINTS][6], Ad[MAX_JOINTS + 1][36];
    double V[MAX_JOINTS + 1][6] = {{0}}, dV[MAX_JOINTS + 1][6] = {{0, 0, 0, -g[0], -g[1], -g[2]}}, T[16], X[36];
    for (int i = 0; i < n; i++) {
        double S[6], back[16], turn[6], relative[16];
        for (int r = 0; r < 6; r++) {
            S[r] = Slist[r * n + i];
        }
        multiply(4, home, Mlist + 16 * i, home);
        invert(home, back);
        adjoint(back, X);
        apply(X, false, S, A[i]);
        exponential(A[i], -q[i], T);
        invert(Mlist + 16 * i, relative);
        multiply(4, T, relative, T);
        adjoint(T, Ad[i]);
        apply(Ad[i], false, V[i], V[i + 1]);
        for (int r = 0; r < 6; r++) {
            V[i + 1][r] += A[i][r] * v[i];
        }
        lie_bracket(V[i + 1], X);
        apply(X, false, A[i], turn);
        apply(Ad[i], false, dV[i], dV[i + 1]);
        for (int r = 0; r < 6; r++) {
            dV[i + 1][r] += turn[r] * v[i] + A[i][r] * a[i];
        }
    }
    double F[6], inverse[16];
    memcpy(F, tip, sizeof F);
    invert(Mlist + 16 * n, inverse);
    adjoint(inverse, Ad[n]);
    for (int i = n - 1; i >= 0; i--) {
        double momentum[6], rate[6], carried[6];
        apply(Ad[i + 1], true, F, carried);
        apply(Glist + 36 * i, false, dV[i + 1], F);
        apply(Glist + 36 * i, false, V[i + 1], momentum);
        lie_bracket(V[i + 1], X);
        apply(X, true, momentum, rate);
        tau[i] = 0;
        for (int r = 0; r < 6; r++) {
            F[r] += carried[r] - rate[r];
            tau[i] += F[r] * A[i][r];
        }
    }
}

/* ---- robots ------------------------------------------------------------------------------------------------------ */

static dyn_model *model_of(int n, const double *M, const double *G, const double *S) {
    dyn_builder *builder;
    dyn_error error;
    require(dyn_screws_describe("screws", n, M, G, S, &builder, &error), &error);
    return build_model(builder, NULL, NULL);
}

static int frame_of(const dyn_model *model, const char *name) {
    int frame;
    dyn_error error;
    require(dyn_model_find_frame(model, name, &frame, &error), &error);
    return frame;
}

/* Compares RNEA of the model with the book's algorithm in random states, with a wrench that the end effector applies to
 * the environment. The model has a link "end_effector". */
static void assert_book_torques(const dyn_model *model, random_source *random, int n, const double *M, const double *G,
                                const double *S) {
    dyn_workspace *workspace;
    dyn_error error;
    require(dyn_workspace_create(model, &workspace, &error), &error);
    for (int k = 0; k < 10; k++) {
        double q[MAX_JOINTS], v[MAX_JOINTS], a[MAX_JOINTS], tip[6], against[6], gravity[3], tau[MAX_JOINTS];
        double book[MAX_JOINTS], scale = 1;
        for (int i = 0; i < MAX_JOINTS; i++) {
            q[i] = random_uniform(random, -2, 2), v[i] = random_uniform(random, -2, 2);
            a[i] = random_uniform(random, -5, 5);
            gravity[i % 3] = random_uniform(random, -10, 10);
            tip[i % 6] = random_uniform(random, -10, 10);
        }
        for (int i = 0; i < 6; i++) {
            against[i] = -tip[i];
        }
        dyn_external_force force = {
            .frame = frame_of(model, "end_effector"), .reference_frame = DYN_REFERENCE_FRAME_LOCAL, .wrench = against};
        dyn_external_forces forces = {1, &force};
        book_inverse_dynamics(n, q, v, a, gravity, M, G, S, tip, book);
        require(dyn_rnea(model, workspace, 1, gravity, q, v, a, &forces, tau, &error), &error);
        for (int i = 0; i < n; i++) {
            scale = fmax(scale, fabs(book[i]));
        }
        for (int i = 0; i < n; i++) {
            ck_assert_double_eq_tol(tau[i], book[i], 1e-11 * scale);
        }
    }
    dyn_workspace_free(workspace);
}

static void assert_lists(const char *what, const double *x, const double *y, int count, double tolerance) {
    for (int i = 0; i < count; i++) {
        ck_assert_msg(fabs(x[i] - y[i]) <= tolerance, "%s[%d]: %.17g instead of %.17g", what, i, x[i], y[i]);
    }
}

/* ---- properties -------------------------------------------------------------------------------------------------- */

/* Compares with the example in the comment of InverseDynamics in the book's software, which states these torques. The
 * book itself does not print them. */
START_TEST(book_algorithm_returns_its_published_torques) {
    static const double M[64] = {1, 0, 0, 0,    0, 1, 0, 0,       0,  0, 1, 0.089159, 0, 0, 0, 1,
                                 0, 0, 1, 0.28, 0, 1, 0, 0.13585, -1, 0, 0, 0,        0, 0, 0, 1,
                                 1, 0, 0, 0,    0, 1, 0, -0.1197, 0,  0, 1, 0.395,    0, 0, 0, 1,
                                 1, 0, 0, 0,    0, 1, 0, 0,       0,  0, 1, 0.14225,  0, 0, 0, 1};
    static const double d[3][6] = {{0.010267, 0.010267, 0.00666, 3.7, 3.7, 3.7},
                                   {0.22689, 0.22689, 0.0151074, 8.393, 8.393, 8.393},
                                   {0.0494433, 0.0494433, 0.004095, 2.275, 2.275, 2.275}};
    static const double S[18] = {1, 0, 0, 0, 1, 1, 1, 0, 0, 0, -0.089, -0.089, 1, 0, 0, 0, 0, 0.425};
    static const double q[3] = {0.1, 0.1, 0.1}, v[3] = {0.1, 0.2, 0.3}, a[3] = {2, 1.5, 1}, g[3] = {0, 0, -9.8};
    static const double tip[6] = {1, 1, 1, 1, 1, 1}, published[3] = {74.69616155, -33.06766016, -3.23057314};
    double G[3 * 36], tau[3];
    for (int i = 0; i < 3; i++) {
        inertia_matrix(d[i], G + 36 * i);
    }
    book_inverse_dynamics(3, q, v, a, g, M, G, S, tip, tau);
    assert_lists("tau", tau, published, 3, 1e-8);

    /* The first screw is not a unit screw. */
    random_source random = random_seed("screws that are not normalized", 20261217);
    dyn_model *model = model_of(3, M, G, S);
    ck_assert_int_eq(dyn_model_nv(model), 3);
    assert_book_torques(model, &random, 3, M, G, S);
    dyn_model_free(model);
}
END_TEST

START_TEST(ur5_has_the_torques_of_the_book) {
    random_source random = random_seed("RNEA = Newton-Euler of the book", 20261214);
    double G[6 * 36];
    ur5_G(G);
    dyn_model *model = model_of(6, ur5_M, G, ur5_S);
    assert_book_torques(model, &random, 6, ur5_M, G, ur5_S);
    dyn_model_free(model);
}
END_TEST

/* Compares the UR5 of ur5_screws.h with the URDF that it is computed from, whose right angles have twelve digits. */
START_TEST(ur5_is_the_robot_of_its_urdf) {
    size_t length;
    char *text = read_whole_file(DYNAMICS_REFERENCE_DIR "/robots/ur5.urdf", &length);
    ck_assert_msg(text, "there is no %s/robots/ur5.urdf", DYNAMICS_REFERENCE_DIR);
    random_source random = random_seed("UR5 by screws and by URDF", 20261215);
    double G[6 * 36], tau[6], expected[6];
    ur5_G(G);
    dyn_model *models[2] = {model_of(6, ur5_M, G, ur5_S), load_urdf(text, NULL, NULL)};
    double *results[2] = {tau, expected};
    for (int k = 0; k < 50; k++) {
        double q[6], v[6], a[6];
        dyn_error error;
        for (int i = 0; i < 6; i++) {
            q[i] = random_uniform(&random, -3, 3), v[i] = random_uniform(&random, -2, 2);
            a[i] = random_uniform(&random, -5, 5);
        }
        for (int m = 0; m < 2; m++) {
            dyn_workspace *workspace;
            require(dyn_workspace_create(models[m], &workspace, &error), &error);
            require(dyn_rnea(models[m], workspace, 1, NULL, q, v, a, NULL, results[m], &error), &error);
            dyn_workspace_free(workspace);
        }
        assert_lists("tau", tau, expected, 6, 1e-8);
    }
    free(text);
    dyn_model_free(models[0]), dyn_model_free(models[1]);
}
END_TEST

START_TEST(ur5_comes_back_as_it_went_in) {
    double G[6 * 36], M[7 * 16], H[6 * 36], S[36];
    ur5_G(G);
    dyn_model *model = model_of(6, ur5_M, G, ur5_S);
    dyn_error error;
    require(dyn_model_screws(model, frame_of(model, "end_effector"), M, H, S, &error), &error);
    assert_lists("Mlist", M, ur5_M, 7 * 16, 1e-14);
    assert_lists("Glist", H, G, 6 * 36, 1e-13);
    assert_lists("Slist", S, ur5_S, 36, 1e-14);
    dyn_model_free(model);
}
END_TEST

/* Builds a random serial chain of n joints of one coordinate each, with fixed joints between them, and a massless link
 * "end_effector" at its end. */
static dyn_model *random_chain(random_source *random, int n) {
    static const dyn_joint_type types[] = {DYN_JOINT_TYPE_REVOLUTE, DYN_JOINT_TYPE_CONTINUOUS, DYN_JOINT_TYPE_PRISMATIC,
                                           DYN_JOINT_TYPE_HELICAL, DYN_JOINT_TYPE_FIXED};
    dyn_builder *builder = new_builder();
    add_link(builder, "base");
    char last[16] = "base";
    for (int i = 0, moving = 0; moving < n; i++) {
        char name[16], link[16];
        snprintf(name, sizeof name, "j%d", i), snprintf(link, sizeof link, "l%d", i);
        dyn_joint_description joint = joint_between(name, types[random_index(random, 5)], last, link);
        double quaternion[4], size[3];
        random_unit(random, 4, quaternion);
        dyn_quaternion_to_rotation(quaternion, joint.rotation);
        random_unit(random, 3, joint.axis);
        joint.pitch = random_uniform(random, 0.05, 0.3);
        dyn_inertia inertia;
        dyn_pose pose;
        for (int k = 0; k < 3; k++) {
            joint.position[k] = random_uniform(random, -0.5, 0.5);
            pose.position[k] = random_uniform(random, -0.5, 0.5);
            size[k] = random_uniform(random, 0.1, 1);
        }
        random_unit(random, 4, quaternion);
        dyn_quaternion_to_rotation(quaternion, pose.rotation);
        ck_assert_int_eq(dyn_inertia_box(random_uniform(random, 0.5, 5), size, &inertia, NULL), DYN_OK);
        dyn_inertia_transform(&inertia, &pose, &inertia);
        add_link_with(builder, link, &inertia);
        add_joint(builder, &joint);
        memcpy(last, link, sizeof last);
        moving += joint.type != DYN_JOINT_TYPE_FIXED;
    }
    add_link_with(builder, "end_effector", &(dyn_inertia){0});
    connect_links(builder, "flange", DYN_JOINT_TYPE_FIXED, last, "end_effector");
    return build_model(builder, NULL, NULL);
}

/* Scales half of the screws by factors between 0.2 and 5. */
static void scale_screws(random_source *random, int n, double *S) {
    for (int k = 0; k < n; k++) {
        double factor = random_index(random, 2) ? random_uniform(random, 0.2, 5) : 1;
        for (int i = 0; i < 6; i++) {
            S[i * n + k] *= factor;
        }
    }
}

/* Checks that a chain has the torques that the book computes from its screws, and that these screws, also if they are
 * not normalized, build a chain with equal screws. */
START_TEST(random_chains_round_trip) {
    random_source random = random_seed("chain -> screws -> chain", 20261215);
    dyn_error error;
    for (int k = 0; k < 100; k++) {
        int n = 1 + random_index(&random, MAX_JOINTS);
        double M[(MAX_JOINTS + 1) * 16], G[MAX_JOINTS * 36], S[6 * MAX_JOINTS];
        double N[(MAX_JOINTS + 1) * 16], H[MAX_JOINTS * 36], R[6 * MAX_JOINTS];
        dyn_model *model = random_chain(&random, n);
        require(dyn_model_screws(model, frame_of(model, "end_effector"), M, G, S, &error), &error);
        assert_book_torques(model, &random, n, M, G, S);
        scale_screws(&random, n, S);
        dyn_model *again = model_of(n, M, G, S);
        assert_book_torques(again, &random, n, M, G, S);
        require(dyn_model_screws(again, frame_of(again, "end_effector"), N, H, R, &error), &error);
        assert_lists("Mlist", N, M, (n + 1) * 16, 1e-12);
        assert_lists("Glist", H, G, n * 36, 1e-11);
        assert_lists("Slist", R, S, 6 * n, 1e-12);
        dyn_model_free(model), dyn_model_free(again);
    }
}
END_TEST

/* Checks a link frame away from the centre of mass, whose position is in the off-diagonal blocks of G. */
START_TEST(inertias_need_not_be_about_the_centre_of_mass) {
    random_source random = random_seed("G = [I m c~; -m c~ m 1]", 20261216);
    static const double M[32] = {1, 0, 0, 0.1, 0, 1, 0, 0.2, 0, 0, 1, 0.3, 0, 0, 0, 1,
                                 1, 0, 0, 0,   0, 1, 0, 0,   0, 0, 1, 1,   0, 0, 0, 1};
    static const double S[6] = {0, 0, 1, 0.5, -0.25, 0.125};
    const double m = 2, c[3] = {0.1, -0.2, 0.3};
    double G[36], C[9];
    inertia_matrix((const double[6]){0.5, 0.6, 0.7, m, m, m}, G);
    skew(c, C);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            G[6 * i + 3 + j] = m * C[3 * i + j];
            G[6 * (3 + i) + j] = -m * C[3 * i + j];
        }
    }
    dyn_model *model = model_of(1, M, G, S);
    ck_assert_int_eq(dyn_model_joint(model, 0)->type, DYN_JOINT_TYPE_HELICAL);
    ck_assert_double_eq_tol(dyn_model_joint(model, 0)->pitch, 0.125, 1e-15);
    assert_book_torques(model, &random, 1, M, G, S);
    dyn_model_free(model);
}
END_TEST

static const struct {
    char list;
    int entry;
    double value;
    const char *place, *fragment;
} mistakes[] = {
    {'M', 16 + 1, 0.1, "Mlist[1]", "no rigid displacement"}, {'M', 6 * 16 + 12, 1, "Mlist[6]", "last row"},
    {'M', 3, INFINITY, "Mlist[0]", "no rigid displacement"}, {'G', 36 + 1, 0.1, "Glist[1]", "symmetric"},
    {'G', 28, 4, "Glist[0]", "no spatial inertia"},          {'G', 0, NAN, "Glist[0]", "no spatial inertia"},
    {'S', 6 + 3, INFINITY, "Slist[3]", "no screw"},          {'S', 3 * 6 + 2, NAN, "Slist[2]", "no screw"},
};

START_TEST(mistakes_in_the_lists_are_named) {
    double M[7 * 16], G[6 * 36], S[36];
    memcpy(M, ur5_M, sizeof M), memcpy(S, ur5_S, sizeof S);
    ur5_G(G);
    double *list = mistakes[_i].list == 'M' ? M : mistakes[_i].list == 'G' ? G : S;
    list[mistakes[_i].entry] = mistakes[_i].value;
    dyn_builder *builder;
    dyn_error error;
    expect_error(dyn_screws_describe("r", 6, M, G, S, &builder, &error), &error, DYN_INVALID_ARGUMENT,
                 mistakes[_i].place, mistakes[_i].fragment);
    ck_assert_ptr_null(builder);
}
END_TEST

START_TEST(model_that_is_no_chain_is_refused) {
    double M[4 * 16], G[3 * 36], S[18];
    dyn_error error;
    dyn_builder *builder = new_builder();
    add_link(builder, "a"), add_link(builder, "b"), add_link(builder, "c"), add_link(builder, "d");
    connect_links(builder, "x", DYN_JOINT_TYPE_REVOLUTE, "a", "b");
    connect_links(builder, "y", DYN_JOINT_TYPE_REVOLUTE, "b", "c");
    dyn_joint_description z = joint_between("z", DYN_JOINT_TYPE_PRISMATIC, _i == 0 ? "b" : "c", "d");
    z.type = _i == 1 ? DYN_JOINT_TYPE_SPHERICAL : z.type;
    z.mimic_joint = _i == 2 ? "x" : NULL;
    z.mimic_multiplier = 1;
    add_joint(builder, &z);
    static const char *const fragments[] = {"branch", "more than one coordinate", "coupled", "more than one", ""};
    dyn_build_options options = DYN_BUILD_OPTIONS_INIT(.base = _i == 3 ? DYN_BASE_FLOATING : DYN_BASE_FIXED);
    dyn_model *model = build_model(builder, &options, NULL);
    if (_i < 4) {
        expect_error(dyn_model_screws(model, frame_of(model, "d"), M, G, S, &error), &error, DYN_FAILED_PRECONDITION,
                     _i == 3 ? "joint root_joint" : "joint z", fragments[_i]);
    } else {
        expect_error(dyn_model_screws(model, frame_of(model, "c"), M, G, S, &error), &error, DYN_INVALID_ARGUMENT,
                     "tip", "last joint");
    }
    dyn_model_free(model);
}
END_TEST

START_TEST(elements_that_screws_cannot_state_are_refused) {
    static const char *const places[] = {"constraint tie", "machine element coil", "contact_surfaces", "joint y"},
                             *const fragments[] = {"the constraint \"tie\"", "the machine element \"coil\"",
                                                   "the contact surface \"foot\"", "is passive"};
    double M[3 * 16], G[2 * 36], S[12];
    dyn_error error;
    dyn_builder *builder = new_builder();
    add_link(builder, "a"), add_link(builder, "b"), add_link(builder, "c");
    connect_links(builder, "x", DYN_JOINT_TYPE_REVOLUTE, "a", "b");
    connect_links(builder, "y", DYN_JOINT_TYPE_REVOLUTE, "b", "c");
    const dyn_constraint_description tie = {
        .name = "tie", .kind = DYN_CONSTRAINT_KIND_COUPLING, .coupled = {{"x", 1}, {"y", -2}}};
    const dyn_machine_element_description coil = {
        .name = "coil", .joint = "x", .kind = DYN_MACHINE_ELEMENT_KIND_SPRING, .spring.stiffness = 3};
    const dyn_contact_surface foot = {
        .name = "foot", .link = "c", .pose.rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1}, .shape = DYN_CONTACT_SHAPE_POINT};
    dyn_status status = _i == 0   ? dyn_builder_add_constraint(builder, &tie, &error)
                        : _i == 1 ? dyn_builder_add_machine_element(builder, &coil, &error)
                        : _i == 2 ? dyn_builder_add_contact_surface(builder, &foot, &error)
                                  : dyn_builder_set_passive(builder, "y", &error);
    require(status, &error);
    dyn_model *model = build_model(builder, NULL, NULL);
    expect_error(dyn_model_screws(model, frame_of(model, "c"), M, G, S, &error), &error, DYN_FAILED_PRECONDITION,
                 places[_i], fragments[_i]);
    dyn_model_free(model);
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("screws");
    tcase_add_test(tests, book_algorithm_returns_its_published_torques);
    tcase_add_test(tests, ur5_has_the_torques_of_the_book);
    tcase_add_test(tests, ur5_is_the_robot_of_its_urdf);
    tcase_add_test(tests, ur5_comes_back_as_it_went_in);
    tcase_add_test(tests, random_chains_round_trip);
    tcase_add_test(tests, inertias_need_not_be_about_the_centre_of_mass);
    tcase_add_loop_test(tests, mistakes_in_the_lists_are_named, 0, COUNT(mistakes));
    tcase_add_loop_test(tests, model_that_is_no_chain_is_refused, 0, 5);
    tcase_add_loop_test(tests, elements_that_screws_cannot_state_are_refused, 0, 4);
    return run_tests(tests);
}
