/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bounds of requests that no configuration changes. GetServerInfo reports them.
 */
#ifndef SERVER_METHODS_BOUNDS_H
#define SERVER_METHODS_BOUNDS_H

enum {
    MOST_PAYLOADS = 1000,             /* of one request */
    MOST_OPERATIONS = 64,             /* of one DeriveModel */
    MOST_SUBSTEPS = 10000,            /* of one step */
    MOST_BASE_PARAMETER_JOINTS = 200, /* moving joints of a model, for base parameters */
    MOST_SAMPLE_ERRORS = 1000,        /* listed in one reply */
};

#endif
