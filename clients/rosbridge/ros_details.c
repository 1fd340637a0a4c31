/*
 * Definitions of types for others.
 */
#include "ros_details.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ros_types.h"

/* Types, each once, in the order in which they are met. */
static void collect(const char *type, json_t *types) {
    if (ros_type_is_primitive(type) || !ros_type_is_known(type))
        return;
    for (size_t i = 0; i < json_array_size(types); i++)
        if (strcmp(json_string_value(json_array_get(types, i)), type) == 0)
            return;
    json_array_append_new(types, json_string(type));
    ros_field field;
    for (size_t i = 0; ros_type_field(type, i, &field); i++)
        collect(field.type, types);
}

static const char *example_of(const ros_field *field) {
    if (field->length != 0)
        return "[]";
    if (strcmp(field->type, "string") == 0)
        return "";
    if (strcmp(field->type, "bool") == 0)
        return "False";
    if (!ros_type_is_primitive(field->type))
        return "{}";
    return strncmp(field->type, "float", 5) == 0 ? "0.0" : "0";
}

/* In rosapi -1 is one value, 0 any number. */
static json_t *details_of(const char *type) {
    json_t *names = json_array(), *types = json_array(), *lengths = json_array(), *examples = json_array();
    ros_field field;
    for (size_t i = 0; ros_type_field(type, i, &field); i++) {
        json_array_append_new(names, json_string(field.name));
        json_array_append_new(types, json_string(field.type));
        json_array_append_new(lengths, json_integer(field.length == 0 ? -1 : 0));
        json_array_append_new(examples, json_string(example_of(&field)));
    }
    return json_pack("{ss so so so so s[] s[]}", "type", type, "fieldnames", names, "fieldtypes", types,
                     "fieldarraylen", lengths, "examples", examples, "constnames", "constvalues");
}

json_t *ros_type_details(const char *type) {
    json_t *types = json_array(), *details = json_array();
    collect(type, types);
    for (size_t i = 0; i < json_array_size(types); i++)
        json_array_append_new(details, details_of(json_string_value(json_array_get(types, i))));
    json_decref(types);
    return details;
}

static void write_fields(FILE *to, const char *type) {
    ros_field field;
    for (size_t i = 0; ros_type_field(type, i, &field); i++) {
        char spelled[ROS_NAME_SIZE];
        ros_type_spelling(field.type, 1, spelled);
        fprintf(to, "%s%s %s\n", spelled, field.length != 0 ? "[]" : "", field.name);
    }
}

json_t *ros_definition_text(const char *type) {
    json_t *types = json_array();
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    collect(type, types);
    for (size_t i = 0; to != NULL && i < json_array_size(types); i++) {
        char spelled[ROS_NAME_SIZE];
        const char *each = json_string_value(json_array_get(types, i));
        ros_type_spelling(each, 1, spelled);
        if (i > 0)
            fprintf(to, "%.80s\nMSG: %s\n",
                    "================================================================================", spelled);
        write_fields(to, each);
    }
    if (to != NULL)
        fclose(to);
    json_t *string = json_string(text != NULL ? text : "");
    free(text);
    json_decref(types);
    return string;
}
