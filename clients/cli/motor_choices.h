/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compares the motors and gears of a table for a motion (dynamicsctl motor --choose).
 */
#ifndef CLI_MOTOR_CHOICES_H
#define CLI_MOTOR_CHOICES_H

#include "arguments.h"
#include "diagnostics.h"

/* Returns the name of a limit, such as "gear_torque". */
const char *motor_limit_name(dyn_client_motor_limit limit);

/* Evaluates the motors of the file `path` in place of those of the model, and prints them for each motor, the best
 * first. `request` is the motion, without choices. Reports errors. */
exit_code choose_motors(const arguments *args, dyn_client *client, const dyn_client_query *query,
                        const dyn_client_motors_request *request, const char *path);

#endif
