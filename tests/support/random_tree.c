/* SPDX-License-Identifier: BSD-2-Clause */
#include "random_tree.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dynamics/kinematics.h>
#include <dynamics/machine_element.h>

static void require(dyn_status status, const dyn_error *error) {
    if (status != DYN_OK) {
        fprintf(stderr, "random tree: %s: %s\n", error->place, error->message);
        abort();
    }
}

/* Returns a random inertia. The principal moments of its rotational inertia, mass R diag(d) R', satisfy the triangle
 * inequality. */
static dyn_inertia random_inertia(random_source *random) {
    dyn_inertia inertia = {.mass = random_uniform(random, 0.2, 5)};
    double x = random_uniform(random, 0.01, 0.2), y = random_uniform(random, 0.01, 0.2);
    double z = random_uniform(random, 0.01, 0.2), quaternion[4], R[9];
    const double d[3] = {y + z, x + z, x + y};
    random_unit(random, 4, quaternion);
    dyn_quaternion_to_rotation(quaternion, R);
    static const int row[6] = {0, 0, 0, 1, 1, 2}, column[6] = {0, 1, 2, 1, 2, 2};
    for (int i = 0; i < 3; i++) {
        inertia.center_of_mass[i] = random_uniform(random, -0.3, 0.3);
    }
    for (int i = 0; i < 6; i++) {
        for (int k = 0; k < 3; k++) {
            inertia.rotational[i] += inertia.mass * R[3 * row[i] + k] * d[k] * R[3 * column[i] + k];
        }
    }
    return inertia;
}

static dyn_joint_type random_type(random_source *random, const random_tree_options *options) {
    static const dyn_joint_type types[] = {
        DYN_JOINT_TYPE_REVOLUTE,  DYN_JOINT_TYPE_REVOLUTE,    DYN_JOINT_TYPE_CONTINUOUS, DYN_JOINT_TYPE_PRISMATIC,
        DYN_JOINT_TYPE_HELICAL,   DYN_JOINT_TYPE_CYLINDRICAL, DYN_JOINT_TYPE_UNIVERSAL,  DYN_JOINT_TYPE_PLANAR,
        DYN_JOINT_TYPE_SPHERICAL, DYN_JOINT_TYPE_FLOATING,    DYN_JOINT_TYPE_FIXED,
    };
    int count = (int)(sizeof types / sizeof types[0]);
    return options->revolute_only ? DYN_JOINT_TYPE_REVOLUTE
                                  : types[random_index(random, options->with_fixed ? count : count - 1)];
}

static bool has_one_coordinate(dyn_joint_type type) {
    return type == DYN_JOINT_TYPE_CUSTOM || type == DYN_JOINT_TYPE_REVOLUTE || type == DYN_JOINT_TYPE_CONTINUOUS ||
           type == DYN_JOINT_TYPE_PRISMATIC || type == DYN_JOINT_TYPE_HELICAL;
}

void random_motions(random_source *random, dyn_joint_motion motions[RANDOM_MOTIONS]) {
    memset(motions, 0, RANDOM_MOTIONS * sizeof *motions);
    for (int k = 0; k < RANDOM_MOTIONS; k++) {
        dyn_joint_function *f = &motions[k].function;
        motions[k].kind = k % 3 ? DYN_JOINT_MOTION_KIND_TRANSLATION : DYN_JOINT_MOTION_KIND_ROTATION;
        random_unit(random, 3, motions[k].axis);
        f->kind = (dyn_function_kind)(k % 3);
        f->count = 3 + k % 3;
        random_vector(random, f->count, 0.08, f->coefficients);
        random_vector(random, f->count, 0.3, f->values);
        random_vector(random, f->count, 0.3, f->slopes);
        random_vector(random, f->count, 0.3, f->curvatures);
        for (int i = 0; i < f->count; i++) {
            f->knots[i] = -2 + 1.2 * i + random_uniform(random, -0.3, 0.3);
        }
    }
    motions[0].function.coefficients[1] = random_uniform(random, 0.9, 1.5);
}

