/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Describes message types for clients, as rosapi does and as text.
 */
#include "ros_details.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ros_types.h"

/* Spells a type as a version of ROS does in definitions. */
static void spell(const char *type, unsigned long version, char spelled[ROS_NAME_SIZE]) {
    bool is_time = strcmp(type, "builtin_interfaces/msg/Time") == 0;
    if (version == 1 && (is_time || strcmp(type, "builtin_interfaces/msg/Duration") == 0)) {
        snprintf(spelled, ROS_NAME_SIZE, is_time ? "time" : "duration");
    } else {
        ros_type_spelling(type, version, spelled);
    }
}

/* Reads field `index` of a type in a version of ROS. */
static bool field_of(const char *type, unsigned long version, size_t index, ros_field *field) {
    if (version != 1 || strcmp(type, "std_msgs/msg/Header") != 0) {
        return ros_type_field(type, index, field);
    }
    *field = (ros_field){.name = "seq", .type = "uint32"};
    return index == 0 || ros_type_field(type, index - 1, field);
}

/* Collects the type and the types in it, each once, in the order of first use. */
static void collect(const char *type, unsigned long version, json_t *types) {
    char spelled[ROS_NAME_SIZE];
    spell(type, version, spelled);
    if (ros_type_is_primitive(spelled) || !ros_type_is_known(type)) {
        return;
    }
    for (size_t i = 0; i < json_array_size(types); i++) {
        if (strcmp(json_string_value(json_array_get(types, i)), type) == 0) {
            return;
        }
    }
    json_array_append_new(types, json_string(type));
    ros_field field;
    for (size_t i = 0; ros_type_field(type, i, &field); i++) {
        collect(field.type, version, types);
    }
}

static json_t *types_in(const char *type, unsigned long version) {
    char normalized[ROS_NAME_SIZE];
    ros_type_normalize(type, "msg", normalized);
    json_t *types = json_array();
    collect(normalized, version, types);
    return types;
}

static const char *example_of(const ros_field *field) {
    if (field->length != 0) {
        return "[]";
    }
    if (strcmp(field->type, "string") == 0) {
        return "";
    }
    if (strcmp(field->type, "bool") == 0) {
        return "False";
    }
    if (!ros_type_is_primitive(field->type)) {
        return "{}";
    }
    return strncmp(field->type, "float", 5) == 0 ? "0.0" : "0";
}

/* Returns the fields of a type as rosapi describes them. A length of -1 is one value, 0 is any number. */
static json_t *details_of(const char *type, unsigned long version) {
    json_t *names = json_array(), *types = json_array(), *lengths = json_array(), *examples = json_array();
    ros_field field;
    char spelled[ROS_NAME_SIZE];
    for (size_t i = 0; field_of(type, version, i, &field); i++) {
        spell(field.type, version, spelled);
        json_array_append_new(names, json_string(field.name));
        json_array_append_new(types, json_string(spelled));
        json_array_append_new(lengths, json_integer(field.length == 0 ? -1 : 0));
        json_array_append_new(examples, json_string(example_of(&field)));
    }
    spell(type, version, spelled);
    return json_pack("{ss so so so so s[] s[]}", "type", spelled, "fieldnames", names, "fieldtypes", types,
                     "fieldarraylen", lengths, "examples", examples, "constnames", "constvalues");
}

json_t *ros_type_details(const char *type, unsigned long version) {
    json_t *types = types_in(type, version), *details = json_array();
    for (size_t i = 0; i < json_array_size(types); i++) {
        json_array_append_new(details, details_of(json_string_value(json_array_get(types, i)), version));
    }
    json_decref(types);
    return details;
}

/* Writes the fields as text, which names messages by package and type in both versions. */
static void write_fields(FILE *to, const char *type, unsigned long version) {
    ros_field field;
    fputs(ros_type_constants(type), to);
    for (size_t i = 0; field_of(type, version, i, &field); i++) {
        char spelled[ROS_NAME_SIZE], shorter[ROS_NAME_SIZE];
        spell(field.type, version, spelled);
        ros_type_spelling(spelled, 1, shorter);
        fprintf(to, "%s%s %s\n", shorter, field.length != 0 ? "[]" : "", field.name);
    }
}

json_t *ros_definition_text(const char *type, unsigned long version) {
    json_t *types = types_in(type, version);
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    for (size_t i = 0; to && i < json_array_size(types); i++) {
        char spelled[ROS_NAME_SIZE];
        const char *each = json_string_value(json_array_get(types, i));
        ros_type_spelling(each, 1, spelled);
        if (i > 0) {
            fprintf(to, "%.80s\nMSG: %s\n",
                    "================================================================================", spelled);
        }
        write_fields(to, each, version);
    }
    if (to) {
        fclose(to);
    }
    json_t *string = json_string(text ? text : "");
    free(text);
    json_decref(types);
    return string;
}
