/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks operations that derive models: the new models describe the same bodies, on random trees of every joint type.
 */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dynamics/dynamics.h>

#include "support/assertions.h"
#include "support/random_tree.h"

enum { CASES = 200, MAX_JOINTS = 20, MAX_NQ = 7 * (MAX_JOINTS + 2) * 2, MAX_NV = MAX_NQ };

/* Model with its workspace, a state, and generalized forces. */
typedef struct robot {
    dyn_model *model;
    dyn_workspace *workspace;
    double q[MAX_NQ], v[MAX_NV], a[MAX_NV], tau[MAX_NV];
} robot;

static void robot_init(robot *r, dyn_model *model) {
    dyn_error error;
    memset(r, 0, sizeof *r);
    r->model = model;
    ck_assert_int_le(dyn_model_nq(model), MAX_NQ);
    require(dyn_workspace_create(model, &r->workspace, &error), &error);
}

static void robot_free(robot *r) {
    dyn_workspace_free(r->workspace);
    dyn_model_free(r->model);
}

static void robot_random(robot *r, random_source *random, int k, bool with_mimic) {
    random_tree_options options = {.joints = 1 + random_index(random, MAX_JOINTS),
                                   .base = k % 2 ? DYN_BASE_FLOATING : DYN_BASE_FIXED,
                                   .with_mimic = with_mimic,
                                   .with_fixed = true};
    robot_init(r, random_tree(random, &options));
    random_configuration(random, r->model, 2, r->q);
    random_vector(random, dyn_model_nv(r->model), 2, r->v);
    random_vector(random, dyn_model_nv(r->model), 5, r->a);
}

static void compute_tau(robot *r) {
    dyn_error error;
    require(dyn_rnea(r->model, r->workspace, 1, NULL, r->q, r->v, r->a, NULL, r->tau, &error), &error);
}

static char *canonical(const dyn_model *model) {
    char *text;
    size_t length;
    dyn_error error;
    require(dyn_model_canonical(model, &text, &length, &error), &error);
    return text;
}

static const char *link_name(const dyn_model *model, int link) {
    return dyn_model_link(model, link)->name;
}

static const char *random_link(random_source *random, const dyn_model *model) {
    return link_name(model, random_index(random, dyn_model_link_count(model)));
}

static dyn_pose pose_of(robot *r, const char *frame) {
    dyn_pose pose;
    dyn_error error;
    int index;
    require(dyn_model_find_frame(r->model, frame, &index, &error), &error);
    require(dyn_frame_pose(r->model, r->workspace, 1, r->q, index, pose.position, pose.rotation, &error), &error);
    return pose;
}

/* Returns the pose in A of the frame with pose b in B, where B has the pose a in A. */
static dyn_pose product(const dyn_pose *a, const dyn_pose *b) {
    dyn_pose ab;
    for (int i = 0; i < 3; i++) {
        ab.position[i] = a->position[i];
        for (int j = 0; j < 3; j++) {
            ab.position[i] += a->rotation[3 * i + j] * b->position[j];
            ab.rotation[3 * i + j] = 0;
            for (int m = 0; m < 3; m++) {
                ab.rotation[3 * i + j] += a->rotation[3 * i + m] * b->rotation[3 * m + j];
            }
        }
    }
    return ab;
}

static void assert_same_pose(const char *what, int k, const dyn_pose *a, const dyn_pose *b) {
    assert_close(what, k, a->position, b->position, 3, 1e-10);
    assert_close(what, k, a->rotation, b->rotation, 9, 1e-11);
}

/* Checks that the links that both robots have are at the same poses. */
static void assert_same_poses(const char *what, int k, robot *a, robot *b) {
    for (int i = 0; i < dyn_model_link_count(a->model); i++) {
        const char *name = link_name(a->model, i);
        int index;
        if (dyn_model_find_frame(b->model, name, &index, NULL) == DYN_OK && index >= 0) {
            dyn_pose x = pose_of(a, name), y = pose_of(b, name);
            assert_same_pose(what, k, &x, &y);
        }
    }
}

