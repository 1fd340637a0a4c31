/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Operations of the protocol, one function for each "op".
 */
#ifndef ROSBRIDGE_OPERATIONS_H
#define ROSBRIDGE_OPERATIONS_H

#include "request.h"

/* Runs the operation of a message and answers it. Returns false if there is no operation of that name. */
bool operation_run(const request *from);

#endif
