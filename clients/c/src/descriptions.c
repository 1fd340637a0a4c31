/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Converts inertias, joints and descriptions of robots from the public form to the protocol's and back.
 */
#include "descriptions.h"

#include <string.h>

#include "constraints.h"
#include "contact_surfaces.h"
#include "machine_elements.h"
#include "model_parts.h"

/* ---- inertias and limits ----------------------------------------------------------------------------------------- */

/* Returns the text, or "" if it is NULL. */
static char *text_or_none(const char *text) {
    return (char *)(text ? text : "");
}

Dynamics__V1__Inertia *from_inertia(pool *memory, const dyn_client_inertia *from) {
    bool is_extended = !are_zero(from->rotational, 6);
    bool is_nothing = from->mass == 0 && are_zero(from->center_of_mass, 3) && !is_extended;
    Dynamics__V1__Inertia *made = is_nothing ? NULL : pool_allocate(memory, 1, sizeof *made);
    if (!made) {
        return NULL;
    }
    dynamics__v1__inertia__init(made);
    made->mass = from->mass;
    made->center_of_mass = from_nonzero(memory, from->center_of_mass);
    made->n_rotational = is_extended ? 6 : 0;
    made->rotational = (double *)from->rotational;
    return made;
}

dyn_client_inertia to_inertia(const Dynamics__V1__Inertia *from) {
    dyn_client_inertia inertia = {0};
    if (!from) {
        return inertia;
    }
    inertia.mass = from->mass;
    to_vector3(from->center_of_mass, inertia.center_of_mass);
    if (from->n_rotational == 6) {
        memcpy(inertia.rotational, from->rotational, sizeof inertia.rotational);
    }
    return inertia;
}

static Dynamics__V1__JointLimits *from_limits(pool *memory, const dyn_client_limits *from) {
    Dynamics__V1__JointLimits *made = pool_allocate(memory, 1, sizeof *made);
    if (made) {
        dynamics__v1__joint_limits__init(made);
        made->lower = from->lower;
        made->upper = from->upper;
        made->velocity = from->velocity;
        made->effort = from->effort;
    }
    return made;
}

static dyn_client_limits to_limits(const Dynamics__V1__JointLimits *from) {
    return !from ? (dyn_client_limits){0}
                 : (dyn_client_limits){
                       .lower = from->lower, .upper = from->upper, .velocity = from->velocity, .effort = from->effort};
}

/* ---- conversion of links, joints and frames to the protocol's form ----------------------------------------------- */

static Dynamics__V1__Link *from_link(pool *memory, const dyn_client_link *from) {
    Dynamics__V1__Link *made = pool_allocate(memory, 1, sizeof *made);
    if (!made) {
        return NULL;
    }
    dynamics__v1__link__init(made);
    made->name = text_or_none(from->name);
    made->inertia = from_inertia(memory, &from->inertia);
    return made;
}

static Dynamics__V1__Mimic *from_mimic(pool *memory, const dyn_client_joint *from) {
    Dynamics__V1__Mimic *made = pool_allocate(memory, 1, sizeof *made);
    if (!made) {
        return NULL;
    }
    dynamics__v1__mimic__init(made);
    made->joint = (char *)from->mimic_joint;
    if (from->mimic_multiplier) {
        made->optional_multiplier_case = DYNAMICS__V1__MIMIC__OPTIONAL_MULTIPLIER_MULTIPLIER;
        made->multiplier = *from->mimic_multiplier;
    }
    made->offset = from->mimic_offset;
    return made;
}

static Dynamics__V1__JointFunction *from_function(pool *memory, const dyn_client_joint_motion *from) {
    Dynamics__V1__JointFunction *made = pool_allocate(memory, 1, sizeof *made);
    if (!made) {
        return NULL;
    }
    dynamics__v1__joint_function__init(made);
    made->n_coefficients = from->coefficients ? from->coefficient_count : 0;
    made->coefficients = (double *)from->coefficients;
    made->n_knots = from->knots ? from->knot_count : 0;
    made->knots = (double *)from->knots;
    made->n_values = from->values ? from->knot_count : 0;
    made->values = (double *)from->values;
    made->n_slopes = from->slopes ? from->knot_count : 0;
    made->slopes = (double *)from->slopes;
    made->n_curvatures = from->curvatures ? from->knot_count : 0;
    made->curvatures = (double *)from->curvatures;
    return made;
}

