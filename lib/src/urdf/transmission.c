/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads the transmissions of a URDF document, with a parser of their own: the reader of links and joints ignores them.
 *
 * Sources: the specification of <transmission> of ROS (wiki.ros.org/urdf/XML/Transmission); the transmissions of
 * ros2_control; the documentation of Drake's parser (drake:rotor_inertia, drake:gear_ratio).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../model/error.h"
#include "../model/number.h"
#include "reader.h"

/* Places in the document. */
typedef enum place { OUTSIDE, ROBOT, ROS2_CONTROL, TRANSMISSION, TYPE, JOINT, ACTUATOR, ROLE, REDUCTION, OTHER } place;

/* Names of elements, each in the place that holds it. */
static const struct {
    place parent, element;
    const char *name;
} places[] = {
    {OUTSIDE, ROBOT, "robot"},
    {ROBOT, ROS2_CONTROL, "ros2_control"},
    {ROBOT, TRANSMISSION, "transmission"},
    {ROS2_CONTROL, TRANSMISSION, "transmission"},
    {TRANSMISSION, TYPE, "type"},
    {TRANSMISSION, TYPE, "plugin"},
    {TRANSMISSION, JOINT, "joint"},
    {TRANSMISSION, ACTUATOR, "actuator"},
    {JOINT, ROLE, "role"},
    {ACTUATOR, ROLE, "role"},
    {JOINT, REDUCTION, "mechanicalReduction"},
    {JOINT, REDUCTION, "mechanical_reduction"},
    {ACTUATOR, REDUCTION, "mechanicalReduction"},
    {ACTUATOR, REDUCTION, "mechanical_reduction"},
};

/* Number of the document with its line: 0 where it is not stated. */
typedef struct stated_number {
    double value;
    int line;
} stated_number;

/* Joint or actuator of a transmission. */
typedef struct part {
    char name[DYN_MAX_NAME + 1], role[DYN_MAX_NAME + 1];
    double reduction;
    stated_number inertia, gear_ratio; /* of an actuator of Drake */
} part;

/* Joints and actuators of the largest transmission. */
enum { PARTS = 2 };

/* Current transmission. */
typedef struct transmission {
    char name[DYN_MAX_NAME + 1], type[DYN_MAX_NAME + 1];
    int line, joint_count, actuator_count;
    part joints[PARTS], actuators[PARTS], surplus;
    part *open; /* last one that began */
} transmission;

typedef struct transmission_reader {
    reader base; /* parser, locale, builder and error */
    place open[DYN_URDF_MAX_DEPTH];
    int depth;
    transmission current;
    char text[DYN_MAX_NAME + 1]; /* of a type, a role or a reduction */
    int unnamed;                 /* transmissions without a name so far */
} transmission_reader;

/* ---- One transmission -------------------------------------------------------------------------------------------- */

static void copy_attribute(const char **attributes, const char *name, char copy[DYN_MAX_NAME + 1]) {
    const char *value = attribute_text(attributes, name);
    snprintf(copy, DYN_MAX_NAME + 1, "%s", value ? value : "");
}

static void begin_transmission(transmission_reader *t, const char **attributes) {
    t->current = (transmission){.line = reader_line(&t->base)};
    copy_attribute(attributes, "name", t->current.name);
    copy_attribute(attributes, "type", t->current.type);
    if (t->current.name[0] == '\0') {
        snprintf(t->current.name, sizeof t->current.name, "transmission_%d", ++t->unnamed);
    }
    snprintf(t->base.subject, sizeof t->base.subject, "transmission %s", t->current.name);
}

/* Begins a joint or an actuator, of which there are `count` so far. */
static void begin_part(transmission_reader *t, part parts[PARTS], int *count, const char **attributes) {
    t->current.open = *count < PARTS ? &parts[*count] : &t->current.surplus;
    *t->current.open = (part){.reduction = 1};
    copy_attribute(attributes, "name", t->current.open->name);
    copy_attribute(attributes, "role", t->current.open->role);
    ++*count;
}

