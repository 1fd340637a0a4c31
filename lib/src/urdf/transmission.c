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
typedef enum place { OUTSIDE, ROBOT, ROS2_CONTROL, TRANSMISSION, TYPE, JOINT, ACTUATOR, REDUCTION, OTHER } place;

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

/* Current transmission. */
typedef struct transmission {
    char name[DYN_MAX_NAME + 1], joint[DYN_MAX_NAME + 1], type[DYN_MAX_NAME + 1];
    int line, joints, actuators;
    double reduction;                  /* product of the reductions of joint and actuator */
    stated_number inertia, gear_ratio; /* of Drake */
} transmission;

typedef struct transmission_reader {
    reader base; /* parser, locale, builder and error */
    place open[DYN_URDF_MAX_DEPTH];
    int depth;
    transmission current;
    char text[DYN_MAX_NAME + 1]; /* of a type or a reduction */
    int unnamed;                 /* transmissions without a name so far */
} transmission_reader;

/* ---- One transmission -------------------------------------------------------------------------------------------- */

static void copy_attribute(const char **attributes, const char *name, char copy[DYN_MAX_NAME + 1]) {
    const char *value = attribute_text(attributes, name);
    snprintf(copy, DYN_MAX_NAME + 1, "%s", value ? value : "");
}

static void begin_transmission(transmission_reader *t, const char **attributes) {
    t->current = (transmission){.line = reader_line(&t->base), .reduction = 1};
    copy_attribute(attributes, "name", t->current.name);
    copy_attribute(attributes, "type", t->current.type);
    if (t->current.name[0] == '\0') {
        snprintf(t->current.name, sizeof t->current.name, "transmission_%d", ++t->unnamed);
    }
    snprintf(t->base.subject, sizeof t->base.subject, "transmission %s", t->current.name);
}

/* Reads the number of a reduction, which is the text of its element. */
static void end_reduction(transmission_reader *t) {
    double value;
    if (numbers_read(t->text, t->base.plain, 1, &value) != 1 || value == 0) {
        reader_fail(&t->base, DYN_INVALID_ARGUMENT, "the reduction is \"%.60s\"; state a number that is not zero",
                    t->text);
        return;
    }
    t->current.reduction *= value;
}

static void read_number(transmission_reader *t, const char *tag, const char **attributes, stated_number *to) {
    attribute_required(&t->base, tag, attributes, "value", 1, &to->value);
    to->line = reader_line(&t->base);
}

/* Returns whether the transmission is between one joint and one actuator. Refuses others: a type that couples several
 * joints states no gear of each. */
static bool is_simple(transmission_reader *t) {
    const transmission *c = &t->current;
    const char *slash = strrchr(c->type, '/'), *type = slash ? slash + 1 : c->type;
    if (type[0] != '\0' && strcmp(type, "SimpleTransmission") != 0) {
        reader_fail(&t->base, DYN_INVALID_ARGUMENT,
                    "the type \"%.60s\" is not read; SimpleTransmission is: describe the gears as machine elements",
                    c->type);
    } else if (c->joints != 1 || c->actuators != 1) {
        reader_fail(&t->base, DYN_INVALID_ARGUMENT,
                    "it has %d joints and %d actuators; a simple transmission has one of each", c->joints,
                    c->actuators);
    }
    return t->base.status == DYN_OK;
}

/* Adds the gear of the transmission, or the rotor where Drake's elements state one. Drake adds the reflected inertia to
 * the diagonal of M alone. */
static void end_transmission(transmission_reader *t) {
    const transmission *c = &t->current;
    if (!is_simple(t)) {
        return;
    }
    double ratio = c->gear_ratio.line > 0 ? c->gear_ratio.value : c->reduction;
    dyn_machine_element_description added = {.name = c->name, .joint = c->joint, .line = c->line};
    if (c->inertia.line > 0) {
        added.kind = DYN_MACHINE_ELEMENT_KIND_ROTOR;
        added.rotor =
            (dyn_rotor){.ratio = ratio, .axial_inertia = c->inertia.value, .coupling = DYN_ROTOR_COUPLING_REFLECTED};
    } else {
        added.kind = DYN_MACHINE_ELEMENT_KIND_GEAR;
        added.gear = (dyn_gear){.ratio = ratio, .efficiency = 1, .back_driving_efficiency = 1};
    }
    dyn_status status = dyn_builder_add_machine_element(t->base.builder, &added, t->base.error);
    if (status != DYN_OK) {
        reader_stop(&t->base, status);
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
        t->current.joints++;
        copy_attribute(attributes, "name", t->current.joint);
    } else if (opened == ACTUATOR) {
        t->current.actuators++;
    } else if (parent == ACTUATOR && strcmp(name, "drake:rotor_inertia") == 0) {
        read_number(t, name, attributes, &t->current.inertia);
    } else if (parent == ACTUATOR && strcmp(name, "drake:gear_ratio") == 0) {
        read_number(t, name, attributes, &t->current.gear_ratio);
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
    } else if (t->open[t->depth] == TRANSMISSION) {
        end_transmission(t);
    }
}

/* Keeps the text of a type or a reduction, cut off at its bound. */
static void on_text(void *data, const char *text, int length) {
    transmission_reader *t = data;
    place in = t->depth > 0 && t->depth <= DYN_URDF_MAX_DEPTH ? t->open[t->depth - 1] : OUTSIDE;
    if (in == TYPE || in == REDUCTION) {
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
