/*
 * A second look at a compiled model: what was merged, what has no effect, and what is likely a mistake.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compile.h"
#include "error.h"
#include "load_report.h"
#include "placement.h"

/* Whether a link has rotational inertia. */
static bool has_rotational_inertia(const dyn_inertia *inertia) {
    for (int i = 0; i < 6; i++) {
        if (inertia->rotational[i] != 0) {
            return true;
        }
    }
    return false;
}

/* Inspects the inertia of a link. */
static dyn_status inspect_inertia(const dyn_builder *builder, const dyn_link_description *link, bool moves,
                                  dyn_report *report, dyn_error *error) {
    const dyn_inertia *inertia = &link->inertia;
    bool rotational = has_rotational_inertia(inertia);
    if (inertia->mass == 0 && rotational && moves) {
        return builder_fail(builder, error, DYN_INVALID_ARGUMENT, link->line, "link", link->name,
                            "it has inertia but no mass, and it moves; no body is so: give it a mass or remove its "
                            "inertia");
    }
    if (inertia->mass == 0 && rotational) {
        report_add_element(report, DYN_WARNING, link->line, "link", link->name,
                           "it has inertia but no mass; without effect, since it is fixed to the world");
    } else if (inertia->mass == 0 && moves) {
        report_add_element(report, DYN_NOTE, link->line, "link", link->name, "it is massless");
    } else if (inertia->mass > 0 && !rotational && moves) {
        report_add_element(report, DYN_NOTE, link->line, "link", link->name,
                           "it is a point mass: it has no rotational inertia");
    }
    double moments[3];
    symmetric_eigenvalues(inertia->rotational, moments);
    if (moments[2] > (moments[0] + moments[1]) * (1 + 1e-9)) {
        report_add_element(
            report, DYN_WARNING, link->line, "link", link->name,
            "its principal moments %g, %g, %g kg m^2 violate the triangle inequality: each is at most the sum of "
            "the other two",
            moments[0], moments[1], moments[2]);
    }
    return DYN_OK;
}

/* Inspects every link, in the order of the description. */
static dyn_status inspect_links(const dyn_builder *builder, const tree *links, const dyn_model *model,
                                dyn_report *report, dyn_error *error) {
    for (int i = 0; i < model->link_count; i++) {
        const dyn_link_description *link = &builder->links[links->order[i]];
        dyn_status status = inspect_inertia(builder, link, model->links[i].moving_joint >= 0, report, error);
        if (status != DYN_OK) {
            return status;
        }
        int carrier = links->parent_joint[links->order[i]];
        if (carrier >= 0 && builder->joints[carrier].type == DYN_JOINT_FIXED) {
            const dyn_joint_description *joint = &builder->joints[carrier];
            int moving = model->links[i].moving_joint;
            report_add_element(report, DYN_NOTE, joint->line, "joint", joint->name,
                               "it is fixed and merged: link \"%s\" %s%s", link->name,
                               moving >= 0 ? "moves with joint " : "is fixed to the world",
                               moving >= 0 ? model->joints[moving].name : "");
        }
    }
    return DYN_OK;
}

/* Line of a joint; 0 for the one that carries a floating base. */
static int joint_line(const dyn_builder *builder, const char *name) {
    int joint = name_index_find(&builder->joint_names, name);
    return joint >= 0 ? builder->joints[joint].line : 0;
}

/* Reports the couplings and the limits of the moving joints. */
static void inspect_joints(const dyn_builder *builder, const dyn_model *model, dyn_report *report) {
    for (int j = 0; j < model->joint_count; j++) {
        const dyn_joint *joint = &model->joints[j];
        int line = joint_line(builder, joint->name);
        if (joint->master >= 0 && joint->multiplier == 0) {
            report_add_element(report, DYN_NOTE, line, "joint", joint->name,
                               "it is coupled to joint \"%s\" with the multiplier 0: it stays at %.9g",
                               model->joints[joint->master].name, joint->offset);
        } else if (joint->master >= 0) {
            report_add_element(report, DYN_NOTE, line, "joint", joint->name,
                               "it is coupled: its coordinate is %.9g times that of joint \"%s\" plus %.9g",
                               joint->multiplier, model->joints[joint->master].name, joint->offset);
        }
        if (joint->has_limits && joint->limits.lower > joint->limits.upper) {
            report_add_element(report, DYN_WARNING, line, "joint", joint->name,
                               "its lower limit %g is above its upper limit %g", joint->limits.lower,
                               joint->limits.upper);
        }
        if (joint->damping < 0 || joint->friction < 0) {
            report_add_element(report, DYN_WARNING, line, "joint", joint->name,
                               "its damping %g or friction %g is negative", joint->damping, joint->friction);
        }
        if (joint->limits.velocity < 0 || joint->limits.effort < 0) {
            report_add_element(report, DYN_WARNING, line, "joint", joint->name,
                               "its limit of velocity %g or effort %g is negative", joint->limits.velocity,
                               joint->limits.effort);
        }
    }
}

