/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Published robots whose rotors are links with coupled joints, against the same robots with rotors as machine elements.
 * Tests of files that are not present have nothing to compare.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/src/model/placement.h"
#include "robots.h"
#include "support/assertions.h"
#include "support/random.h"

enum { SAMPLES = 30 };

/* Robot with its rotors as links, which constraints couple, and with its rotors as machine elements. */
typedef struct robot_pair {
    dyn_model *links, *elements;
    double *G; /* v of the one = G v of the other */
} robot_pair;

static bool is_rotor(const char *link) {
    return strstr(link, "rotor") != NULL;
}

static const dyn_joint_description *joint_named(const dyn_builder *builder, const char *name) {
    for (int i = 0; i < dyn_builder_joint_count(builder); i++) {
        if (strcmp(dyn_builder_joint(builder, i)->name, name) == 0) {
            return dyn_builder_joint(builder, i);
        }
    }
    ck_abort_msg("there is no joint %s", name);
    return NULL;
}

static const dyn_inertia *inertia_of(const dyn_builder *builder, const char *link) {
    for (int i = 0; i < dyn_builder_link_count(builder); i++) {
        if (strcmp(dyn_builder_link(builder, i)->name, link) == 0) {
            return &dyn_builder_link(builder, i)->inertia;
        }
    }
    ck_abort_msg("there is no link %s", link);
    return NULL;
}

/* Finds the driven joint and the joint of the rotor that a coupling ties. Returns the rate of the second one over that
 * of the first. */
static double find_coupled(const dyn_builder *builder, const dyn_constraint_description *coupling,
                           const dyn_joint_description *found[2]) {
    const dyn_coupled_coordinate *c = coupling->coupled;
    int rotor = is_rotor(joint_named(builder, c[1].joint)->child_link);
    found[0] = joint_named(builder, c[1 - rotor].joint);
    found[1] = joint_named(builder, c[rotor].joint);
    return -c[1 - rotor].coefficient / c[rotor].coefficient;
}

/* Returns the rotor element of a rotor link on the parent link of the driven joint, in whose frame the element is. */
static dyn_rotor rotor_of(const dyn_builder *builder, const dyn_joint_description *driven,
                          const dyn_joint_description *spin, double ratio) {
    const dyn_inertia *I = inertia_of(builder, spin->child_link);
    const double *J = I->rotational, *u = spin->axis;
    double back[9], turn[9], step[3];
    dyn_rotor rotor = {.ratio = ratio, .mass = I->mass};
    ck_assert_str_eq(driven->parent_link, spin->parent_link);
    ck_assert_double_eq(norm(I->center_of_mass, 3), 0);
    rotation_transpose(driven->rotation, back);
    rotation_multiply(back, spin->rotation, turn);
    rotation_apply(turn, u, rotor.axis);
    for (int k = 0; k < 3; k++) {
        step[k] = spin->position[k] - driven->position[k];
    }
    rotation_apply(back, step, rotor.position);
    rotor.axial_inertia = J[0] * u[0] * u[0] + J[3] * u[1] * u[1] + J[5] * u[2] * u[2];
    rotor.transverse_inertia = I->mass > 0 ? (J[0] + J[3] + J[5] - rotor.axial_inertia) / 2 : 0;
    return rotor;
}

/* Builds the robot with elements in place of rotor links. */
static dyn_model *with_elements(const dyn_builder *source) {
    dyn_builder *builder = new_builder();
    dyn_error error;
    for (int i = 0; i < dyn_builder_link_count(source); i++) {
        const dyn_link_description *link = dyn_builder_link(source, i);
        if (!is_rotor(link->name)) {
            add_link_with(builder, link->name, &link->inertia);
        }
    }
    for (int i = 0; i < dyn_builder_joint_count(source); i++) {
        const dyn_joint_description *joint = dyn_builder_joint(source, i);
        if (!is_rotor(joint->child_link)) {
            add_joint(builder, joint);
        }
    }
    for (int i = 0; i < dyn_builder_constraint_count(source); i++) {
        const dyn_constraint_description *coupling = dyn_builder_constraint(source, i);
        const dyn_joint_description *joints[2];
        double ratio = find_coupled(source, coupling, joints);
        const dyn_machine_element_description rotor = {.name = coupling->name,
                                                       .kind = DYN_MACHINE_ELEMENT_KIND_ROTOR,
                                                       .joint = joints[0]->name,
                                                       .rotor = rotor_of(source, joints[0], joints[1], ratio)};
        require(dyn_builder_add_machine_element(builder, &rotor, &error), &error);
    }
    return build_model(builder, NULL, NULL);
}

