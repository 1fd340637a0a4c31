/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Recognizes the form of a robot's description in JSON: a ModelDescription, a DenavitHartenbergTable or a
 * ScrewChain.
 */
#ifndef JSON_DESCRIPTION_FORM_H
#define JSON_DESCRIPTION_FORM_H

#include <dynamics/v1/model.pb-c.h>
#include <jansson.h>
#include <stdbool.h>

/* Returns true if a text is JSON and not URDF: its first character after white space is "{". */
bool description_is_json(const char *text);

/* Finds the form of a description by a member that only this form has: links, rows or slist. Returns the field of
 * LoadModelRequest for this form, or NULL if the description has none of these members. */
const ProtobufCFieldDescriptor *description_form(const json_t *description);

/* Sets the source of the request to `message`, which has the type of the field `form`. The request borrows the
 * message. */
void description_set(Dynamics__V1__LoadModelRequest *load, const ProtobufCFieldDescriptor *form,
                     ProtobufCMessage *message);

#endif