static void add_random_joint(random_source *random, const random_tree_options *options, dyn_builder *builder, int i,
                             char (*masters)[16], int *master_count) {
    char name[16], parent[16], child[16];
    snprintf(name, sizeof name, "joint%d", i);
    int back = random_index(random, 3) ? 0 : random_index(random, i);
    snprintf(parent, sizeof parent, "link%d", i - 1 - back);
    snprintf(child, sizeof child, "link%d", i);
    dyn_joint_description joint = {.name = name,
                                   .type = random_type(random, options),
                                   .parent_link = parent,
                                   .child_link = child,
                                   .pitch = random_uniform(random, -0.2, 0.2)};
    double quaternion[4];
    random_unit(random, 4, quaternion);
    dyn_quaternion_to_rotation(quaternion, joint.rotation);
    random_vector(random, 3, 0.5, joint.position);
    random_unit(random, 3, joint.axis);
    random_perpendicular(random, joint.axis, joint.second_axis);
    if (options->is_upright && i == 1) {
        memset(joint.rotation, 0, sizeof joint.rotation), memset(joint.axis, 0, sizeof joint.axis);
        joint.rotation[0] = joint.rotation[4] = joint.rotation[8] = joint.axis[2] = 1;
    }
    dyn_joint_motion motions[RANDOM_MOTIONS];
    if (options->with_custom && random_index(random, 4) == 0) {
        random_motions(random, motions);
        joint.type = DYN_JOINT_TYPE_CUSTOM;
        joint.motions = motions;
        joint.motion_count = RANDOM_MOTIONS;
    }
    joint.has_limits =
        options->limit > 0 && (joint.type == DYN_JOINT_TYPE_REVOLUTE || joint.type == DYN_JOINT_TYPE_PRISMATIC);
    joint.limits = (dyn_joint_limits){.lower = -options->limit, .upper = options->limit};
    bool free = has_one_coordinate(joint.type);
    if (options->with_mimic && free && *master_count > 0 && random_index(random, 5) == 0) {
        joint.mimic_joint = masters[random_index(random, *master_count)];
        joint.mimic_multiplier = random_uniform(random, 0.3, 1.5) * (random_index(random, 2) ? 1 : -1);
        joint.mimic_offset = random_uniform(random, -1, 1);
    } else if (free) {
        memcpy(masters[(*master_count)++], name, sizeof name);
    }
    dyn_error error;
    require(dyn_builder_add_joint(builder, &joint, &error), &error);
    dyn_link_description link = {.name = child};
    if (joint.type != DYN_JOINT_TYPE_FIXED || random_index(random, 2)) {
        link.inertia = random_inertia(random);
    }
    require(dyn_builder_add_link(builder, &link, &error), &error);
}

dyn_model *random_tree(random_source *random, const random_tree_options *options) {
    dyn_builder *builder = NULL;
    dyn_model *model = NULL;
    dyn_error error;
    int master_count = 0;
    char(*masters)[16] = calloc((size_t)options->joints + 1, sizeof *masters);
    require(dyn_builder_create("tree", &builder, &error), &error);
    dyn_link_description root = {.name = "link0", .inertia = random_inertia(random)};
    require(dyn_builder_add_link(builder, &root, &error), &error);
    for (int i = 1; i <= options->joints; i++) {
        add_random_joint(random, options, builder, i, masters, &master_count);
    }
    dyn_build_options build = DYN_BUILD_OPTIONS_INIT(.base = options->base, .mimic = options->mimic);
    require(dyn_builder_build(builder, &build, NULL, &model, &error), &error);
    dyn_builder_free(builder);
    free(masters);
    return model;
}

void random_vector(random_source *random, int count, double range, double *x) {
    for (int i = 0; i < count; i++) {
        x[i] = random_uniform(random, -range, range);
    }
}

static bool ends_with_quaternion(const dyn_joint *joint) {
    return joint->type == DYN_JOINT_TYPE_SPHERICAL || joint->type == DYN_JOINT_TYPE_FLOATING;
}

void random_configuration(random_source *random, const dyn_model *model, double range, double *q) {
    random_vector(random, dyn_model_nq(model), range, q);
    for (int j = 0; j < dyn_model_joint_count(model); j++) {
        const dyn_joint *joint = dyn_model_joint(model, j);
        if (ends_with_quaternion(joint)) {
            random_unit(random, 4, q + joint->q_index + joint->nq - 4);
        }
    }
}

/* Computes q * exp(w dt / 2). */
static void turn_quaternion(const double q[4], const double w[3], double dt, double out[4]) {
    double angle = dt * sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
    double s = angle > 1e-12 ? dt * sin(angle / 2) / angle : dt / 2, c = cos(angle / 2);
    double x = s * w[0], y = s * w[1], z = s * w[2];
    const double turned[4] = {q[3] * x + q[0] * c + q[1] * z - q[2] * y, q[3] * y + q[1] * c + q[2] * x - q[0] * z,
                              q[3] * z + q[2] * c + q[0] * y - q[1] * x, q[3] * c - q[0] * x - q[1] * y - q[2] * z};
    memcpy(out, turned, sizeof turned);
}