static Dynamics__V1__JointMotion *from_motion(pool *memory, const dyn_client_joint_motion *from) {
    Dynamics__V1__JointMotion *made = pool_allocate(memory, 1, sizeof *made);
    if (!made) {
        return NULL;
    }
    dynamics__v1__joint_motion__init(made);
    made->kind = (Dynamics__V1__JointMotionKind)from->kind;
    made->axis = from_nonzero(memory, from->axis);
    made->function = from_function(memory, from);
    return made;
}

static Dynamics__V1__Joint *from_joint(pool *memory, const dyn_client_joint *from) {
    Dynamics__V1__Joint *made = pool_allocate(memory, 1, sizeof *made);
    if (!made) {
        return NULL;
    }
    dynamics__v1__joint__init(made);
    made->name = text_or_none(from->name);
    made->type = (Dynamics__V1__JointType)from->type;
    made->parent_link = text_or_none(from->parent_link);
    made->child_link = text_or_none(from->child_link);
    made->origin = from_pose(memory, &from->origin);
    made->axis = from_nonzero(memory, from->axis);
    made->second_axis = from_nonzero(memory, from->second_axis);
    made->pitch = from->pitch;
    made->motions = pool_allocate(memory, from->motion_count, sizeof *made->motions);
    for (size_t i = 0; !memory->is_exhausted && from->motions && i < from->motion_count; i++) {
        made->motions[made->n_motions++] = from_motion(memory, &from->motions[i]);
    }
    made->limits = from->has_limits ? from_limits(memory, &from->limits) : NULL;
    made->damping = from->damping;
    made->friction = from->friction;
    made->mimic = from->mimic_joint ? from_mimic(memory, from) : NULL;
    return made;
}

static Dynamics__V1__Frame *from_frame(pool *memory, const dyn_client_frame *from) {
    Dynamics__V1__Frame *made = pool_allocate(memory, 1, sizeof *made);
    if (!made) {
        return NULL;
    }
    dynamics__v1__frame__init(made);
    made->name = text_or_none(from->name);
    made->link = text_or_none(from->link);
    made->pose = from_pose(memory, &from->pose);
    return made;
}

Dynamics__V1__ModelDescription *from_description(pool *memory, const dyn_client_model_description *from) {
    Dynamics__V1__ModelDescription *made = pool_allocate(memory, 1, sizeof *made);
    if (!made) {
        return NULL;
    }
    dynamics__v1__model_description__init(made);
    made->name = text_or_none(from->name);
    made->gravity = from->gravity ? from_vector3(memory, from->gravity) : NULL;
    made->base_type = (Dynamics__V1__Base)from->base;
    made->mimic = (Dynamics__V1__MimicPolicy)from->mimic;
    made->n_passive_joints = from->passive_joints ? from->passive_joint_count : 0;
    made->passive_joints = (char **)from->passive_joints;
    made->n_notes = from->notes ? from->note_count : 0;
    made->notes = (char **)from->notes;
    made->links = pool_allocate(memory, from->link_count, sizeof *made->links);
    made->joints = pool_allocate(memory, from->joint_count, sizeof *made->joints);
    made->frames = pool_allocate(memory, from->frame_count, sizeof *made->frames);
    made->constraints = pool_allocate(memory, from->constraint_count, sizeof *made->constraints);
    made->machine_elements = pool_allocate(memory, from->machine_element_count, sizeof *made->machine_elements);
    made->contact_surfaces = pool_allocate(memory, from->contact_surface_count, sizeof *made->contact_surfaces);
    for (size_t i = 0; !memory->is_exhausted && from->links && i < from->link_count; i++) {
        made->links[made->n_links++] = from_link(memory, &from->links[i]);
    }
    for (size_t i = 0; !memory->is_exhausted && from->joints && i < from->joint_count; i++) {
        made->joints[made->n_joints++] = from_joint(memory, &from->joints[i]);
    }
    for (size_t i = 0; !memory->is_exhausted && from->frames && i < from->frame_count; i++) {
        made->frames[made->n_frames++] = from_frame(memory, &from->frames[i]);
    }
    for (size_t i = 0; !memory->is_exhausted && from->constraints && i < from->constraint_count; i++) {
        made->constraints[made->n_constraints++] = from_constraint(memory, &from->constraints[i]);
    }
    for (size_t i = 0; !memory->is_exhausted && from->machine_elements && i < from->machine_element_count; i++) {
        made->machine_elements[made->n_machine_elements++] = from_machine_element(memory, &from->machine_elements[i]);
    }
    for (size_t i = 0; !memory->is_exhausted && from->contact_surfaces && i < from->contact_surface_count; i++) {
        made->contact_surfaces[made->n_contact_surfaces++] = from_contact_surface(memory, &from->contact_surfaces[i]);
    }
    return made;
}

