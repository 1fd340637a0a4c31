/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Robot without the inertia of its rotors: gears keep the ratios that motors, brakes and friction on the side of the
 * rotor refer to.
 */
#include <stdlib.h>
#include <string.h>

#include <dynamics/machine_element.h>

#include "description.h"
#include "error.h"

/* Returns the index of the first element of a kind at a joint, or -1. */
static int find_element(const dyn_builder *builder, dyn_machine_element_kind kind, const char *joint) {
    for (int i = 0; i < builder->machine_element_count; i++) {
        const dyn_machine_element_description *e = &builder->machine_elements[i];
        if (e->kind == kind && strcmp(e->joint, joint) == 0) {
            return i;
        }
    }
    return -1;
}

/* Returns whether an element refers to the rate of the rotor of a joint. */
static bool needs_ratio(const dyn_builder *builder, const char *joint) {
    bool needs = find_element(builder, DYN_MACHINE_ELEMENT_KIND_MOTOR, joint) >= 0;
    for (int i = 0; i < builder->machine_element_count; i++) {
        const dyn_machine_element_description *e = &builder->machine_elements[i];
        needs = needs || (e->kind == DYN_MACHINE_ELEMENT_KIND_FRICTION && e->friction.side == DYN_GEAR_SIDE_ROTOR &&
                          strcmp(e->joint, joint) == 0);
    }
    return needs;
}

/* Replaces rotor i by the ratio of the gear of its joint, or by a gear. Returns whether the element remains. */
static bool replace_rotor(dyn_builder *builder, int i) {
    dyn_machine_element_description *e = &builder->machine_elements[i];
    int gear = find_element(builder, DYN_MACHINE_ELEMENT_KIND_GEAR, e->joint);
    if (gear >= 0 && builder->machine_elements[gear].gear.ratio == 0) {
        builder->machine_elements[gear].gear.ratio = e->rotor.ratio;
        return false;
    }
    if (gear >= 0 || !needs_ratio(builder, e->joint)) {
        return false;
    }
    e->kind = DYN_MACHINE_ELEMENT_KIND_GEAR;
    e->gear = (dyn_gear){.ratio = e->rotor.ratio, .efficiency = 1, .back_driving_efficiency = 1};
    e->rotor = (dyn_rotor){0};
    return true;
}

/* Replaces the rotors of joints and shafts, and writes which elements remain. */
static void replace_rotors(dyn_builder *builder, bool *retain) {
    for (int i = 0; i < builder->machine_element_count; i++) {
        dyn_machine_element_description *e = &builder->machine_elements[i];
        retain[i] = e->kind != DYN_MACHINE_ELEMENT_KIND_ROTOR || replace_rotor(builder, i);
        if (e->kind == DYN_MACHINE_ELEMENT_KIND_SHAFT) {
            e->rotor = (dyn_rotor){0};
        }
    }
}

dyn_status dyn_builder_remove_rotors(dyn_builder *builder, dyn_error *error) {
    dyn_builder *copy = NULL;
    bool *retain = calloc((size_t)builder->machine_element_count + 1, sizeof *retain);
    dyn_status status = retain ? builder_copy(builder, error, &copy) : dyn_error_memory(error);
    if (status != DYN_OK) {
        free(retain);
        return status;
    }
    replace_rotors(copy, retain);
    builder_clear_machine_elements(builder);
    for (int i = 0; status == DYN_OK && i < copy->machine_element_count; i++) {
        status = retain[i] ? builder_append_machine_element(builder, &copy->machine_elements[i], error) : DYN_OK;
    }
    dyn_builder_free(copy);
    free(retain);
    return status;
}