/* Moves a floating base (position, quaternion) to first order in dt. v is its linear, then its angular velocity, both
 * in its own axes. */
static void integrate_floating(const double *q, const double *v, double dt, double *out) {
    double R[9], moved[3];
    dyn_quaternion_to_rotation(q + 3, R);
    for (int i = 0; i < 3; i++) {
        moved[i] = q[i] + dt * (R[3 * i] * v[0] + R[3 * i + 1] * v[1] + R[3 * i + 2] * v[2]);
    }
    turn_quaternion(q + 3, v + 3, dt, out + 3);
    memcpy(out, moved, sizeof moved);
}

void integrate_configuration(const dyn_model *model, const double *q, const double *v, double dt, double *out) {
    for (int j = 0; j < dyn_model_joint_count(model); j++) {
        const dyn_joint *joint = dyn_model_joint(model, j);
        const double *x = q + joint->q_index, *rate = v + joint->v_index;
        double *y = out + joint->q_index;
        if (joint->type == DYN_JOINT_TYPE_FLOATING && joint->nq) {
            integrate_floating(x, rate, dt, y);
        } else if (joint->type == DYN_JOINT_TYPE_SPHERICAL) {
            turn_quaternion(x, rate, dt, y);
        } else if (joint->type == DYN_JOINT_TYPE_PLANAR) {
            double c = cos(x[2]), s = sin(x[2]), dx = c * rate[0] - s * rate[1], dy = s * rate[0] + c * rate[1];
            y[0] = x[0] + dt * dx, y[1] = x[1] + dt * dy, y[2] = x[2] + dt * rate[2];
        } else {
            for (int k = 0; k < joint->nq; k++) {
                y[k] = x[k] + dt * rate[k];
            }
        }
    }
}

/* Adds rotor number k of a joint. */
static void add_any_rotor(random_source *random, const char *joint, int k, dyn_builder *builder) {
    dyn_error error;
    char name[96];
    snprintf(name, sizeof name, "rotor %d of %.60s", k, joint);
    dyn_machine_element_description element = {.name = name, .kind = DYN_MACHINE_ELEMENT_KIND_ROTOR, .joint = joint};
    dyn_rotor *rotor = &element.rotor;
    rotor->ratio = random_uniform(random, 0.5, 60) * (random_index(random, 2) ? 1 : -1);
    rotor->coupling = (dyn_rotor_coupling)random_index(random, 3);
    rotor->axial_inertia = random_uniform(random, 1e-4, 1e-3);
    rotor->mass = random_uniform(random, 0.1, 0.5);
    rotor->transverse_inertia = rotor->axial_inertia * random_uniform(random, 0.6, 2);
    random_vector(random, 3, 0.1, rotor->position);
    if (random_index(random, 2)) {
        random_unit(random, 3, rotor->axis);
    }
    require(dyn_builder_add_machine_element(builder, &element, &error), &error);
}

void add_rotors_everywhere(random_source *random, const dyn_model *model, dyn_builder *builder) {
    for (int j = 0; j < dyn_model_joint_count(model); j++) {
        const dyn_joint *joint = dyn_model_joint(model, j);
        bool takes_rotors = joint->nv == 1 && joint->type != DYN_JOINT_TYPE_CUSTOM;
        for (int k = 0, count = takes_rotors ? random_index(random, 3) : 0; k < count; k++) {
            add_any_rotor(random, joint->name, k, builder);
        }
    }
}

void add_random_rotors(random_source *random, const dyn_model *model, dyn_builder *builder) {
    dyn_error error;
    int added = 0;
    for (int j = 0; j < dyn_model_joint_count(model) && added < 2; j++) {
        const dyn_joint *joint = dyn_model_joint(model, j);
        char name[32];
        if (joint->type != DYN_JOINT_TYPE_REVOLUTE || joint->nv != 1) {
            continue;
        }
        snprintf(name, sizeof name, "rotor_%d", j);
        dyn_machine_element_description element = {
            .name = name, .kind = DYN_MACHINE_ELEMENT_KIND_ROTOR, .joint = joint->name};
        element.rotor.ratio = random_uniform(random, 20, 100);
        element.rotor.axial_inertia = random_uniform(random, 1e-4, 1e-3);
        element.rotor.coupling = added ? DYN_ROTOR_COUPLING_DIAGONAL : DYN_ROTOR_COUPLING_EXACT;
        require(dyn_builder_add_machine_element(builder, &element, &error), &error);
        added++;
    }
}
