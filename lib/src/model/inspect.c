/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Inspection of a compiled model: reports merged links, values without effect, and likely mistakes.
 */
#include <math.h>

#include "compile.h"
#include "definiteness.h"
#include "error.h"
#include "load_report.h"
#include "machine_element.h"
#include "placement.h"

/* Returns whether a link has rotational inertia. */
static bool has_rotational_inertia(const dyn_inertia *inertia) {
    for (int i = 0; i < 6; i++) {
        if (inertia->rotational[i] != 0) {
            return true;
        }
    }
    return false;
}

/* Reports an inertia that no body can have. `effect` states the consequence. */
static void report_impossible(named_element at, const dyn_inertia *inertia, const double moments[3], const char *effect,
                              dyn_report *report) {
    if (inertia->mass == 0 && has_rotational_inertia(inertia)) {
        report_add_element(report, DYN_SEVERITY_WARNING, at, "it has inertia but no mass; no body is so%s", effect);
    }
    if (moments[0] < -1e-9 * fmax(fabs(moments[2]), fabs(moments[0]))) {
        report_add_element(report, DYN_SEVERITY_WARNING, at,
                           "its principal moments are %g, %g and %g kg m^2; no body has a negative one%s", moments[0],
                           moments[1], moments[2], effect);
    } else if (moments[2] > (moments[0] + moments[1]) * (1 + 1e-9)) {
        report_add_element(
            report, DYN_SEVERITY_WARNING, at,
            "its principal moments %g, %g, %g kg m^2 violate the triangle inequality: each is at most the sum of "
            "the other two",
            moments[0], moments[1], moments[2]);
    }
}

/* Reports a massless link, a point mass, and an inertia that no body can have. `moves`: the link is not fixed to the
 * world. */
static void inspect_inertia(named_element at, const dyn_inertia *inertia, bool moves, dyn_report *report) {
    bool rotational = has_rotational_inertia(inertia);
    if (inertia->mass == 0 && !rotational && moves) {
        report_add_element(report, DYN_SEVERITY_NOTE, at, "it is massless");
    } else if (inertia->mass > 0 && !rotational && moves) {
        report_add_element(report, DYN_SEVERITY_NOTE, at, "it is a point mass: it has no rotational inertia");
    }
    double moments[3];
    symmetric_eigenvalues(inertia->rotational, moments);
    report_impossible(at, inertia, moments, moves ? "" : "; without effect, since it is fixed to the world", report);
}

/* Reports on the inertia of every link, and on every fixed joint that was merged. */
static void inspect_links(const dyn_builder *builder, const tree *links, const dyn_model *model, dyn_report *report) {
    for (int i = 0; i < model->link_count; i++) {
        const dyn_link_description *link = &builder->links[links->order[i]];
        inspect_inertia(link_element(builder, link->name), &link->inertia, model->links[i].moving_joint >= 0, report);
        int carrier = links->parent_joint[links->order[i]];
        if (carrier >= 0 && builder->joints[carrier].type == DYN_JOINT_TYPE_FIXED) {
            const dyn_joint_description *joint = &builder->joints[carrier];
            int moving = model->links[i].moving_joint;
            report_add_element(report, DYN_SEVERITY_NOTE, joint_element(builder, joint->name),
                               "it is fixed and merged: link \"%s\" %s%s", link->name,
                               moving >= 0 ? "moves with joint " : "is fixed to the world",
                               moving >= 0 ? model->joints[moving].name : "");
        }
    }
}

/* Reports couplings, limits that exclude each other, and negative limits of the moving joints. */
static void inspect_joints(const dyn_builder *builder, const dyn_model *model, dyn_report *report) {
    for (int j = 0; j < model->joint_count; j++) {
        const dyn_joint *joint = &model->joints[j];
        named_element at = joint_element(builder, joint->name);
        if (joint->master >= 0 && joint->multiplier == 0) {
            report_add_element(report, DYN_SEVERITY_NOTE, at,
                               "it is coupled to joint \"%s\" with the multiplier 0: it stays at %.9g",
                               model->joints[joint->master].name, joint->offset);
        } else if (joint->master >= 0) {
            report_add_element(report, DYN_SEVERITY_NOTE, at,
                               "it is coupled: its coordinate is %.9g times that of joint \"%s\" plus %.9g",
                               joint->multiplier, model->joints[joint->master].name, joint->offset);
        }
        if (joint->has_limits && joint->limits.lower > joint->limits.upper) {
            report_add_element(report, DYN_SEVERITY_WARNING, at, "its lower limit %g is above its upper limit %g",
                               joint->limits.lower, joint->limits.upper);
        }
        if (joint->limits.velocity < 0 || joint->limits.effort < 0) {
            report_add_element(report, DYN_SEVERITY_WARNING, at, "its limit of velocity %g or effort %g is negative",
                               joint->limits.velocity, joint->limits.effort);
        }
    }
}

/* Reports links whose mass has no effect because they are fixed to the world, a floating root that is called "world",
 * and a robot without moving joints. */
static void inspect_base(const dyn_builder *builder, const tree *links, const dyn_model *model, dyn_report *report) {
    const dyn_link_description *root = &builder->links[links->root];
    int fixed = 0;
    for (int i = 0; i < model->link_count; i++) {
        fixed += model->links[i].moving_joint < 0 && model->links[i].inertia.mass > 0;
    }
    if (fixed > 0) {
        report_add_element(report, DYN_SEVERITY_NOTE, link_element(builder, root->name),
                           "the root is fixed to the world: the mass of %d link%s has no effect", fixed,
                           fixed > 1 ? "s" : "");
    }
    if (model->joint_count == 0) {
        report_add_element(report, DYN_SEVERITY_WARNING, robot_element(builder), "no joint moves");
    }
}

/* Reports how the description came about. */
static void inspect_notes(const dyn_builder *builder, dyn_report *report) {
    for (int i = 0; i < builder->note_count; i++) {
        report_add_element(report, DYN_SEVERITY_NOTE, robot_element(builder), "%s", builder->notes[i]);
    }
}

dyn_status inspect_model(const dyn_builder *builder, const tree *links, dyn_model *model, dyn_report *report,
                         dyn_error *error) {
    inspect_notes(builder, report);
    inspect_base(builder, links, model, report);
    inspect_links(builder, links, model, report);
    inspect_joints(builder, model, report);
    inspect_machine_elements(builder, report);
    return inspect_mass_matrix(builder, model, report, error);
}