/* Reads the number of a reduction, which is the text of its element. */
static void end_reduction(transmission_reader *t) {
    double value;
    if (numbers_read(t->text, t->base.plain, 1, &value) != 1 || value == 0) {
        reader_fail(&t->base, DYN_INVALID_ARGUMENT, "the reduction is \"%.60s\"; state a number that is not zero",
                    t->text);
        return;
    }
    t->current.open->reduction *= value;
}

static void read_number(transmission_reader *t, const char *tag, const char **attributes, stated_number *to) {
    attribute_required(&t->base, tag, attributes, "value", 1, &to->value);
    to->line = reader_line(&t->base);
}

static void read_inertia(transmission_reader *t, const char **attributes, stated_number *inertia) {
    read_number(t, "drake:rotor_inertia", attributes, inertia);
    if (inertia->value < 0) {
        reader_fail(&t->base, DYN_INVALID_ARGUMENT,
                    "the inertia of the rotor is %g; state a number that is not negative", inertia->value);
    }
}

static void read_ratio(transmission_reader *t, const char **attributes, stated_number *ratio) {
    read_number(t, "drake:gear_ratio", attributes, ratio);
    if (ratio->value == 0) {
        reader_fail(&t->base, DYN_INVALID_ARGUMENT, "the gear ratio is 0; state a number that is not zero");
    }
}

/* Adds an element of the transmission. */
static void add_element(transmission_reader *t, const dyn_machine_element_description *added) {
    dyn_status status = t->base.status;
    if (status == DYN_OK) {
        status = dyn_builder_add_machine_element(t->base.builder, added, t->base.error);
    }
    if (status != DYN_OK) {
        reader_stop(&t->base, status);
    }
}

/* Returns the reduction of an actuator. The ratio of Drake takes its place. */
static double reduction_of(const part *actuator) {
    return actuator->gear_ratio.line > 0 ? actuator->gear_ratio.value : actuator->reduction;
}

/* Adds a gear, or the rotor where Drake's elements state one. Drake adds the reflected inertia to the diagonal of M
 * alone. */
static void end_simple(transmission_reader *t) {
    const transmission *c = &t->current;
    const part *actuator = &c->actuators[0];
    double ratio =
        actuator->gear_ratio.line > 0 ? reduction_of(actuator) : actuator->reduction * c->joints[0].reduction;
    dyn_machine_element_description added = {.name = c->name, .joint = c->joints[0].name, .line = c->line};
    if (actuator->inertia.line > 0) {
        added.kind = DYN_MACHINE_ELEMENT_KIND_ROTOR;
        added.rotor = (dyn_rotor){
            .ratio = ratio, .axial_inertia = actuator->inertia.value, .coupling = DYN_ROTOR_COUPLING_REFLECTED};
    } else {
        added.kind = DYN_MACHINE_ELEMENT_KIND_GEAR;
        added.gear = (dyn_gear){.ratio = ratio, .efficiency = 1, .back_driving_efficiency = 1};
    }
    add_element(t, &added);
}

/* Adds the shaft of an actuator with these ratios of the two joints, of which zero ones do not turn it. */
static void add_shaft(transmission_reader *t, const part *actuator, const double ratios[PARTS]) {
    char name[2 * DYN_MAX_NAME + 2];
    snprintf(name, sizeof name, "%s/%s", t->current.name, actuator->name);
    dyn_machine_element_description added = {
        .name = name,
        .kind = DYN_MACHINE_ELEMENT_KIND_SHAFT,
        .rotor = {.axial_inertia = actuator->inertia.line > 0 ? actuator->inertia.value : 0},
        .line = t->current.line};
    for (int k = 0; k < PARTS; k++) {
        if (ratios[k] != 0) {
            added.shaft.joints[added.shaft.joint_count] = t->current.joints[k].name;
            added.shaft.ratios[added.shaft.joint_count++] = reduction_of(actuator) * ratios[k];
        }
    }
    added.rotor.coupling = DYN_ROTOR_COUPLING_REFLECTED;
    add_element(t, &added);
}

