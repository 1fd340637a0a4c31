/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Describes serial robots by Denavit-Hartenberg parameters.
 */
#include <dynamics/denavit_hartenberg.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "derivation.h"
#include "error.h"
#include "placement.h"

static dyn_status check_row(int k, const dyn_dh_row *row, dyn_error *error) {
    const struct {
        const char *name;
        double value;
    } numbers[] = {{"theta", row->theta}, {"d", row->d}, {"a", row->a}, {"alpha", row->alpha}};
    dyn_error_site site = {.argument = "rows", .has_item = true, .item = (size_t)k, .part = "type"};
    if (row->type != DYN_JOINT_TYPE_REVOLUTE && row->type != DYN_JOINT_TYPE_CONTINUOUS &&
        row->type != DYN_JOINT_TYPE_PRISMATIC) {
        return dyn_error_at(error, DYN_INVALID_ARGUMENT, &site,
                            "a row is a revolute, a continuous or a prismatic joint, and %d is none of these",
                            (int)row->type);
    }
    for (int i = 0; i < 4; i++) {
        if (!isfinite(numbers[i].value)) {
            site.part = numbers[i].name;
            return dyn_error_at(error, DYN_INVALID_ARGUMENT, &site, "%s is %g; set a finite number", numbers[i].name,
                                numbers[i].value);
        }
    }
    return DYN_OK;
}

/* Rz(angle) Tz(shift). */
static dyn_pose screw_z(double angle, double shift) {
    double c = cos(angle), s = sin(angle);
    return (dyn_pose){.position = {0, 0, shift}, .rotation = {c, -s, 0, s, c, 0, 0, 0, 1}};
}

/* Rx(angle) Tx(shift), which commute. */
static dyn_pose screw_x(double angle, double shift) {
    double c = cos(angle), s = sin(angle);
    return (dyn_pose){.position = {shift, 0, 0}, .rotation = {1, 0, 0, 0, c, -s, 0, s, c}};
}

/* Adds link i = k + 1 and the joint that carries it, for row k of the table. */
static dyn_status add_row(dyn_builder *builder, dyn_dh_convention convention, int k, const dyn_dh_row *row,
                          dyn_error *error) {
    char joint_name[32], parent[32], child[32];
    snprintf(joint_name, sizeof joint_name, "joint%d", k + 1);
    snprintf(parent, sizeof parent, "link%d", k);
    snprintf(child, sizeof child, "link%d", k + 1);
    const dyn_link_description link = {.name = child, .inertia = row->inertia, .row = k + 1};
    dyn_joint_description joint = {.name = joint_name,
                                   .type = row->type,
                                   .parent_link = parent,
                                   .child_link = child,
                                   .axis = {0, 0, 1},
                                   .has_limits = row->has_limits,
                                   .limits = row->limits,
                                   .damping = row->damping,
                                   .friction = row->friction,
                                   .row = k + 1};
    dyn_pose z = screw_z(row->theta, row->d), x = screw_x(row->alpha, row->a), place = identity_pose;
    dyn_pose offset = identity_pose;
    if (convention == DYN_DH_CONVENTION_MODIFIED) {
        pose_compose(&x, &z, &place);
    } else {
        pose_compose(&z, &x, &offset);
    }
    memcpy(joint.position, place.position, sizeof joint.position);
    memcpy(joint.rotation, place.rotation, sizeof joint.rotation);
    dyn_status status = dyn_builder_add_link(builder, &link, error);
    return status == DYN_OK ? add_joint_with_offset(builder, &joint, &offset, error) : status;
}

dyn_status dyn_dh_describe(const char *name, dyn_dh_convention convention, int count, const dyn_dh_row *rows,
                           dyn_builder **builder, dyn_error *error) {
    *builder = NULL;
    if (convention != DYN_DH_CONVENTION_STANDARD && convention != DYN_DH_CONVENTION_MODIFIED) {
        const dyn_error_site site = {.argument = "convention"};
        return dyn_error_at(error, DYN_INVALID_ARGUMENT, &site, "%d is no convention", (int)convention);
    }
    dyn_builder *described;
    const dyn_link_description base = {.name = "link0"};
    dyn_status status = dyn_builder_create(name, &described, error);
    if (status != DYN_OK) {
        return status;
    }
    status = dyn_builder_add_link(described, &base, error);
    for (int k = 0; status == DYN_OK && k < count; k++) {
        status = check_row(k, &rows[k], error);
        if (status == DYN_OK) {
            status = add_row(described, convention, k, &rows[k], error);
        }
    }
    if (status != DYN_OK) {
        dyn_builder_free(described);
        return status;
    }
    *builder = described;
    return DYN_OK;
}
