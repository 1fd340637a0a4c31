/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The canonical description of a model: one line for each fact, numbers exact and independent of the locale.
 */
#include <stdio.h>

#include "contact_surface.h"
#include "machine_element.h"
#include "machine_numbers.h"
#include "normal_form.h"
#include "plain_text.h"

static void print_pose(FILE *out, const dyn_pose *pose) {
    print_numbers(out, "position", pose->position, 3);
    print_numbers(out, "rotation", pose->rotation, 9);
}

static void print_link(FILE *out, const dyn_link *link) {
    fputs("link ", out);
    print_name(out, link->name);
    fputs(" parent ", out);
    print_name(out, link->parent_joint);
    fprintf(out, " joint %d", link->moving_joint);
    print_pose(out, &link->pose);
    print_numbers(out, "mass", &link->inertia.mass, 1);
    print_numbers(out, "center", link->inertia.center_of_mass, 3);
    print_numbers(out, "inertia", link->inertia.rotational, 6);
    fputc('\n', out);
}

static void print_joint(FILE *out, const dyn_joint *joint) {
    fputs("joint ", out);
    print_name(out, joint->name);
    fprintf(out, " type %d parent %d child %d", (int)joint->type, joint->parent_link, joint->child_link);
    print_pose(out, &joint->origin);
    print_numbers(out, "axis", joint->axis, 3);
    print_numbers(out, "second", joint->second_axis, 3);
    print_numbers(out, "pitch", &joint->pitch, 1);
    print_limits(out, joint->has_limits ? &joint->limits : NULL);
    print_numbers(out, "damping", &joint->damping, 1);
    print_numbers(out, "friction", &joint->friction, 1);
    for (int k = 0; k < joint->motion_count; k++) {
        print_motion(out, &joint->motions[k]);
    }
    if (joint->master >= 0) {
        fprintf(out, " master %d", joint->master);
        print_numbers(out, "multiplier", &joint->multiplier, 1);
        print_numbers(out, "offset", &joint->offset, 1);
    }
    fputc('\n', out);
}

static void print_constraint(FILE *out, const dyn_constraint *constraint, const closure *c) {
    fputs("constraint ", out);
    print_name(out, constraint->name);
    fprintf(out, " kind %d axes %u sides %d %d", (int)c->kind, c->axes, c->links[0], c->links[1]);
    print_pose(out, &c->poses[0]);
    print_pose(out, &c->poses[1]);
    print_numbers(out, "pitch", &c->pitch, 1);
    print_numbers(out, "distance", &c->distance, 1);
    for (int k = 0; k < c->coordinate_count; k++) {
        fprintf(out, " coordinate %d", c->v_index[k]);
        print_numbers(out, "by", &c->coefficients[k], 1);
    }
    if (c->kind == CLOSURE_POLYNOMIAL || c->kind == CLOSURE_PRESCRIBED) {
        const double law[] = {c->law.amplitude, c->law.frequency, c->law.phase};
        print_numbers(out, "polynomial", c->polynomial, c->degree + 1);
        print_numbers(out, "law", law, 3);
    }
    if (c->forces.damping != 0 || c->forces.friction != 0 || c->forces.effort != 0) {
        const double forces[] = {c->forces.damping, c->forces.friction, c->forces.effort};
        print_numbers(out, "forces", forces, 3);
    }
    fputc('\n', out);
}

/* Prints what laws without bristles and temperature lack. */
static void print_bristles(FILE *out, const dyn_friction *friction) {
    if (friction->bristle_stiffness != 0) {
        print_numbers(out, "bristles", &friction->bristle_stiffness, 1);
        print_numbers(out, "by", &friction->bristle_damping, 1);
    }
    if (friction->temperature_factor != 0) {
        print_numbers(out, "temperature", &friction->temperature_factor, 1);
    }
}

/* Prints a rotor; that of a shaft has no ratio. */
static void print_rotor(FILE *out, const dyn_rotor *rotor) {
    fprintf(out, " coupling %d", (int)rotor->coupling);
    if (rotor->ratio != 0) {
        print_numbers(out, "ratio", &rotor->ratio, 1);
    }
    print_numbers(out, "axial", &rotor->axial_inertia, 1);
    print_numbers(out, "transverse", &rotor->transverse_inertia, 1);
    print_numbers(out, "mass", &rotor->mass, 1);
    print_numbers(out, "position", rotor->position, 3);
    print_numbers(out, "axis", rotor->axis, 3);
}