/* Sorts two parts by their roles, the first and the second one; parts without roles stay in the order of the file. */
static void order_parts(transmission_reader *t, const char *first, const char *second, part parts[PARTS]) {
    bool has_roles = parts[0].role[0] != '\0' || parts[1].role[0] != '\0';
    if (has_roles && strcmp(parts[0].role, second) == 0 && strcmp(parts[1].role, first) == 0) {
        part swapped = parts[0];
        parts[0] = parts[1];
        parts[1] = swapped;
    } else if (has_roles && (strcmp(parts[0].role, first) != 0 || strcmp(parts[1].role, second) != 0)) {
        reader_fail(&t->base, DYN_INVALID_ARGUMENT, "the roles are \"%.40s\" and \"%.40s\"; state \"%s\" and \"%s\"",
                    parts[0].role, parts[1].role, first, second);
    }
}

/* Adds the shafts of a transmission of two joints with the reductions n_j and two actuators with n_a:
 *     differential        w_1 = n_a1 (n_j1 v_1 + n_j2 v_2)    w_2 = n_a2 (n_j1 v_1 - n_j2 v_2)
 *     four-bar linkage    w_1 = n_a1 n_j1 v_1                 w_2 = n_a2 (v_1 + n_j2 v_2)
 * Source: the documentation of DifferentialTransmission and FourBarLinkageTransmission (ros2_control), whose efforts of
 * the four-bar linkage do not conserve the power; here they follow from the rates, as tau = G' tau_motor. */
static void end_double(transmission_reader *t, bool is_differential) {
    transmission *c = &t->current;
    order_parts(t, "joint1", "joint2", c->joints);
    order_parts(t, "actuator1", "actuator2", c->actuators);
    double n1 = c->joints[0].reduction, n2 = c->joints[1].reduction;
    const double differential[PARTS][PARTS] = {{n1, n2}, {n1, -n2}}, four_bar[PARTS][PARTS] = {{n1, 0}, {1, n2}};
    for (int k = 0; k < PARTS && t->base.status == DYN_OK; k++) {
        add_shaft(t, &c->actuators[k], is_differential ? differential[k] : four_bar[k]);
    }
}

/* Types of transmissions, with their numbers of joints, which are those of their actuators. */
static const struct {
    const char *name;
    int parts;
    bool is_differential;
} types[] = {
    {"SimpleTransmission", 1, false},
    {"DifferentialTransmission", 2, true},
    {"FourBarLinkageTransmission", 2, false},
};

/* Adds the elements of the transmission. One without a type is simple. */
static void end_transmission(transmission_reader *t) {
    const transmission *c = &t->current;
    const char *slash = strrchr(c->type, '/'), *type = slash ? slash + 1 : c->type;
    size_t i = 0, count = sizeof types / sizeof *types;
    while (type[0] != '\0' && i < count && strcmp(type, types[i].name) != 0) {
        i++;
    }
    if (i == count) {
        reader_fail(&t->base, DYN_INVALID_ARGUMENT,
                    "the type \"%.60s\" is not read; %s, %s and %s are: describe the gears as machine elements",
                    c->type, types[0].name, types[1].name, types[2].name);
    } else if (c->joint_count != types[i].parts || c->actuator_count != types[i].parts) {
        reader_fail(&t->base, DYN_INVALID_ARGUMENT, "it has %d joints and %d actuators; a %s has %d of each",
                    c->joint_count, c->actuator_count, types[i].name, types[i].parts);
    } else if (types[i].parts == 1) {
        end_simple(t);
    } else {
        end_double(t, types[i].is_differential);
    }
}

/* ---- The document ------------------------------------------------------------------------------------------------ */

static place find_place(place parent, const char *name) {
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        if (places[i].parent == parent && strcmp(places[i].name, name) == 0) {
            return places[i].element;
        }
    }
    return OTHER;
}