/* Computes the kinetic energy v' M v / 2 and the power of gravity v' g. */
static void energies(robot *r, double out[2]) {
    int nv = dyn_model_nv(r->model);
    double *M = calloc((size_t)(nv * nv) + 1, sizeof *M), g[MAX_NV];
    dyn_error error;
    require(dyn_crba(r->model, r->workspace, 1, r->q, M, &error), &error);
    require(dyn_gravity(r->model, r->workspace, 1, NULL, r->q, g, &error), &error);
    out[0] = out[1] = 0;
    for (int i = 0; i < nv; i++) {
        for (int j = 0; j < nv; j++) {
            out[0] += r->v[i] * M[i * nv + j] * r->v[j] / 2;
        }
        out[1] += r->v[i] * g[i];
    }
    free(M);
}

/* ---- coordinates of a joint in another model --------------------------------------------------------------------- */

static void cross(const double a[3], const double b[3], double out[3]) {
    out[0] = a[1] * b[2] - a[2] * b[1], out[1] = a[2] * b[0] - a[0] * b[2], out[2] = a[0] * b[1] - a[1] * b[0];
}

static void rotate(const double R[9], bool transposed, const double x[3], double out[3]) {
    for (int i = 0; i < 3; i++) {
        out[i] = 0;
        for (int j = 0; j < 3; j++) {
            out[i] += R[transposed ? 3 * j + i : 3 * i + j] * x[j];
        }
    }
}

/* Inverts a displacement, to (R', -R' r), with its rates: minus the twist in the other link's axes. */
static void invert_displacement(const double r[3], const double R[9], const double v[3], const double w[3],
                                double r_out[3], double v_out[3], double w_out[3]) {
    double turn[3];
    rotate(R, true, r, r_out);
    rotate(R, false, w, w_out);
    rotate(R, false, v, v_out);
    cross(r, w_out, turn);
    for (int i = 0; i < 3; i++) {
        r_out[i] = -r_out[i];
        v_out[i] = -v_out[i] - turn[i];
        w_out[i] = -w_out[i];
    }
}

/* Converts coordinates of a joint to those of the joint traversed the other way. */
static void reverse_coordinates(dyn_joint_type type, const double *q, const double *v, double *q_out, double *v_out) {
    double R[9], zero[3] = {0}, r_out[3], v3[3], w3[3];
    switch (type) {
    case DYN_JOINT_TYPE_UNIVERSAL:
        q_out[0] = q[1], q_out[1] = q[0];
        v_out[0] = v[1], v_out[1] = v[0];
        break;
    case DYN_JOINT_TYPE_PLANAR: {
        double c = cos(q[2]), s = sin(q[2]);
        const double turn[9] = {c, -s, 0, s, c, 0, 0, 0, 1}, r[3] = {q[0], q[1], 0};
        const double linear[3] = {v[0], v[1], 0}, angular[3] = {0, 0, v[2]};
        invert_displacement(r, turn, linear, angular, r_out, v3, w3);
        q_out[0] = r_out[0], q_out[1] = r_out[1], q_out[2] = -q[2];
        v_out[0] = v3[0], v_out[1] = v3[1], v_out[2] = w3[2];
        break;
    }
    case DYN_JOINT_TYPE_SPHERICAL:
        dyn_quaternion_to_rotation(q, R);
        invert_displacement(zero, R, zero, v, r_out, v3, v_out);
        q_out[0] = -q[0], q_out[1] = -q[1], q_out[2] = -q[2], q_out[3] = q[3];
        break;
    case DYN_JOINT_TYPE_FLOATING:
        dyn_quaternion_to_rotation(q + 3, R);
        invert_displacement(q, R, v, v + 3, q_out, v_out, v_out + 3);
        q_out[3] = -q[3], q_out[4] = -q[4], q_out[5] = -q[5], q_out[6] = q[6];
        break;
    default:
        memcpy(q_out, q, (type == DYN_JOINT_TYPE_CYLINDRICAL ? 2 : 1) * sizeof *q);
        memcpy(v_out, v, (type == DYN_JOINT_TYPE_CYLINDRICAL ? 2 : 1) * sizeof *v);
    }
}

