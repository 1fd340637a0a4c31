/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes a request for any method of the contract from the descriptors of its messages, so that a test which runs
 * through all methods also has those that are added later.
 */
#ifndef DYNAMICS_TESTS_METHOD_REQUEST_H
#define DYNAMICS_TESTS_METHOD_REQUEST_H

#include "system/sp_request.h"

/* Name of the model, the simulation, the stream, the job and the recording that the requests name. The simulation is
 * one of the two-link arm. */
#define METHOD_OBJECT "attacked"

/* Returns the number of the oneof `method` of a Request of this field, and 0 for a field that is no method. */
unsigned method_number(const ProtobufCFieldDescriptor *field);

/* Makes a request of a method, and before, by requests to the daemon, the objects that it needs; their success is not
 * checked. Fields with well-known names have values: those of METHOD_OBJECT, with the token of its simulation, one
 * state of the arm, and a query for it. All others are empty. The caller frees the request. */
Dynamics__V1__Request *method_request_prepare(const sp_peer *peer, const ProtobufCFieldDescriptor *method);

#endif
