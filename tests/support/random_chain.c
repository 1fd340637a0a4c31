/* SPDX-License-Identifier: BSD-2-Clause */
#include "random_chain.h"

#include <stdio.h>

#include <dynamics/dynamics.h>

#include "assertions.h"
#include "random_tree.h"

static void add_link(random_source *random, dyn_builder *builder, const char *name) {
    dyn_error error;
    dyn_link_description link = {.name = name, .inertia = {.mass = random_uniform(random, 0.5, 4)}};
    double x = random_uniform(random, 0.02, 0.2), y = random_uniform(random, 0.02, 0.2);
    random_vector(random, 3, 0.2, link.inertia.center_of_mass);
    link.inertia.rotational[0] = x, link.inertia.rotational[3] = y, link.inertia.rotational[5] = 0.9 * (x + y);
    require(dyn_builder_add_link(builder, &link, &error), &error);
}

static void add_joint(random_source *random, dyn_builder *builder, dyn_joint_description joint) {
    dyn_error error;
    double quaternion[4];
    random_unit(random, 4, quaternion);
    dyn_quaternion_to_rotation(quaternion, joint.rotation);
    random_vector(random, 3, 0.5, joint.position);
    random_unit(random, 3, joint.axis);
    random_perpendicular(random, joint.axis, joint.second_axis);
    joint.pitch = random_uniform(random, -0.2, 0.2);
    dyn_joint_motion motions[RANDOM_MOTIONS];
    if (joint.type == DYN_JOINT_TYPE_CUSTOM) {
        random_motions(random, motions);
        joint.motions = motions;
        joint.motion_count = RANDOM_MOTIONS;
    }
    require(dyn_builder_add_joint(builder, &joint, &error), &error);
}

dyn_model *random_chain(random_source *random, const random_chain_options *options) {
    dyn_builder *builder = NULL;
    dyn_model *model = NULL;
    dyn_error error;
    char name[16], parent[16], child[16];
    require(dyn_builder_create("chain", &builder, &error), &error);
    for (int i = 0; i <= options->joints; i++) {
        snprintf(child, sizeof child, "link%d", i);
        add_link(random, builder, child);
        if (i > 0) {
            int back = options->branches && i > 1 ? random_index(random, i) : 0;
            snprintf(name, sizeof name, "joint%d", i);
            snprintf(parent, sizeof parent, "link%d", i - 1 - back);
            dyn_joint_type type = options->types[random_index(random, options->type_count)];
            add_joint(random, builder,
                      (dyn_joint_description){.name = name, .type = type, .parent_link = parent, .child_link = child});
        }
    }
    dyn_build_options build = DYN_BUILD_OPTIONS_INIT(.base = options->base);
    require(dyn_builder_build(builder, &build, NULL, &model, &error), &error);
    dyn_builder_free(builder);
    return model;
}
