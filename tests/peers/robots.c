/* SPDX-License-Identifier: BSD-2-Clause */
#include "robots.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dynamics/contact.h>
#include <dynamics/description.h>
#include <dynamics/kinematics.h>
#include <dynamics/urdf.h>

#include "support/random_tree.h"

enum { NAME_SIZE = 24 };

/* Ends the program with a message that names the robot where a call failed. */
static void require(dyn_status status, const dyn_error *error, const char *robot) {
    if (status != DYN_OK) {
        fprintf(stderr, "%s: %s: %s\n", robot, error->place, error->message);
        exit(EXIT_FAILURE);
    }
}

char *robot_text(const char *name) {
    char path[512], *text = NULL;
    snprintf(path, sizeof path, "%s/%s.urdf", ROBOTS_DIRECTORY, name);
    FILE *file = fopen(path, "rb");
    size_t size = 0;
    if (!file || getdelim(&text, &size, '\0', file) < 0) {
        perror(path);
        exit(EXIT_FAILURE);
    }
    fclose(file);
    return text;
}

dyn_model *robot_load(const char *name, dyn_base base) {
    char *text = robot_text(name);
    dyn_model *model = NULL;
    dyn_error error;
    dyn_build_options options = DYN_BUILD_OPTIONS_INIT(.base = base);
    require(dyn_urdf_load(text, strlen(text), &options, NULL, &model, &error), &error, name);
    free(text);
    return model;
}