static const dyn_joint *joint_of(const dyn_model *model, const char *name) {
    return dyn_model_joint(model, dyn_model_find_joint(model, name));
}

/* Returns G: a joint that both robots have moves with its own rates, a rotor with those of its driven joint. */
static double *find_rates(const robot_pair *p, const dyn_builder *source) {
    int nv = dyn_model_nv(p->elements);
    double *G = numbers((size_t)dyn_model_nv(p->links) * (size_t)nv);
    for (int i = 0; i < dyn_model_joint_count(p->elements); i++) {
        const dyn_joint *own = dyn_model_joint(p->elements, i), *same = joint_of(p->links, own->name);
        for (int k = 0; k < own->nv; k++) {
            G[(same->v_index + k) * nv + own->v_index + k] = 1;
        }
    }
    for (int i = 0; i < dyn_builder_constraint_count(source); i++) {
        const dyn_joint_description *joints[2];
        double ratio = find_coupled(source, dyn_builder_constraint(source, i), joints);
        G[joint_of(p->links, joints[1]->name)->v_index * nv + joint_of(p->elements, joints[0]->name)->v_index] = ratio;
    }
    return G;
}

/* Opens a robot of the reference data. Returns false where the file is not present. */
static bool open_pair(const char *name, robot_pair *p) {
    char path[512];
    size_t length;
    dyn_error error;
    dyn_builder *source;
    snprintf(path, sizeof path, "%s/closed_loops/%s.urdf", DYNAMICS_REFERENCE_DIR, name);
    char *text = read_whole_file(path, &length);
    if (!text) {
        return false;
    }
    p->links = load_urdf(text, NULL, NULL);
    require(dyn_model_describe(p->links, &source, &error), &error);
    p->elements = with_elements(source);
    p->G = find_rates(p, source);
    dyn_builder_free(source);
    free(text);
    return true;
}

static void close_pair(robot_pair *p) {
    dyn_model_free(p->links);
    dyn_model_free(p->elements);
    free(p->G);
}

/* Computes y = G x. */
static void expand(const robot_pair *p, const double *x, double *y) {
    int rows = dyn_model_nv(p->links), nv = dyn_model_nv(p->elements);
    for (int i = 0; i < rows; i++) {
        y[i] = 0;
        for (int k = 0; k < nv; k++) {
            y[i] += p->G[i * nv + k] * x[k];
        }
    }
}

/* Computes y = G' x for `columns` columns of x. */
static void reduce(const robot_pair *p, const double *x, int columns, double *y) {
    int rows = dyn_model_nv(p->links), nv = dyn_model_nv(p->elements);
    for (int k = 0; k < nv; k++) {
        for (int c = 0; c < columns; c++) {
            y[k * columns + c] = 0;
            for (int i = 0; i < rows; i++) {
                y[k * columns + c] += p->G[i * nv + k] * x[i * columns + c];
            }
        }
    }
}

/* State of both robots: positions, rates, accelerations and forces. */
typedef struct pair_state {
    double q[2][64], v[2][64], a[2][64], tau[64];
} pair_state;

enum { LINKS, ELEMENTS };

/* Draws a state. The angles of rotors, of which nothing depends, are those that the couplings demand. */
static void draw(random_source *random, const robot_pair *p, pair_state *x) {
    int nv = dyn_model_nv(p->elements);
    ck_assert_int_le(dyn_model_nq(p->links), 64);
    for (int k = 0; k < nv; k++) {
        x->v[ELEMENTS][k] = random_uniform(random, -2, 2);
        x->a[ELEMENTS][k] = random_uniform(random, -9, 9);
        x->tau[k] = random_uniform(random, -5, 5);
    }
    expand(p, x->v[ELEMENTS], x->v[LINKS]);
    expand(p, x->a[ELEMENTS], x->a[LINKS]);
    for (int i = 0; i < dyn_model_joint_count(p->elements); i++) {
        const dyn_joint *own = dyn_model_joint(p->elements, i), *same = joint_of(p->links, own->name);
        double *q = x->q[ELEMENTS] + own->q_index;
        for (int k = 0; k < own->nq; k++) {
            q[k] = random_uniform(random, -1, 1);
        }
        if (own->nq == 7) {
            random_unit(random, 4, q + 3);
        }
        memcpy(x->q[LINKS] + same->q_index, q, (size_t)own->nq * sizeof *q);
        for (int r = 0; own->nv == 1 && r < dyn_model_joint_count(p->links); r++) {
            const dyn_joint *spin = dyn_model_joint(p->links, r);
            double ratio = p->G[spin->v_index * nv + own->v_index];
            if (spin->nv == 1 && ratio != 0) {
                x->q[LINKS][spin->q_index] = ratio * q[0];
            }
        }
    }
}