static void print_shaft(FILE *out, const dyn_model *model, const dyn_machine_element_description *e) {
    fprintf(out, " on %d", e->link ? name_index_find(&model->link_names, e->link) : -1);
    for (int k = 0; k < e->shaft.joint_count; k++) {
        fprintf(out, " joint %d", name_index_find(&model->joint_names, e->shaft.joints[k]));
        print_numbers(out, "by", &e->shaft.ratios[k], 1);
    }
    print_rotor(out, &e->rotor);
    if (e->shaft.has_motor) {
        fputs(" motor", out);
        print_machine_numbers(out, DYN_MACHINE_ELEMENT_KIND_MOTOR, e);
    }
}

static void print_machine_element(FILE *out, const dyn_model *model, const dyn_machine_element_description *e) {
    int link = name_index_find(&model->joint_names, e->joint);
    const dyn_friction *friction = &e->friction;
    fputs("element ", out);
    print_name(out, e->name);
    fprintf(out, " kind %d link %d", (int)e->kind, link);
    int shaft = find_shaft(model->description, e);
    if (shaft >= 0) {
        fprintf(out, " shaft %d", shaft);
    }
    switch (e->kind) {
    case DYN_MACHINE_ELEMENT_KIND_ROTOR:
        print_rotor(out, &e->rotor);
        break;
    case DYN_MACHINE_ELEMENT_KIND_FRICTION:
        fprintf(out, " side %d", (int)friction->side);
        print_numbers(out, "viscous", friction->viscous, 2);
        print_numbers(out, "coulomb", friction->coulomb, 2);
        print_numbers(out, "breakaway", friction->breakaway, 2);
        print_numbers(out, "stribeck", &friction->stribeck_velocity, 1);
        print_numbers(out, "transition", &friction->transition_velocity, 1);
        print_bristles(out, friction);
        break;
    case DYN_MACHINE_ELEMENT_KIND_SPRING:
        print_numbers(out, "stiffness", &e->spring.stiffness, 1);
        print_numbers(out, "rest", &e->spring.rest, 1);
        break;
    case DYN_MACHINE_ELEMENT_KIND_MOTOR:
    case DYN_MACHINE_ELEMENT_KIND_GEAR:
    case DYN_MACHINE_ELEMENT_KIND_BRAKE:
        print_machine_numbers(out, e->kind, e);
        break;
    case DYN_MACHINE_ELEMENT_KIND_STRUT:
    case DYN_MACHINE_ELEMENT_KIND_CABLE:
    case DYN_MACHINE_ELEMENT_KIND_BUSHING:
    case DYN_MACHINE_ELEMENT_KIND_FLUID:
        fprintf(out, " on %d from %d", name_index_find(&model->link_names, e->link),
                e->other_link ? name_index_find(&model->link_names, e->other_link) : -1);
        print_machine_numbers(out, e->kind, e);
        break;
    case DYN_MACHINE_ELEMENT_KIND_SHAFT:
        print_shaft(out, model, e);
        break;
    }
    fputc('\n', out);
}

static void print_contact_surface(FILE *out, const dyn_model *model, const dyn_contact_surface *s) {
    fputs("contact ", out);
    print_name(out, s->name);
    fprintf(out, " shape %d link %d", (int)s->shape, s->link ? name_index_find(&model->link_names, s->link) : -1);
    print_pose(out, &s->pose);
    print_contact_numbers(out, s);
    fputc('\n', out);
}

static void print_model(FILE *out, const void *what) {
    const dyn_model *model = what;
    fprintf(out, "dynamics model 1\nbase %s\n", model->floating ? "floating" : "fixed");
    print_numbers(out, "gravity", model->gravity, 3);
    fputc('\n', out);
    for (int i = 0; i < model->link_count; i++) {
        print_link(out, &model->links[i]);
    }
    for (int i = 0; i < model->joint_count; i++) {
        print_joint(out, &model->joints[i]);
    }
    for (int i = 0; i < model->constraint_count; i++) {
        print_constraint(out, &model->constraints[i], &model->closures[i]);
    }
    for (int i = 0; i < model->description->machine_element_count; i++) {
        print_machine_element(out, model, &model->description->machine_elements[i]);
    }
    for (int i = 0; i < model->description->contact_surface_count; i++) {
        print_contact_surface(out, model, &model->description->contact_surfaces[i]);
    }
    for (int i = 0; i < model->joint_count; i++) {
        if (model->joints[i].type != DYN_JOINT_TYPE_FLOATING && dyn_model_joint_is_passive(model, i)) {
            fprintf(out, "passive %d\n", i);
        }
    }
}

dyn_status dyn_model_canonical(const dyn_model *model, char **text, size_t *length, dyn_error *error) {
    return plain_text_write(print_model, model, error, text, length);
}
