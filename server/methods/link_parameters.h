/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names and units of the ten inertial parameters of a body, in the order of the regressor's columns.
 */
#ifndef SERVER_METHODS_LINK_PARAMETERS_H
#define SERVER_METHODS_LINK_PARAMETERS_H

#include <dynamics/model.h>
#include <stdint.h>

#include "methods/call.h"

/* Number of inertial parameters of a body. */
enum { LINK_PARAMETERS = 10 };

/* Returns the name of the parameter in a column of the regressor, such as "Izz". The string is read-only; its type is
 * not const because protobuf-c requires that. */
char *link_parameter_name(uint32_t column);

/* Returns its unit: "kg", "kg m" or "kg m^2". The string is read-only. */
char *link_parameter_unit(uint32_t column);

/* Lists the link that each moving joint carries, in the call's memory. Returns NULL, and the call has ended, when out
 * of memory. */
char **link_parameter_bodies(call *c, const dyn_model *model);

#endif