/* Asserts M and tau of both robots, with M = G' M G and tau = G' tau. */
static void compare_dynamics(const robot_pair *p, dyn_workspace *w[2], int k, const pair_state *x) {
    int all = dyn_model_nv(p->links), nv = dyn_model_nv(p->elements);
    double *M = numbers((size_t)(all * all)), *half = numbers((size_t)(all * nv)),
           *turned = numbers((size_t)(all * nv));
    double *reduced = numbers((size_t)(nv * nv)), *own = numbers((size_t)(nv * nv)), tau[64], tau_reduced[64];
    dyn_error error;
    require(dyn_crba(p->links, w[LINKS], 1, x->q[LINKS], M, &error), &error);
    require(dyn_crba(p->elements, w[ELEMENTS], 1, x->q[ELEMENTS], own, &error), &error);
    reduce(p, M, all, half);
    for (int i = 0; i < nv; i++) {
        for (int c = 0; c < all; c++) {
            turned[c * nv + i] = half[i * all + c];
        }
    }
    reduce(p, turned, nv, reduced);
    assert_norm_close("M", k, own, reduced, (size_t)(nv * nv), 1e-12);
    require(dyn_rnea(p->links, w[LINKS], 1, NULL, x->q[LINKS], x->v[LINKS], x->a[LINKS], NULL, tau, &error), &error);
    reduce(p, tau, 1, tau_reduced);
    require(
        dyn_rnea(p->elements, w[ELEMENTS], 1, NULL, x->q[ELEMENTS], x->v[ELEMENTS], x->a[ELEMENTS], NULL, tau, &error),
        &error);
    assert_norm_close("tau", k, tau, tau_reduced, (size_t)nv, 1e-12);
    free(M), free(half), free(turned), free(reduced), free(own);
}

/* Asserts the accelerations under the same forces of the joints, where constraints hold the couplings. */
static void compare_accelerations(const robot_pair *p, dyn_workspace *w[2], int k, const pair_state *x) {
    double tau[64] = {0}, a[64], own[64], expected[64];
    dyn_error error;
    for (int i = 0; i < dyn_model_joint_count(p->elements); i++) {
        const dyn_joint *joint = dyn_model_joint(p->elements, i), *same = joint_of(p->links, joint->name);
        memcpy(tau + same->v_index, x->tau + joint->v_index, (size_t)joint->nv * sizeof *tau);
    }
    require(dyn_constrained_forward_dynamics(p->links, w[LINKS], 1, NULL, x->q[LINKS], x->v[LINKS], tau, NULL, NULL, a,
                                             NULL, NULL, &error),
            &error);
    require(dyn_aba(p->elements, w[ELEMENTS], 1, NULL, x->q[ELEMENTS], x->v[ELEMENTS], x->tau, NULL, own, &error),
            &error);
    expand(p, own, expected);
    assert_norm_close("a", k, a, expected, (size_t)dyn_model_nv(p->links), 1e-9);
}

static const char *const published[] = {"mini_cheetah", "revolute_rotor_chain"};

START_TEST(rotors_of_published_robots_are_machine_elements) {
    robot_pair p;
    dyn_workspace *w[2];
    dyn_error error;
    if (!open_pair(published[_i], &p)) {
        return;
    }
    random_source random = random_seed("rotors of published robots are machine elements", 31);
    ck_assert_double_eq_tol(dyn_model_mass(p.elements), dyn_model_mass(p.links), 1e-12);
    ck_assert_int_eq(dyn_model_nv(p.links) - dyn_model_nv(p.elements), dyn_model_constraint_rows(p.links));
    require(dyn_workspace_create(p.links, &w[LINKS], &error), &error);
    require(dyn_workspace_create(p.elements, &w[ELEMENTS], &error), &error);
    for (int k = 0; k < SAMPLES; k++) {
        pair_state x = {0};
        draw(&random, &p, &x);
        compare_dynamics(&p, w, k, &x);
        compare_accelerations(&p, w, k, &x);
    }
    dyn_workspace_free(w[LINKS]);
    dyn_workspace_free(w[ELEMENTS]);
    close_pair(&p);
}
END_TEST

int main(void) {
    TCase *all = tcase_create("rotor_bodies");
    tcase_add_loop_test(all, rotors_of_published_robots_are_machine_elements, 0, COUNT(published));
    return run_tests(all);
}