/* Mass properties of a body alone. */
static mass_properties own_properties(const body *b) {
    mass_properties own = {.mass = b->mass};
    memcpy(own.first_moment, b->first_moment, sizeof own.first_moment);
    memcpy(own.inertia, b->inertia, sizeof own.inertia);
    return own;
}

/* Place of a body in its parent at the zero configuration. */
static dyn_pose zero_place(const body *b) {
    dyn_pose place;
    memcpy(place.rotation, b->rotation, sizeof place.rotation);
    memcpy(place.position, b->position, sizeof place.position);
    return place;
}

/* Whether a body and all it carries can be accelerated along a joint coordinate without force. */
static bool moves_without_inertia(const body *b, const mass_properties *carried) {
    const double *I = carried->inertia;
    double negligible = 1e-14 * (I[0] + I[3] + I[5]);
    bool massless = carried->mass == 0, inertialess = I[5] <= negligible;
    double moments[3];
    switch (b->motion) {
    case MOTION_REVOLUTE:
        return inertialess;
    case MOTION_PRISMATIC:
        return massless;
    case MOTION_HELICAL:
        return inertialess && (massless || b->pitch == 0);
    case MOTION_CYLINDRICAL:
    case MOTION_PLANAR:
        return inertialess || massless;
    case MOTION_SPHERICAL:
    case MOTION_FLOATING:
        break;
    }
    symmetric_eigenvalues(I, moments);
    return massless || moments[0] <= negligible;
}

/* Sums up, for each body, what it carries, rigid at the zero configuration; `carried` is zero at first. */
static void sum_carried(const dyn_model *model, mass_properties *carried) {
    for (int i = model->body_count - 1; i >= 0; i--) {
        const body *b = &model->bodies[i];
        mass_properties own = own_properties(b);
        mass_properties_add(&carried[i], &own);
        if (b->parent >= 0) {
            dyn_pose place = zero_place(b);
            mass_properties moved = mass_properties_move(&place, &carried[i]);
            mass_properties_add(&carried[b->parent], &moved);
        }
    }
}

/* Warns of joints that make the mass matrix singular. Not for coupled joints: several bodies share a coordinate. */
static dyn_status inspect_mass_matrix(const dyn_builder *builder, const dyn_model *model, dyn_report *report,
                                      dyn_error *error) {
    if (model->has_coupling) {
        return DYN_OK;
    }
    mass_properties *carried = calloc((size_t)model->body_count + 1, sizeof *carried);
    if (carried == NULL) {
        return dyn_error_memory(error);
    }
    sum_carried(model, carried);
    for (int i = 0; i < model->body_count; i++) {
        const char *name = model->joints[model->bodies[i].joint].name;
        if (moves_without_inertia(&model->bodies[i], &carried[i])) {
            report_add_element(report, DYN_WARNING, joint_line(builder, name), "joint", name,
                               "what it moves has no inertia along or about its axis: the mass matrix is singular, and "
                               "forward dynamics will be refused");
        }
    }
    free(carried);
    return DYN_OK;
}

/* Reports what concerns the base. */
static void inspect_base(const dyn_builder *builder, const tree *links, const dyn_model *model, dyn_report *report) {
    const dyn_link_description *root = &builder->links[links->root];
    int fixed = 0;
    for (int i = 0; i < model->link_count; i++) {
        fixed += model->links[i].moving_joint < 0 && model->links[i].inertia.mass > 0;
    }
    if (fixed > 0) {
        report_add_element(report, DYN_NOTE, root->line, "link", root->name,
                           "the root is fixed to the world: the mass of %d link%s has no effect", fixed,
                           fixed > 1 ? "s" : "");
    }
    if (model->floating && strcmp(root->name, "world") == 0) {
        report_add_element(report, DYN_WARNING, root->line, "link", root->name,
                           "the root is called \"world\" and floats; likely the description fixes the robot to the "
                           "world itself, and wants a fixed base");
    }
    if (model->joint_count == 0) {
        report_add_element(report, DYN_WARNING, builder->line, "robot", builder->name, "no joint moves");
    }
}

dyn_status inspect_model(const dyn_builder *builder, const tree *links, const dyn_model *model, dyn_report *report,
                         dyn_error *error) {
    inspect_base(builder, links, model, report);
    dyn_status status = inspect_links(builder, links, model, report, error);
    if (status != DYN_OK) {
        return status;
    }
    inspect_joints(builder, model, report);
    return inspect_mass_matrix(builder, model, report, error);
}