/* Copies the state of `from` to `to`, joint by joint. Joints without a counterpart do not change; neither do
 * accelerations of joints that `to` traverses the other way. */
static void carry_state(const robot *from, robot *to) {
    for (int j = 0; j < dyn_model_joint_count(to->model); j++) {
        const dyn_joint *y = dyn_model_joint(to->model, j);
        int i = dyn_model_find_joint(from->model, y->name);
        if (i < 0 || y->nq == 0 || y->parent_link < 0) {
            continue;
        }
        const dyn_joint *x = dyn_model_joint(from->model, i);
        ck_assert_int_eq(x->type, y->type);
        bool reversed = strcmp(link_name(from->model, x->child_link), link_name(to->model, y->child_link)) != 0;
        const double *q = from->q + x->q_index, *v = from->v + x->v_index;
        if (reversed) {
            reverse_coordinates(x->type, q, v, to->q + y->q_index, to->v + y->v_index);
        } else {
            memcpy(to->q + y->q_index, q, (size_t)x->nq * sizeof *q);
            memcpy(to->v + y->v_index, v, (size_t)x->nv * sizeof *v);
            memcpy(to->a + y->v_index, from->a + x->v_index, (size_t)x->nv * sizeof *v);
        }
    }
}

/* Sets pose and velocity of the floating base of `to` to those of the link `link` in `from`. */
static void carry_base(robot *from, robot *to, const char *link) {
    int frame, nv = dyn_model_nv(from->model);
    double *J = calloc((size_t)(6 * nv) + 1, sizeof *J);
    dyn_error error;
    require(dyn_model_find_frame(from->model, link, &frame, &error), &error);
    require(dyn_frame_jacobian(from->model, from->workspace, 1, from->q, frame, DYN_REFERENCE_FRAME_LOCAL, J, &error),
            &error);
    dyn_pose pose = pose_of(from, link);
    memcpy(to->q, pose.position, sizeof pose.position);
    dyn_rotation_to_quaternion(pose.rotation, to->q + 3);
    for (int i = 0; i < 6; i++) {
        to->v[i] = 0;
        for (int c = 0; c < nv; c++) {
            to->v[i] += J[(i < 3 ? i + 3 : i - 3) * nv + c] * from->v[c];
        }
    }
    free(J);
}

/* ---- properties -------------------------------------------------------------------------------------------------- */

/* Checks that locking joints at their positions leaves the forces of the others unchanged. */
START_TEST(locked_joints_leave_the_forces_of_the_others) {
    random_source base = random_seed("RNEA(lock(model)) = part of RNEA(model)", 20261203);
    dyn_error error;
    static robot full, locked;
    for (int k = 0; k < CASES; k++) {
        random_source random = random_case(base, (uint64_t)k);
        robot_random(&full, &random, k, true);
        const char *names[MAX_JOINTS + 1];
        size_t count = 0;
        for (int j = 0; j < dyn_model_joint_count(full.model); j++) {
            const dyn_joint *joint = dyn_model_joint(full.model, j);
            if (joint->master < 0 && random_index(&random, 2)) {
                names[count++] = joint->name;
                memset(full.v + joint->v_index, 0, (size_t)joint->nv * sizeof(double));
                memset(full.a + joint->v_index, 0, (size_t)joint->nv * sizeof(double));
            }
        }
        dyn_model *result;
        require(dyn_model_lock(full.model, count, names, full.q, &result, &error), &error);
        robot_init(&locked, result);
        carry_state(&full, &locked);
        int free_base = dyn_model_is_floating(result) ? 7 : 0;
        memcpy(locked.q, full.q, (size_t)free_base * sizeof(double));
        memcpy(locked.v, full.v, (size_t)(free_base ? 6 : 0) * sizeof(double));
        memcpy(locked.a, full.a, (size_t)(free_base ? 6 : 0) * sizeof(double));
        assert_same_poses("poses", k, &full, &locked);
        compute_tau(&full), compute_tau(&locked);
        for (int j = 0; j < dyn_model_joint_count(result); j++) {
            const dyn_joint *y = dyn_model_joint(result, j);
            const dyn_joint *x = dyn_model_joint(full.model, dyn_model_find_joint(full.model, y->name));
            assert_close("tau", k, locked.tau + y->v_index, full.tau + x->v_index, (size_t)x->nv, 1e-10);
        }
        robot_free(&full), robot_free(&locked);
    }
}
END_TEST