/* ---- conversion of Denavit-Hartenberg tables and screw chains to the protocol's form ----------------------------- */

static Dynamics__V1__DenavitHartenbergRow *from_row(pool *memory, const dyn_client_dh_row *from) {
    Dynamics__V1__DenavitHartenbergRow *made = pool_allocate(memory, 1, sizeof *made);
    if (!made) {
        return NULL;
    }
    dynamics__v1__denavit_hartenberg_row__init(made);
    made->type = (Dynamics__V1__JointType)from->type;
    made->theta = from->theta;
    made->d = from->d;
    made->a = from->a;
    made->alpha = from->alpha;
    made->inertia = from_inertia(memory, &from->inertia);
    made->limits = from->has_limits ? from_limits(memory, &from->limits) : NULL;
    made->damping = from->damping;
    made->friction = from->friction;
    return made;
}

Dynamics__V1__DenavitHartenbergTable *from_dh_table(pool *memory, const dyn_client_dh_table *from) {
    Dynamics__V1__DenavitHartenbergTable *made = pool_allocate(memory, 1, sizeof *made);
    if (!made) {
        return NULL;
    }
    dynamics__v1__denavit_hartenberg_table__init(made);
    made->name = text_or_none(from->name);
    made->convention = (Dynamics__V1__DenavitHartenbergConvention)from->convention;
    made->rows = pool_allocate(memory, from->row_count, sizeof *made->rows);
    for (size_t i = 0; !memory->is_exhausted && from->rows && i < from->row_count; i++) {
        made->rows[made->n_rows++] = from_row(memory, &from->rows[i]);
    }
    return made;
}

Dynamics__V1__ScrewChain *from_screws(pool *memory, const dyn_client_screw_chain *from) {
    Dynamics__V1__ScrewChain *made = pool_allocate(memory, 1, sizeof *made);
    if (!made) {
        return NULL;
    }
    dynamics__v1__screw_chain__init(made);
    made->name = text_or_none(from->name);
    made->n_mlist = from->Mlist ? 16 * (from->n + 1) : 0;
    made->mlist = (double *)from->Mlist;
    made->n_glist = from->Glist ? 36 * from->n : 0;
    made->glist = (double *)from->Glist;
    made->n_slist = from->Slist ? 6 * from->n : 0;
    made->slist = (double *)from->Slist;
    return made;
}

/* ---- conversion from the protocol's form to the public one ------------------------------------------------------- */

static dyn_client_joint_motion to_motion(const Dynamics__V1__JointMotion *from) {
    const Dynamics__V1__JointFunction *f = from->function;
    dyn_client_joint_motion motion = {.kind = (dyn_client_joint_motion_kind)from->kind};
    to_vector3(from->axis, motion.axis);
    if (f) {
        motion.coefficient_count = f->n_coefficients;
        motion.coefficients = f->n_coefficients > 0 ? f->coefficients : NULL;
        motion.knot_count = f->n_knots;
        motion.knots = f->n_knots > 0 ? f->knots : NULL;
        motion.values = f->n_values == f->n_knots && f->n_knots > 0 ? f->values : NULL;
        motion.slopes = f->n_slopes == f->n_knots && f->n_knots > 0 ? f->slopes : NULL;
        motion.curvatures = f->n_curvatures == f->n_knots && f->n_knots > 0 ? f->curvatures : NULL;
    }
    return motion;
}

static const dyn_client_joint_motion *to_motions(pool *memory, const Dynamics__V1__Joint *from) {
    dyn_client_joint_motion *motions = pool_allocate(memory, from->n_motions, sizeof *motions);
    for (size_t i = 0; !memory->is_exhausted && i < from->n_motions; i++) {
        motions[i] = to_motion(from->motions[i]);
    }
    return from->n_motions > 0 ? motions : NULL;
}

