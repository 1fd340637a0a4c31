/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Mimic joints: composes chains and refuses cycles.
 */
#include "mimic.h"

#include <math.h>
#include <stdlib.h>

#include "error.h"
#include "load_report.h"

/* Values of coupling.master while the chain of a joint has not been followed yet, and while it is being followed. */
enum { UNRESOLVED = -2, BEING_RESOLVED = -3 };

/* Finds the joint that joint j follows directly, and checks that both may be coupled. */
static dyn_status find_leader(const dyn_builder *builder, int j, dyn_error *error, int *leader) {
    const dyn_joint_description *joint = &builder->joints[j];
    *leader = name_index_find(&builder->joint_names, joint->mimic_joint);
    if (*leader < 0) {
        return builder_fail(builder, error, DYN_INVALID_ARGUMENT, joint_element(builder, joint->name),
                            "it mimics joint \"%s\", which does not exist", joint->mimic_joint);
    }
    if (!joint_has_one_coordinate(joint->type)) {
        return builder_fail(builder, error, DYN_INVALID_ARGUMENT, joint_element(builder, joint->name),
                            "it is %s and mimics joint \"%s\"; only a joint with one coordinate can do so",
                            joint_type_name(joint->type), joint->mimic_joint);
    }
    dyn_joint_type type = builder->joints[*leader].type;
    if (!joint_has_one_coordinate(type)) {
        return builder_fail(builder, error, DYN_INVALID_ARGUMENT, joint_element(builder, joint->name),
                            "it mimics joint \"%s\", which is %s; only a joint with one coordinate can be followed",
                            joint->mimic_joint, joint_type_name(type));
    }
    return DYN_OK;
}

/* Finds the joint that each joint follows directly, or -1. */
static dyn_status find_leaders(const dyn_builder *builder, dyn_mimic_policy policy, dyn_report *report,
                               dyn_error *error, int *leaders) {
    for (int j = 0; j < builder->joint_count; j++) {
        const dyn_joint_description *joint = &builder->joints[j];
        leaders[j] = -1;
        if (!joint->mimic_joint) {
            continue;
        }
        if (policy == DYN_MIMIC_POLICY_INDEPENDENT) {
            report_add_element(report, DYN_SEVERITY_NOTE, joint_element(builder, joint->name),
                               "its coupling to joint \"%s\" is ignored: it moves independently", joint->mimic_joint);
        } else if (joint->type == DYN_JOINT_TYPE_FIXED) {
            report_add_element(report, DYN_SEVERITY_NOTE, joint_element(builder, joint->name),
                               "its coupling to joint \"%s\" is ignored: it is fixed", joint->mimic_joint);
        } else {
            dyn_status status = find_leader(builder, j, error, &leaders[j]);
            if (status != DYN_OK) {
                return status;
            }
        }
    }
    return DYN_OK;
}

/* Composes the coupling of a joint to its leader with the coupling of the leader to its master. */
static coupling compose(const dyn_joint_description *joint, int leader, coupling of_leader) {
    double multiplier = joint->mimic_multiplier, offset = joint->mimic_offset;
    if (of_leader.master < 0) {
        return (coupling){leader, multiplier, offset};
    }
    return (coupling){of_leader.master, multiplier * of_leader.ratio, multiplier * of_leader.offset + offset};
}

/* Resolves joint j: follows its chain to a joint that is resolved, then composes the couplings on the way back. */
static dyn_status resolve_chain(const dyn_builder *builder, int j, const int *leaders, int *path, dyn_error *error,
                                coupling *couplings) {
    int depth = 0;
    while (couplings[j].master == UNRESOLVED) {
        couplings[j].master = BEING_RESOLVED;
        path[depth++] = j;
        j = leaders[j];
    }
    if (couplings[j].master == BEING_RESOLVED) {
        const dyn_joint_description *joint = &builder->joints[j];
        return builder_fail(builder, error, DYN_INVALID_ARGUMENT, joint_element(builder, joint->name),
                            "it mimics joint \"%s\", which follows it in turn: the cycle has no master",
                            joint->mimic_joint);
    }
    while (depth > 0) {
        int leader = j;
        j = path[--depth];
        couplings[j] = compose(&builder->joints[j], leader, couplings[leader]);
        if (!isfinite(couplings[j].ratio) || !isfinite(couplings[j].offset)) {
            return builder_fail(builder, error, DYN_INVALID_ARGUMENT, joint_element(builder, builder->joints[j].name),
                                "its chain of mimic joints has the multiplier %g and the "
                                "offset %g; both must be finite",
                                couplings[j].ratio, couplings[j].offset);
        }
    }
    return DYN_OK;
}

dyn_status mimic_resolve(const dyn_builder *builder, dyn_mimic_policy policy, dyn_report *report, dyn_error *error,
                         coupling *couplings) {
    size_t count = (size_t)builder->joint_count + 1;
    int *leaders = calloc(count, sizeof *leaders);
    int *path = calloc(count, sizeof *path);
    dyn_status status =
        leaders && path ? find_leaders(builder, policy, report, error, leaders) : dyn_error_memory(error);
    for (int j = 0; j < builder->joint_count && status == DYN_OK; j++) {
        couplings[j] = (coupling){leaders[j] < 0 ? -1 : UNRESOLVED, 1, 0};
    }
    for (int j = 0; j < builder->joint_count && status == DYN_OK; j++) {
        status = resolve_chain(builder, j, leaders, path, error, couplings);
    }
    free(leaders);
    free(path);
    return status;
}