/* Checks that a payload of single calls has the effect of the payload of a new model, and that the shared model
 * computes the same bits as before. */
START_TEST(loaded_workspace_computes_as_a_loaded_model) {
    random_source base = random_seed("loaded(model) = attach(model)", 20261204);
    dyn_error error;
    static robot plain, attached;
    for (int k = 0; k < CASES; k++) {
        random_source random = random_case(base, (uint64_t)k);
        robot_random(&plain, &random, k, true);
        int nv = dyn_model_nv(plain.model), link = random_index(&random, dyn_model_link_count(plain.model));
        dyn_payload payloads[2] = {{.link = link}, {.link = random_index(&random, dyn_model_link_count(plain.model))}};
        const double size[3] = {0.1, 0.2, 0.3};
        dyn_pose pose = {.position = {0.1, -0.2, 0.3}};
        double quaternion[4];
        random_unit(&random, 4, quaternion);
        dyn_quaternion_to_rotation(quaternion, pose.rotation);
        dyn_inertia box;
        require(dyn_inertia_box(3, size, &box, &error), &error);
        dyn_inertia_transform(&box, &pose, &payloads[0].inertia);
        require(dyn_inertia_sphere(2, 0.4, &payloads[1].inertia, &error), &error);
        payloads[1].replaces = true;
        dyn_model *once, *twice;
        require(dyn_model_attach(plain.model, link_name(plain.model, link), "payload", &box, &pose, &once, &error),
                &error);
        require(dyn_model_change_inertia(once, link_name(plain.model, payloads[1].link), &payloads[1].inertia, &twice,
                                         &error),
                &error);
        dyn_model_free(once);
        robot_init(&attached, twice);
        memcpy(attached.q, plain.q, sizeof plain.q);
        memcpy(attached.v, plain.v, sizeof plain.v);
        memcpy(attached.a, plain.a, sizeof plain.a);
        compute_tau(&plain), compute_tau(&attached);
        const dyn_model *loaded;
        double tau[MAX_NV], a[MAX_NV], b[MAX_NV];
        double *M = calloc((size_t)(nv * nv) + 1, sizeof *M), *N = calloc((size_t)(nv * nv) + 1, sizeof *N);
        require(dyn_workspace_load(plain.workspace, 2, payloads, &loaded, &error), &error);
        require(dyn_rnea(loaded, plain.workspace, 1, NULL, plain.q, plain.v, plain.a, NULL, tau, &error), &error);
        assert_close("RNEA", k, tau, attached.tau, (size_t)nv, 1e-11);
        require(dyn_crba(loaded, plain.workspace, 1, plain.q, M, &error), &error);
        require(dyn_crba(twice, attached.workspace, 1, plain.q, N, &error), &error);
        assert_close("CRBA", k, M, N, (size_t)(nv * nv), 1e-11);
        require(dyn_gravity(loaded, plain.workspace, 1, NULL, plain.q, a, &error), &error);
        require(dyn_gravity(twice, attached.workspace, 1, NULL, plain.q, b, &error), &error);
        assert_close("gravity", k, a, b, (size_t)nv, 1e-11);
        if (dyn_model_link(plain.model, payloads[1].link)->moving_joint < 0 || !payloads[1].replaces) {
            require(dyn_aba(loaded, plain.workspace, 1, NULL, plain.q, plain.v, tau, NULL, a, &error), &error);
            assert_close("ABA(RNEA)", k, a, plain.a, (size_t)nv, 1e-7);
        }
        ck_assert_double_eq_tol(dyn_model_mass(loaded), dyn_model_mass(twice), 1e-12 * dyn_model_mass(twice) + 1e-15);
        /* The model without payloads, and that of the workspace once its payloads are removed, compute the bits from
         * before the payloads. */
        require(dyn_rnea(plain.model, plain.workspace, 1, NULL, plain.q, plain.v, plain.a, NULL, tau, &error), &error);
        ck_assert_mem_eq(tau, plain.tau, (size_t)nv * sizeof *tau);
        require(dyn_workspace_load(plain.workspace, 0, NULL, &loaded, &error), &error);
        require(dyn_rnea(loaded, plain.workspace, 1, NULL, plain.q, plain.v, plain.a, NULL, tau, &error), &error);
        ck_assert_mem_eq(tau, plain.tau, (size_t)nv * sizeof *tau);
        free(M), free(N);
        robot_free(&plain), robot_free(&attached);
    }
}
END_TEST

