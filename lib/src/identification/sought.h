/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Inertial parameters that an identification seeks: those of all bodies, of some, of a payload, or none. The others
 * have the model's values, and what they contribute to the torques is known.
 */
#ifndef DYNAMICS_IDENTIFICATION_SOUGHT_H
#define DYNAMICS_IDENTIFICATION_SOUGHT_H

#include <dynamics/base_parameters.h>
#include <dynamics/identification.h>

/* Parameters of one body. */
enum { LINK = 10 };

/* Parameters sought, x, ten for each of `count` bodies, and their base parameters b = B x. */
typedef struct sought {
    dyn_base_parameters *grouping; /* of all parameters of the model */
    size_t width;                  /* number of all parameters */
    size_t count, base_count;
    int *bodies;    /* joint of each body */
    int *columns;   /* base_count: columns of Y; with a payload numbers of its parameters */
    double *B;      /* base_count x LINK count, row-major */
    double *p;      /* width: the model's own parameters */
    double *prior;  /* LINK count: the model's own values of x; 0 for a payload */
    double *b;      /* base_count: B prior */
    double *held;   /* base parameters of `grouping`: those of the parameters that are not sought; NULL: none */
    bool is_whole;  /* all parameters are sought */
    int payload;    /* link of the payload, or -1 */
    double *carry;  /* LINK x LINK: parameters of the payload's joint from those in the frame of its link; NULL: none */
    size_t sources; /* number of base parameters of `grouping` */
} sought;

/* Chooses the parameters. The caller frees the result with sought_free, after an error too.
 * Errors: those of dyn_identify about the links; those of dyn_base_parameters_create. */
dyn_status sought_create(const dyn_model *model, const dyn_identification_options *options, sought *s,
                         dyn_error *error);

void sought_free(sought *s);

/* Stores the base parameters b of the values x. */
dyn_status sought_reduce(const sought *s, const double *x, double *b, dyn_error *error);

/* Stores the entries of one row of Y that multiply b, and returns what the parameters that are not sought contribute.
 * */
double sought_row(const sought *s, const double *Y, double *row);

/* Stores the parameters of all bodies for the values x. */
void sought_expand(const sought *s, const double *x, double *parameters);

#endif
