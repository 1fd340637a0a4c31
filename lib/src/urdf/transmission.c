/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads transmissions.
 *
 * Sources: the URDF specification of ROS (<transmission>, <mechanicalReduction>); the documentation of Drake's parser
 * (drake:rotor_inertia, drake:gear_ratio).
 */
#include "transmission.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../model/error.h"

/* Copies a name, cut off at its bound. A missing one is empty. */
static void copy_name(const char *name, char copy[DYN_MAX_NAME + 1]) {
    snprintf(copy, DYN_MAX_NAME + 1, "%s", name ? name : "");
}

void open_transmission(reader *r, const char **attributes) {
    r->transmission = (transmission){.line = reader_line(r)};
    copy_name(attribute_text(attributes, "name"), r->transmission.name);
    snprintf(r->subject, sizeof r->subject, "transmission %s", r->transmission.name);
}

void open_driven_joint(reader *r, const char **attributes) {
    r->transmission.joints++;
    copy_name(attribute_text(attributes, "name"), r->transmission.joint);
}

void open_actuator(reader *r, const char **attributes) {
    r->transmission.actuators++;
    copy_name(attribute_text(attributes, "name"), r->transmission.actuator);
}

void open_reduction(reader *r, const char **attributes) {
    (void)attributes;
    r->transmission.text[0] = '\0';
}

void transmission_text(reader *r, const char *text, int length) {
    if (r->open[r->depth - 1] != ELEMENT_REDUCTION) {
        return;
    }
    char *held = r->transmission.text;
    size_t used = strlen(held), room = sizeof r->transmission.text - 1 - used;
    size_t taken = (size_t)length < room ? (size_t)length : room;
    memcpy(held + used, text, taken);
    held[used + taken] = '\0';
}

void open_rotor_inertia(reader *r, const char **attributes) {
    attribute_required(r, "drake:rotor_inertia", attributes, "value", 1, &r->transmission.rotor_inertia);
}

void open_gear_ratio(reader *r, const char **attributes) {
    attribute_required(r, "drake:gear_ratio", attributes, "value", 1, &r->transmission.gear_ratio);
    r->transmission.has_gear_ratio = true;
}

/* Returns the gear ratio: that of Drake, otherwise that of ROS, otherwise one. */
static double gear_ratio(reader *r) {
    const transmission *t = &r->transmission;
    const char *reduction[] = {"value", t->text, NULL};
    double ratio = 1;
    if (t->has_gear_ratio) {
        return t->gear_ratio;
    }
    if (t->text[strspn(t->text, " \t\r\n")] != '\0') {
        attribute_numbers(r, "mechanicalReduction", reduction, "value", 1, &ratio);
    }
    return ratio;
}

/* Adds the rotor of the transmission. Drake's joint actuators add the reflected inertia to the diagonal of M alone. */
static void add_rotor(reader *r) {
    const transmission *t = &r->transmission;
    const dyn_machine_element_description rotor = {
        .name = t->actuator[0] != '\0' ? t->actuator : t->name,
        .kind = DYN_MACHINE_ELEMENT_KIND_ROTOR,
        .joint = t->joint,
        .rotor = {.ratio = gear_ratio(r), .axial_inertia = t->rotor_inertia, .coupling = DYN_ROTOR_COUPLING_REFLECTED},
        .line = t->line};
    if (r->status != DYN_OK) {
        return;
    }
    dyn_status status = dyn_builder_add_machine_element(r->builder, &rotor, r->error);
    if (status != DYN_OK) {
        reader_stop(r, status);
    }
}

void close_transmission(reader *r) {
    const transmission *t = &r->transmission;
    bool is_rotor = t->rotor_inertia != 0 && t->joints == 1 && t->actuators == 1;
    if (is_rotor) {
        add_rotor(r);
    }
    strcpy(r->subject, "robot");
    if (t->rotor_inertia == 0) {
        ignore(r, DYN_SEVERITY_NOTE, "it states no rotor inertia", "<transmission> in <robot>");
    } else if (!is_rotor) {
        ignore(r, DYN_SEVERITY_WARNING, "only transmissions between one joint and one actuator are read",
               "<transmission> with drake:rotor_inertia in <robot>");
    }
}
