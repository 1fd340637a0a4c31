/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Forms of a robot's description in JSON: a ModelDescription, a DenavitHartenbergTable or a ScrewChain.
 */
#ifndef JSON_DESCRIPTION_FORM_H
#define JSON_DESCRIPTION_FORM_H

#include <dynamics/v1/model.pb-c.h>
#include <jansson.h>
#include <stdbool.h>

/* Returns whether a text is JSON and not URDF: its first character that is no blank is "{". */
bool description_is_json(const char *text);

/* Finds the form of a description by a member that only this form has: links, rows or slist. Returns the field of
 * LoadModelRequest that holds it, or NULL if there is none of them. */
const ProtobufCFieldDescriptor *description_form(const json_t *description);

/* Sets the source of the request to a message of that form. The request does not own it. */
void description_set(Dynamics__V1__LoadModelRequest *load, const ProtobufCFieldDescriptor *form,
                     ProtobufCMessage *message);

#endif