dyn_client_joint to_joint(pool *memory, const Dynamics__V1__Joint *from) {
    static const double one = 1;
    dyn_client_joint joint = {.name = from->name,
                              .type = (dyn_client_joint_type)from->type,
                              .parent_link = from->parent_link,
                              .child_link = from->child_link,
                              .origin = to_pose(from->origin),
                              .pitch = from->pitch,
                              .motion_count = from->n_motions,
                              .motions = to_motions(memory, from),
                              .has_limits = from->limits != NULL,
                              .limits = to_limits(from->limits),
                              .damping = from->damping,
                              .friction = from->friction};
    to_vector3(from->axis, joint.axis);
    to_vector3(from->second_axis, joint.second_axis);
    if (from->mimic) {
        joint.mimic_joint = from->mimic->joint;
        joint.mimic_multiplier = from->mimic->optional_multiplier_case ? &from->mimic->multiplier : &one;
        joint.mimic_offset = from->mimic->offset;
    }
    return joint;
}

const dyn_client_model_description *to_description(pool *memory, const Dynamics__V1__ModelDescription *from) {
    dyn_client_model_description *made = pool_allocate(memory, 1, sizeof *made);
    double *gravity = pool_allocate(memory, 3, sizeof *gravity);
    dyn_client_link *links = pool_allocate(memory, from->n_links, sizeof *links);
    dyn_client_joint *joints = pool_allocate(memory, from->n_joints, sizeof *joints);
    dyn_client_frame *frames = pool_allocate(memory, from->n_frames, sizeof *frames);
    const dyn_client_constraint *constraints = to_constraints(memory, from->n_constraints, from->constraints);
    const dyn_client_machine_element *elements =
        to_machine_elements(memory, from->n_machine_elements, from->machine_elements);
    const dyn_client_contact_surface *surfaces =
        to_contact_surfaces(memory, from->n_contact_surfaces, from->contact_surfaces);
    if (memory->is_exhausted) {
        return NULL;
    }
    for (size_t i = 0; i < from->n_links; i++) {
        links[i] = (dyn_client_link){.name = from->links[i]->name,
                                     .inertia = to_inertia(from->links[i]->inertia),
                                     .parent_joint = "",
                                     .moving_joint = ""};
    }
    for (size_t i = 0; i < from->n_joints; i++) {
        joints[i] = to_joint(memory, from->joints[i]);
    }
    for (size_t i = 0; i < from->n_frames; i++) {
        frames[i] = (dyn_client_frame){.name = from->frames[i]->name,
                                       .link = from->frames[i]->link,
                                       .moving_joint = "",
                                       .pose = to_pose(from->frames[i]->pose)};
    }
    to_vector3(from->gravity, gravity);
    *made = (dyn_client_model_description){.struct_size = sizeof *made,
                                           .name = from->name,
                                           .gravity = from->gravity ? gravity : NULL,
                                           .base = (dyn_client_base)from->base_type,
                                           .mimic = (dyn_client_mimic_policy)from->mimic,
                                           .link_count = from->n_links,
                                           .links = links,
                                           .joint_count = from->n_joints,
                                           .joints = joints,
                                           .frame_count = from->n_frames,
                                           .frames = frames,
                                           .constraint_count = from->n_constraints,
                                           .constraints = constraints,
                                           .machine_element_count = from->n_machine_elements,
                                           .machine_elements = elements,
                                           .contact_surface_count = from->n_contact_surfaces,
                                           .contact_surfaces = surfaces,
                                           .passive_joint_count = from->n_passive_joints,
                                           .passive_joints = (const char *const *)from->passive_joints,
                                           .note_count = from->n_notes,
                                           .notes = (const char *const *)from->notes};
    return made;
}

const dyn_client_screw_chain *to_screws(pool *memory, const Dynamics__V1__ScrewChain *from) {
    size_t n = from->n_slist / 6;
    if (from->n_slist != 6 * n || from->n_glist != 36 * n || from->n_mlist != 16 * (n + 1)) {
        return NULL;
    }
    dyn_client_screw_chain *made = pool_allocate(memory, 1, sizeof *made);
    if (made) {
        *made = (dyn_client_screw_chain){.struct_size = sizeof *made,
                                         .name = from->name,
                                         .n = n,
                                         .Mlist = from->mlist,
                                         .Glist = from->glist,
                                         .Slist = from->slist};
    }
    return made;
}
