/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Parameters that a request is to identify, or for which it is to find a motion.
 */
#ifndef SERVER_METHODS_PARAMETER_CHOICE_H
#define SERVER_METHODS_PARAMETER_CHOICE_H

#include <dynamics/identification.h>

#include "methods/batch.h"

/* Members of a request, as the messages IdentifyRequest and ExciteRequest have them. */
typedef struct parameter_choice {
    size_t term_count;
    const Dynamics__V1__DriveTerm *terms;
    bool ignore_drives, drives_only;
    double friction_velocity, stribeck_velocity;
    size_t link_count;
    char *const *links;
    const char *payload_link;
} parameter_choice;

/* Checks the size of the model. Returns false when the call has ended. */
bool parameter_choice_fits(batch *b);

/* Sets the members of the options that choose parameters, and those of progress and gravity. The library checks ranges
 * and that links move. Returns false when the call has ended. */
bool parameter_choice_read(batch *b, const parameter_choice *from, dyn_identification_options *options);

/* Ends the call with an error of the library, which may be that of a model with too many parameters. */
void parameter_choice_fail(batch *b, const dyn_error *error);

/* Returns the joint of a velocity coordinate. */
const dyn_joint *joint_of_coordinate(const dyn_model *model, int coordinate);

#endif
