/* SPDX-License-Identifier: BSD-2-Clause */
/* Builds chains of revolute joints whose axes alternate. */
#include "chain.h"

#include <stdio.h>
#include <stdlib.h>

enum { NAME_SIZE = 32 };

void chain_require(dyn_status status, const dyn_error *error) {
    if (status != DYN_OK) {
        fprintf(stderr, "%s\n", error->message);
        exit(1);
    }
}

static void add_link(dyn_builder *builder, int i) {
    char link[NAME_SIZE], parent[NAME_SIZE];
    dyn_error error;
    snprintf(link, sizeof link, "l%d", i);
    snprintf(parent, sizeof parent, "l%d", i - 1);
    const dyn_link_description body = {.name = link, .inertia = {1, {0.1, 0.02, 0.03}, {0.03, 0, 0, 0.04, 0, 0.035}}};
    const dyn_joint_description joint = {.name = link,
                                         .type = DYN_JOINT_TYPE_CONTINUOUS,
                                         .parent_link = parent,
                                         .child_link = link,
                                         .position = {0.3, 0.05, 0},
                                         .rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1},
                                         .axis = {i % 3 == 0, i % 3 == 1, i % 3 == 2}};
    chain_require(dyn_builder_add_link(builder, &body, &error), &error);
    chain_require(i > 0 ? dyn_builder_add_joint(builder, &joint, &error) : DYN_OK, &error);
}

dyn_builder *chain_create(int n) {
    dyn_builder *builder;
    dyn_error error;
    chain_require(dyn_builder_create("chain", &builder, &error), &error);
    for (int i = 0; i <= n; i++) {
        add_link(builder, i);
    }
    return builder;
}
