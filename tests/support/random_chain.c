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

/* Adds a joint that carries a massless link, and a mimic joint about the same axis, or about the opposite one, that
 * carries the child link. */
static void add_scaled_joint(random_source *random, dyn_builder *builder, dyn_joint_description joint) {
    dyn_error error;
    char unit[32], rest[32];
    double sign = random_index(random, 2) ? 1 : -1;
    snprintf(unit, sizeof unit, "%s:unit", joint.name);
    snprintf(rest, sizeof rest, "%s:rest", joint.name);
    const dyn_link_description massless = {.name = unit};
    dyn_joint_description second = {.name = rest,
                                    .type = joint.type,
                                    .parent_link = unit,
                                    .child_link = joint.child_link,
                                    .axis = {0, 0, sign},
                                    .rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1},
                                    .pitch = 0.1,
                                    .mimic_joint = joint.name,
                                    .mimic_multiplier = random_uniform(random, 0.2, 0.8)};
    dyn_joint_description first = joint;
    first.child_link = unit, first.pitch = 0.1;
    random_vector(random, 3, 0.5, first.position);
    double quaternion[4];
    random_unit(random, 4, quaternion);
    dyn_quaternion_to_rotation(quaternion, first.rotation);
    first.axis[0] = first.axis[1] = 0, first.axis[2] = 1;
    require(dyn_builder_add_link(builder, &massless, &error), &error);
    require(dyn_builder_add_joint(builder, &first, &error), &error);
    require(dyn_builder_add_joint(builder, &second, &error), &error);
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
            const dyn_joint_description joint = {
                .name = name, .type = type, .parent_link = parent, .child_link = child, .damping = 0.1 + 0.05 * i};
            (options->scaled && random_index(random, 3) ? add_scaled_joint : add_joint)(random, builder, joint);
        }
    }
    dyn_build_options build = DYN_BUILD_OPTIONS_INIT(.base = options->base, .mimic = DYN_MIMIC_POLICY_COUPLED);
    require(dyn_builder_build(builder, &build, NULL, &model, &error), &error);
    dyn_builder_free(builder);
    return model;
}