/* Checks a change to another floating base: every link keeps its pose, and kinetic energy and power of gravity are
 * equal. */
START_TEST(change_of_base_keeps_poses_and_energies) {
    random_source base = random_seed("energies of change_base(model)", 20261205);
    dyn_error error;
    static robot before, after;
    for (int k = 0; k < CASES; k++) {
        random_source random = random_case(base, (uint64_t)k);
        robot_random(&before, &random, k, true);
        const char *link = random_link(&random, before.model);
        dyn_model *result;
        require(dyn_model_change_base(before.model, link, DYN_BASE_FLOATING, &result, &error), &error);
        ck_assert_str_eq(link_name(result, 0), link);
        robot_init(&after, result);
        carry_state(&before, &after);
        carry_base(&before, &after, link);
        assert_same_poses("poses", k, &before, &after);
        double x[2], y[2];
        energies(&before, x), energies(&after, y);
        assert_close("energies", k, y, x, 2, 1e-10);
        if (dyn_model_is_floating(before.model)) {
            ck_assert_double_eq_tol(dyn_model_mass(result), dyn_model_mass(before.model), 1e-9);
        }
        robot_free(&before), robot_free(&after);
    }
}
END_TEST

/* Checks that a change of base can be undone: the forces are equal, and no link is added. */
START_TEST(base_can_be_changed_back) {
    random_source base = random_seed("change_base there and back", 20261206);
    dyn_error error;
    static robot before, after;
    for (int k = 0; k < CASES; k++) {
        random_source random = random_case(base, (uint64_t)k);
        robot_random(&before, &random, k, true);
        dyn_model *there, *back;
        const char *link = random_link(&random, before.model), *root = link_name(before.model, 0);
        dyn_base kind = dyn_model_is_floating(before.model) ? DYN_BASE_FLOATING : DYN_BASE_FIXED;
        require(dyn_model_change_base(before.model, link, DYN_BASE_FIXED, &there, &error), &error);
        require(dyn_model_change_base(there, root, kind, &back, &error), &error);
        ck_assert_int_eq(dyn_model_link_count(there), dyn_model_link_count(back));
        dyn_model_free(there);
        robot_init(&after, back);
        if (kind == DYN_BASE_FLOATING) {
            memcpy(after.q, before.q, 7 * sizeof(double));
            memcpy(after.v, before.v, 6 * sizeof(double));
            memcpy(after.a, before.a, 6 * sizeof(double));
        }
        for (int j = 0; j < dyn_model_joint_count(back); j++) {
            const dyn_joint *y = dyn_model_joint(back, j);
            const dyn_joint *x = dyn_model_joint(before.model, dyn_model_find_joint(before.model, y->name));
            memcpy(after.q + y->q_index, before.q + x->q_index, (size_t)y->nq * sizeof(double));
            memcpy(after.v + y->v_index, before.v + x->v_index, (size_t)y->nv * sizeof(double));
            memcpy(after.a + y->v_index, before.a + x->v_index, (size_t)y->nv * sizeof(double));
        }
        assert_same_poses("poses", k, &before, &after);
        compute_tau(&before), compute_tau(&after);
        for (int j = 0; j < dyn_model_joint_count(back); j++) {
            const dyn_joint *y = dyn_model_joint(back, j);
            const dyn_joint *x = dyn_model_joint(before.model, dyn_model_find_joint(before.model, y->name));
            assert_close("tau", k, after.tau + y->v_index, before.tau + x->v_index, (size_t)y->nv, 1e-10);
        }
        robot_free(&before), robot_free(&after);
    }
}
END_TEST