dyn_model *robot_walker(double friction) {
    static const char *const feet[] = {"FL_FOOT", "FR_FOOT", "HL_FOOT", "HR_FOOT"};
    static const dyn_pose here = {.rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    const dyn_contact_surface floor = {
        .name = "floor", .pose = here, .shape = DYN_CONTACT_SHAPE_PLANE, .friction = friction};
    dyn_model *plain = robot_load("quadruped", DYN_BASE_FLOATING), *model = NULL;
    dyn_builder *builder = NULL;
    dyn_error error;
    dyn_build_options options = DYN_BUILD_OPTIONS_INIT(.base = DYN_BASE_FLOATING);
    require(dyn_model_describe(plain, &builder, &error), &error, "walker");
    require(dyn_builder_add_contact_surface(builder, &floor, &error), &error, "floor");
    for (int i = 0; i < 4; i++) {
        const dyn_contact_surface foot = {.name = feet[i],
                                          .link = feet[i],
                                          .pose = here,
                                          .shape = DYN_CONTACT_SHAPE_SPHERE,
                                          .radius = 0.0175,
                                          .friction = friction};
        require(dyn_builder_add_contact_surface(builder, &foot, &error), &error, feet[i]);
    }
    require(dyn_builder_build(builder, &options, NULL, &model, &error), &error, "walker");
    dyn_builder_free(builder);
    dyn_model_free(plain);
    return model;
}

void robot_walker_stands(double *q) {
    /* Front knees bend backwards and hind knees forwards; each leg has two links of 0.16 m. */
    const double bend = 0.8, pose[] = {0, 0, 0.32 * cos(bend) + 0.0175, 0, 0, 0, 1};
    memcpy(q, pose, sizeof pose);
    for (int i = 0; i < 12; i++) {
        double turn = i % 3 == 0 ? 0 : i % 3 == 1 ? bend : -2 * bend;
        q[7 + i] = i < 6 ? turn : -turn;
    }
}

/* Adds a link "linkI" and a joint "jointI" between it and the parent link. */
static void add_link_to(dyn_builder *builder, int parent_link, int i, dyn_joint_description joint,
                        const dyn_inertia *inertia) {
    char name[NAME_SIZE], parent[NAME_SIZE], child[NAME_SIZE];
    snprintf(name, sizeof name, "joint%d", i);
    snprintf(parent, sizeof parent, "link%d", parent_link);
    snprintf(child, sizeof child, "link%d", i);
    joint.name = name, joint.parent_link = parent, joint.child_link = child;
    dyn_link_description link = {.name = child, .inertia = *inertia};
    dyn_error error;
    require(dyn_builder_add_joint(builder, &joint, &error), &error, name);
    require(dyn_builder_add_link(builder, &link, &error), &error, child);
}

static void add_link(dyn_builder *builder, int i, dyn_joint_description joint, const dyn_inertia *inertia) {
    add_link_to(builder, i - 1, i, joint, inertia);
}

/* Creates a builder with the root "link0", a box of 10 kg. */
static dyn_builder *start(const char *name) {
    dyn_builder *builder = NULL;
    dyn_error error;
    dyn_link_description root = {.name = "link0", .inertia = {.mass = 10, .rotational = {0.1, 0, 0, 0.12, 0, 0.14}}};
    require(dyn_builder_create(name, &builder, &error), &error, name);
    require(dyn_builder_add_link(builder, &root, &error), &error, name);
    return builder;
}

static dyn_model *finish(dyn_builder *builder, const char *name, dyn_base base) {
    dyn_model *model = NULL;
    dyn_error error;
    dyn_build_options options = DYN_BUILD_OPTIONS_INIT(.base = base);
    require(dyn_builder_build(builder, &options, NULL, &model, &error), &error, name);
    dyn_builder_free(builder);
    return model;
}

dyn_model *robot_chain(int bodies) {
    static const dyn_inertia rod = {
        .mass = 1, .center_of_mass = {0.1, 0.01, 0.02}, .rotational = {0.001, 0, 0, 0.004, 0, 0.004}};
    dyn_builder *builder = start("chain");
    for (int i = 1; i <= bodies; i++) {
        dyn_joint_description joint = {.type = DYN_JOINT_TYPE_REVOLUTE, .rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
        joint.position[0] = i > 1 ? 0.2 : 0;
        joint.axis[2 - (i - 1) % 3] = 1;
        add_link(builder, i, joint, &rod);
    }
    return finish(builder, "chain", DYN_BASE_FIXED);
}

/* Adds one branch of the humanoid: revolute joints about the axes that a word such as "zxyyyx" names. The first joint
 * is at `place` on the link `parent`, each other one 0.2 m further along `step`. Returns the number of the branch's
 * last link. */
static int add_branch(dyn_builder *builder, int parent, int first, const char *axes, const double place[3],
                      const double step[3], double mass) {
    for (int i = 0; axes[i]; i++) {
        const double *position = i == 0 ? place : step;
        dyn_joint_description joint = {.type = DYN_JOINT_TYPE_REVOLUTE, .rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
        dyn_inertia body = {.mass = mass};
        double size = 0.004 * mass;
        memcpy(joint.position, position, sizeof joint.position);
        joint.axis[axes[i] - 'x'] = 1;
        for (int k = 0; k < 3; k++) {
            body.center_of_mass[k] = 0.5 * step[k] + 0.01 * (k + 1);
        }
        const double rotational[6] = {size, 0, 0, 1.1 * size, 0, 1.2 * size};
        memcpy(body.rotational, rotational, sizeof rotational);
        add_link_to(builder, i == 0 ? parent : first + i - 1, first + i, joint, &body);
    }
    return first + (int)strlen(axes) - 1;
}

dyn_model *robot_humanoid(void) {
    static const double up[3] = {0, 0, 0.15}, down[3] = {0, 0, -0.2}, neck[3] = {0, 0, 0.3};
    dyn_builder *builder = start("humanoid");
    int chest = add_branch(builder, 0, 1, "zy", up, up, 8), last = add_branch(builder, chest, 3, "zy", neck, up, 1.5);
    for (int side = -1; side <= 1; side += 2) {
        const double hip[3] = {0, 0.1 * side, -0.1}, shoulder[3] = {0, 0.2 * side, 0.2};
        last = add_branch(builder, 0, last + 1, "zxyyyx", hip, down, 4);
        last = add_branch(builder, chest, last + 1, "yxzyzxyx", shoulder, down, 1.5);
    }
    return finish(builder, "humanoid", DYN_BASE_FLOATING);
}

/* Returns a body in random axes whose principal moments satisfy the triangle inequality. */
static dyn_inertia random_body(random_source *random) {
    dyn_inertia body = {.mass = random_uniform(random, 0.5, 5)};
    double half[3], quaternion[4], R[9];
    random_vector(random, 3, 0.2, body.center_of_mass);
    random_unit(random, 4, quaternion);
    dyn_quaternion_to_rotation(quaternion, R);
    for (int i = 0; i < 3; i++) {
        half[i] = random_uniform(random, 0.05, 0.3);
    }
    /* Moments of inertia of a box with these half edges, for a mass of 3. */
    const double d[3] = {half[1] * half[1] + half[2] * half[2], half[0] * half[0] + half[2] * half[2],
                         half[0] * half[0] + half[1] * half[1]};
    static const int row[6] = {0, 0, 0, 1, 1, 2}, column[6] = {0, 1, 2, 1, 2, 2};
    for (int i = 0; i < 6; i++) {
        for (int k = 0; k < 3; k++) {
            body.rotational[i] += body.mass / 3 * R[3 * row[i] + k] * d[k] * R[3 * column[i] + k];
        }
    }
    return body;
}

dyn_model *robot_random_arm(random_source *random, int joints) {
    dyn_builder *builder = start("arm");
    for (int i = 1; i <= joints; i++) {
        static const dyn_joint_type types[] = {DYN_JOINT_TYPE_REVOLUTE, DYN_JOINT_TYPE_CONTINUOUS,
                                               DYN_JOINT_TYPE_PRISMATIC, DYN_JOINT_TYPE_FIXED};
        /* The first and the last joint move: a body that is fixed to the world, or massless, has no dynamics. */
        int type = i == 1 || i == joints ? 0 : random_index(random, 4);
        dyn_joint_description joint = {.type = types[type]};
        double quaternion[4];
        random_unit(random, 4, quaternion);
        dyn_quaternion_to_rotation(quaternion, joint.rotation);
        random_vector(random, 3, 0.5, joint.position);
        random_unit(random, 3, joint.axis);
        dyn_inertia body = random_body(random);
        add_link(builder, i, joint, &body);
    }
    return finish(builder, "arm", DYN_BASE_FIXED);
}
