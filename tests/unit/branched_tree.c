/* SPDX-License-Identifier: BSD-2-Clause */
#include "branched_tree.h"

#include <stdio.h>
#include <stdlib.h>

#include "lib/src/model/placement.h"
#include "robots.h"
#include "support/assertions.h"
#include "support/random.h"

const char *const tree_links[JOINTS + 1] = {"base", "l0", "l1", "l2", "l3", "l4", "l5", "l6", "l7"};
const int tree_parents[JOINTS] = {0, 1, 1, 3, 1, 5, 6, 7};
static const dyn_joint_type types[JOINTS] = {
    DYN_JOINT_TYPE_REVOLUTE, DYN_JOINT_TYPE_CONTINUOUS, DYN_JOINT_TYPE_REVOLUTE, DYN_JOINT_TYPE_PRISMATIC,
    DYN_JOINT_TYPE_HELICAL,  DYN_JOINT_TYPE_REVOLUTE,   DYN_JOINT_TYPE_REVOLUTE, DYN_JOINT_TYPE_CONTINUOUS};

dyn_builder *branched_tree(void) {
    random_source random = {11};
    dyn_builder *builder = new_builder();
    for (int i = 0; i <= JOINTS; i++) {
        add_link_with(builder, tree_links[i],
                      &(dyn_inertia){.mass = 1 + 0.1 * i,
                                     .center_of_mass = {0.1, -0.05 * i, 0.2},
                                     .rotational = {0.1, 0.01, 0, 0.12, -0.02, 0.09}});
    }
    for (int j = 0; j < JOINTS; j++) {
        char name[8];
        double axis[3];
        snprintf(name, sizeof name, "j%d", j);
        dyn_joint_description joint = joint_between(name, types[j], tree_links[tree_parents[j]], tree_links[j + 1]);
        random_unit(&random, 3, axis);
        rotation_from_z(axis, joint.rotation);
        random_unit(&random, 3, joint.position);
        random_unit(&random, 3, joint.axis);
        joint.pitch = 0.3;
        add_joint(builder, &joint);
    }
    return builder;
}

void draw_states(const char *property, states *x) {
    random_source random = random_seed(property, 7);
    for (int i = 0; i < STATES * NQ; i++) {
        x->q[i] = random_uniform(&random, -1, 1);
    }
    for (int i = 0; i < STATES; i++) {
        random_unit(&random, 4, x->q + i * NQ + 3);
    }
    for (int k = 0; k < STATES * NV; k++) {
        x->v[k] = random_uniform(&random, -2, 2);
        x->a[k] = random_uniform(&random, -3, 3);
        x->tau[k] = random_uniform(&random, -5, 5);
    }
    for (int k = 0; k < STATES * 6; k++) {
        x->wrench[k] = random_uniform(&random, -5, 5);
    }
}

dyn_workspace *workspace_of(const dyn_model *model) {
    dyn_workspace *w;
    dyn_error error;
    require(dyn_workspace_create(model, &w, &error), &error);
    return w;
}

double *compute(const dyn_model *model, algorithm_id id, size_t n, const states *x) {
    dyn_error error;
    dyn_workspace *w = workspace_of(model);
    algorithm_input in = {
        .model = model, .workspace = w, .n = n, .q = x->q, .v = x->v, .a = x->a, .tau = x->tau, .wrench = x->wrench};
    require(dyn_model_find_frame(model, "l3", &in.frame, &error), &error);
    double *out = numbers(n * algorithm_width(id, model));
    require(algorithm_compute(id, &in, &error, out), &error);
    dyn_workspace_free(w);
    return out;
}

void compare_algorithm(const dyn_model *model, const dyn_model *twin, algorithm_id id, const states *x) {
    for (size_t n = 1; n <= STATES; n += STATES - 1) {
        double *own = compute(model, id, n, x), *expected = compute(twin, id, n, x);
        assert_norm_close(algorithm_get(id)->name, (int)n, own, expected, n * algorithm_width(id, model), 1e-10);
        free(own), free(expected);
    }
}

void compare_with_twin(const dyn_model *model, const dyn_model *twin, const states *x) {
    for (algorithm_id id = 0; id < ALGORITHM_COUNT; id++) {
        bool is_of_links = id == ALGORITHM_JOINT_WRENCHES || id == ALGORITHM_REGRESSOR ||
                           id == ALGORITHM_ENERGY_REGRESSOR || id == ALGORITHM_BODY_INERTIA ||
                           id == ALGORITHM_PRINCIPAL_MOMENTS || id == ALGORITHM_ROTOR_FORCES ||
                           id == ALGORITHM_ROTOR_COUPLING_FORCES;
        if (!is_of_links) {
            compare_algorithm(model, twin, id, x);
        }
    }
}

double *difference(const dyn_model *model, const dyn_model *other, const states *x) {
    double *first = compute(model, ALGORITHM_RNEA, STATES, x), *second = compute(other, ALGORITHM_RNEA, STATES, x);
    for (int k = 0; k < STATES * dyn_model_nv(model); k++) {
        first[k] -= second[k];
    }
    free(second);
    return first;
}

void compare_formulations(const dyn_model *model, const states *x) {
    int computed = 0;
    double tau[NV], *expected = compute(model, ALGORITHM_RNEA, 1, x);
    for (int i = 0; i < dyn_formulation_count(); i++) {
        dyn_formulation *formulation;
        dyn_error error;
        const char *name = dyn_formulation_traits_at(i)->name;
        dyn_status status = dyn_formulation_create(model, name, &formulation, &error);
        if (status != DYN_OK) {
            ck_assert_int_eq(status, DYN_FAILED_PRECONDITION);
            continue;
        }
        require(dyn_formulation_inverse_dynamics(formulation, 1, NULL, x->q, x->v, x->a, tau, &error), &error);
        assert_norm_close(name, i, tau, expected, (size_t)dyn_model_nv(model), 1e-9);
        dyn_formulation_free(formulation);
        computed++;
    }
    ck_assert_int_gt(computed, 0);
    free(expected);
}
