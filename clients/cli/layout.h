/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Order of a model's coordinates, which the user can choose: the joint of each entry of q and v.
 */
#ifndef CLI_LAYOUT_H
#define CLI_LAYOUT_H

#include <dynamics_client.h>

#include "diagnostics.h"

/* One entry of q or v: the coordinate number `index` of a joint. */
typedef struct coordinate {
    const dyn_client_joint *joint;
    size_t index;
    const char *name; /* the daemon's spelling: "elbow", "root_joint[3]" */
} coordinate;

typedef struct layout {
    const dyn_client_description *robot;
    size_t nq, nv;
    coordinate *q; /* nq */
    coordinate *v; /* nv */
    /* Joints in the order of the layout. name_count is 0 if the order is the model's own. */
    size_t joint_count;
    const dyn_client_joint **joints;
    size_t name_count;
    const char **names;
    char *text; /* owns the names */
} layout;

/* Creates the layout of a model in the order of `names`, joint names separated by commas, or in the model's own order
 * if `names` is NULL. Reports errors. The description must outlive the layout. The caller frees the layout with
 * layout_free, also after an error. */
exit_code layout_create(const dyn_client_description *robot, const char *names, layout *created);
/* Creates the layout of a model in the order of `count` names that the daemon sent, or in the model's own order if
 * `count` is 0. Reports errors. The description must outlive the layout. The caller frees the layout with layout_free,
 * also after an error. */
exit_code layout_create_in_order(const dyn_client_description *robot, size_t count, const char *const *names,
                                 layout *created);
void layout_free(layout *freed);

/* Copies a row of q from the model's order into the layout's. */
void layout_arrange_q(const layout *used, const double *model_q, double *q);

/* Writes the unit of acceleration that belongs to a unit of velocity, "rad/s^2" for "rad/s", and returns `unit`. */
const char *acceleration_unit(const char *velocity_unit, size_t size, char *unit);

#endif