/* Reads the attributes of an element of a transmission. */
static void open_part(transmission_reader *t, place parent, place opened, const char *name, const char **attributes) {
    t->text[0] = '\0';
    if (opened == TRANSMISSION) {
        begin_transmission(t, attributes);
    } else if (opened == JOINT) {
        begin_part(t, t->current.joints, &t->current.joint_count, attributes);
    } else if (opened == ACTUATOR) {
        begin_part(t, t->current.actuators, &t->current.actuator_count, attributes);
    } else if (parent == ACTUATOR && strcmp(name, "drake:rotor_inertia") == 0) {
        read_inertia(t, attributes, &t->current.open->inertia);
    } else if (parent == ACTUATOR && strcmp(name, "drake:gear_ratio") == 0) {
        read_ratio(t, attributes, &t->current.open->gear_ratio);
    }
}

static void on_start(void *data, const char *name, const char **attributes) {
    transmission_reader *t = data;
    if (t->base.status == DYN_OK && t->depth < DYN_URDF_MAX_DEPTH) {
        place parent = t->depth > 0 ? t->open[t->depth - 1] : OUTSIDE, opened = find_place(parent, name);
        t->open[t->depth] = opened;
        open_part(t, parent, opened, name, attributes);
    }
    t->depth++;
}

static void on_end(void *data, const char *name) {
    (void)name;
    transmission_reader *t = data;
    if (--t->depth >= DYN_URDF_MAX_DEPTH || t->base.status != DYN_OK) {
        return;
    }
    if (t->open[t->depth] == REDUCTION) {
        end_reduction(t);
    } else if (t->open[t->depth] == TYPE) {
        sscanf(t->text, "%128s", t->current.type);
    } else if (t->open[t->depth] == ROLE) {
        sscanf(t->text, "%128s", t->current.open->role);
    } else if (t->open[t->depth] == TRANSMISSION) {
        end_transmission(t);
    }
}

/* Keeps the text of a type, a role or a reduction, cut off at its bound. */
static void on_text(void *data, const char *text, int length) {
    transmission_reader *t = data;
    place in = t->depth > 0 && t->depth <= DYN_URDF_MAX_DEPTH ? t->open[t->depth - 1] : OUTSIDE;
    if (in == TYPE || in == ROLE || in == REDUCTION) {
        size_t used = strlen(t->text), room = sizeof t->text - 1 - used;
        size_t taken = (size_t)length < room ? (size_t)length : room;
        memcpy(t->text + used, text, taken);
        t->text[used + taken] = '\0';
    }
}

static void parse(transmission_reader *t, const char *text, size_t length) {
    prologue p = {.text = text, .length = length};
    prologue_read(&t->base, &p);
    if (t->base.status != DYN_OK) {
        return;
    }
    if (p.encoding && XML_SetEncoding(t->base.parser, p.encoding) != XML_STATUS_OK) {
        reader_fail(&t->base, DYN_RESOURCE_EXHAUSTED, "out of memory");
        return;
    }
    XML_SetUserData(t->base.parser, t);
    XML_SetElementHandler(t->base.parser, on_start, on_end);
    XML_SetCharacterDataHandler(t->base.parser, on_text);
    if (XML_Parse(t->base.parser, p.text, (int)p.length, XML_TRUE) != XML_STATUS_OK) {
        reader_fail(&t->base, DYN_INVALID_ARGUMENT, "this is not well-formed XML: %s",
                    XML_ErrorString(XML_GetErrorCode(t->base.parser)));
    }
}

dyn_status dyn_builder_read_transmissions(dyn_builder *builder, const char *urdf, size_t length, dyn_error *error) {
    transmission_reader *t = calloc(1, sizeof *t);
    if (!t) {
        return dyn_error_memory(error);
    }
    t->base.builder = builder;
    t->base.error = error;
    t->base.plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    t->base.parser = XML_ParserCreate(NULL);
    if (t->base.plain == (locale_t)0 || !t->base.parser) {
        t->base.status = dyn_error_memory(error);
    } else {
        parse(t, urdf, length);
    }
    dyn_status status = t->base.status;
    if (t->base.parser) {
        XML_ParserFree(t->base.parser);
    }
    if (t->base.plain != (locale_t)0) {
        freelocale(t->base.plain);
    }
    free(t);
    return status;
}
