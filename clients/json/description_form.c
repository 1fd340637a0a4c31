/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Recognizes the form of a robot's description in JSON by its members.
 */
#include "description_form.h"

#include <string.h>

#include "message_fields.h"

/* Members that identify the forms of a description, and the field of LoadModelRequest for each form. */
static const struct {
    const char *member, *field;
} FORMS[] = {{"links", "description"}, {"rows", "denavit_hartenberg"}, {"slist", "screws"}};

bool description_is_json(const char *text) {
    return text[strspn(text, " \t\r\n")] == '{';
}

const ProtobufCFieldDescriptor *description_form(const json_t *description) {
    for (size_t i = 0; i < sizeof FORMS / sizeof *FORMS; i++) {
        if (json_object_get(description, FORMS[i].member)) {
            return protobuf_c_message_descriptor_get_field_by_name(&dynamics__v1__load_model_request__descriptor,
                                                                   FORMS[i].field);
        }
    }
    return NULL;
}

void description_set(Dynamics__V1__LoadModelRequest *load, const ProtobufCFieldDescriptor *form,
                     ProtobufCMessage *message) {
    load->source_case = (Dynamics__V1__LoadModelRequest__SourceCase)form->id;
    *(ProtobufCMessage **)field_place(&load->base, form) = message;
}