/* Checks that M of a subtree is the block of M for its joints, and that their gravity forces are equal when the
 * subtree's base has the former pose. */
START_TEST(subtree_has_its_block_of_the_mass_matrix) {
    random_source base = random_seed("M(subtree) = block of M", 20261207);
    dyn_error error;
    static robot full, part;
    for (int k = 0; k < CASES; k++) {
        random_source random = random_case(base, (uint64_t)k);
        robot_random(&full, &random, k, false);
        const char *link = random_link(&random, full.model);
        dyn_model *result;
        require(dyn_model_subtree(full.model, link, DYN_BASE_FLOATING, &result, &error), &error);
        robot_init(&part, result);
        carry_state(&full, &part);
        carry_base(&full, &part, link);
        assert_same_poses("poses", k, &full, &part);
        int nv = dyn_model_nv(full.model), own = dyn_model_nv(result), place[MAX_NV];
        double *M = calloc((size_t)(nv * nv) + 1, sizeof *M), *N = calloc((size_t)(own * own), sizeof *N);
        double *block = calloc((size_t)(own * own), sizeof *block), g[MAX_NV], h[MAX_NV], *of_full = block;
        require(dyn_crba(full.model, full.workspace, 1, full.q, M, &error), &error);
        require(dyn_crba(result, part.workspace, 1, part.q, N, &error), &error);
        require(dyn_gravity(full.model, full.workspace, 1, NULL, full.q, g, &error), &error);
        require(dyn_gravity(result, part.workspace, 1, NULL, part.q, h, &error), &error);
        for (int j = 1; j < dyn_model_joint_count(result); j++) {
            const dyn_joint *y = dyn_model_joint(result, j);
            const dyn_joint *x = dyn_model_joint(full.model, dyn_model_find_joint(full.model, y->name));
            for (int c = 0; c < y->nv; c++) {
                place[y->v_index + c] = x->v_index + c;
                ck_assert_double_eq_tol(h[y->v_index + c], g[x->v_index + c], 1e-9);
            }
        }
        for (int i = 0; i < own; i++) {
            for (int j = 0; j < own; j++) {
                of_full[i * own + j] = i < 6 || j < 6 ? N[i * own + j] : M[place[i] * nv + place[j]];
            }
        }
        assert_close("M", k, N, of_full, (size_t)(own * own), 1e-11);
        free(M), free(N), free(block);
        robot_free(&full), robot_free(&part);
    }
}
END_TEST

/* Checks that the pose of a chain's last link in its first one is that in the whole robot. */
START_TEST(chain_has_the_relative_pose_of_its_ends) {
    random_source base = random_seed("chain(first, last)", 20261208);
    dyn_error error;
    static robot full, chain;
    for (int k = 0; k < CASES; k++) {
        random_source random = random_case(base, (uint64_t)k);
        robot_random(&full, &random, k, false);
        const char *first = random_link(&random, full.model), *last = random_link(&random, full.model);
        dyn_model *result;
        require(dyn_model_chain(full.model, first, last, DYN_BASE_FIXED, &result, &error), &error);
        robot_init(&chain, result);
        carry_state(&full, &chain);
        for (int j = 1; j < dyn_model_joint_count(result); j++) {
            ck_assert_int_eq(dyn_model_link(result, dyn_model_joint(result, j)->parent_link)->moving_joint, j - 1);
        }
        dyn_pose at_first = pose_of(&full, first), at_last = pose_of(&full, last), relative = pose_of(&chain, last);
        dyn_pose composed = product(&at_first, &relative);
        assert_same_pose("pose", k, &composed, &at_last);
        robot_free(&full), robot_free(&chain);
    }
}
END_TEST

/* Checks that a merged robot is where it was attached, that its subtree is the second robot, and that detaching it
 * leaves the first one. */
START_TEST(merged_robots_come_apart_again) {
    random_source base = random_seed("merge and detach", 20261209);
    dyn_error error;
    static robot first, second, both, part;
    for (int k = 0; k < CASES; k++) {
        random_source random = random_case(base, (uint64_t)k);
        robot_random(&first, &random, k, true);
        robot_random(&second, &random, k / 2, true);
        const char *link = random_link(&random, first.model);
        dyn_pose pose = {.position = {0.3, 0.2, -0.1}};
        double quaternion[4];
        random_unit(&random, 4, quaternion);
        dyn_quaternion_to_rotation(quaternion, pose.rotation);
        dyn_model *merged, *rest, *again;
        require(dyn_model_merge(first.model, link, &pose, second.model, "hand_", &merged, &error), &error);
        require(dyn_model_detach(merged, "hand_link0", &rest, &error), &error);
        char *x = canonical(first.model), *y = canonical(rest);
        ck_assert_str_eq(x, y);
        free(x), free(y);
        dyn_model_free(rest);
        dyn_base kind = dyn_model_is_floating(second.model) ? DYN_BASE_FLOATING : DYN_BASE_FIXED;
        require(dyn_model_subtree(merged, "hand_link0", kind, &again, &error), &error);
        ck_assert_int_eq(dyn_model_nq(again), dyn_model_nq(second.model));
        robot_init(&part, again);
        memcpy(part.q, second.q, sizeof part.q), memcpy(part.v, second.v, sizeof part.v);
        memcpy(part.a, second.a, sizeof part.a);
        compute_tau(&part), compute_tau(&second);
        assert_close("tau", k, part.tau, second.tau, (size_t)dyn_model_nv(again), 1e-14);

        robot_init(&both, merged);
        dyn_zero_configuration(merged, both.q);
        carry_state(&first, &both);
        if (dyn_model_is_floating(merged)) {
            memcpy(both.q, first.q, 7 * sizeof(double));
        }
        dyn_pose carrier = pose_of(&both, link), root = product(&carrier, &pose), found = pose_of(&both, "hand_link0");
        assert_same_pose("root", k, &found, &root);
        robot_free(&first), robot_free(&second), robot_free(&both), robot_free(&part);
    }
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("operations");
    tcase_set_timeout(tests, 240);
    tcase_add_test(tests, locked_joints_leave_the_forces_of_the_others);
    tcase_add_test(tests, loaded_workspace_computes_as_a_loaded_model);
    tcase_add_test(tests, change_of_base_keeps_poses_and_energies);
    tcase_add_test(tests, base_can_be_changed_back);
    tcase_add_test(tests, subtree_has_its_block_of_the_mass_matrix);
    tcase_add_test(tests, chain_has_the_relative_pose_of_its_ends);
    tcase_add_test(tests, merged_robots_come_apart_again);
    return run_properties("operations", tests);
}
