/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Other libraries of rigid-body dynamics behind one interface, so that tests and the benchmark can stand ours beside
 * them. Each is reached through its public interface only.
 *
 * All quantities are in our conventions (dynamics/model.h) and joint order: a peer converts what its library holds
 * otherwise.
 */
#ifndef DYNAMICS_TESTS_PEER_H
#define DYNAMICS_TESTS_PEER_H

#include <stdbool.h>

#include "support/algorithms.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One robot in one library, with that library's scratch memory. */
typedef struct peer peer;

/* Computes for one state (in->n = 1, no external forces) what algorithm_compute does. `out` NULL: leaves the result in
 * the form in which the library computes it. False: the library cannot do it for this robot or frame. */
typedef bool peer_function(peer *robot, const algorithm_input *in, double *out);

/* One algorithm that a library has. */
typedef struct peer_algorithm {
    algorithm_id id;
    peer_function *compute;
} peer_algorithm;

enum { PEER_REASON_SIZE = 256 };

typedef struct peer_library {
    const char *name; /* "Orocos KDL 1.5" */
    const char *key;  /* "kdl" */
    double tolerance; /* relative difference to us that rounding in the library explains */
    bool has_floating_base, has_point_masses;

    /* The robot of a model, built from its description link by link; the model must outlive it. With `merge_fixed`
     * links on fixed joints are merged into their parents where the library can, and cannot be asked for then. NULL
     * where the library cannot hold such a robot, with the reason. */
    peer *(*create)(const dyn_model *model, bool merge_fixed, char reason[PEER_REASON_SIZE]);
    /* Loads the robot by the library's own reader from the text of a URDF file. NULL function: the library has no
     * reader. */
    peer *(*read)(const dyn_model *model, const char *urdf, char reason[PEER_REASON_SIZE]);
    void (*destroy)(peer *robot);

    const peer_algorithm *algorithms; /* ended by one without function */
} peer_library;

extern const peer_library kdl_library, mujoco_library, dart_library, simbody_library;

/* The libraries that this build has, ended by NULL. */
extern const peer_library *const peer_libraries[];

/* The library of that key, or NULL where this build has not got it. */
const peer_library *peer_find(const char *key);

/* The library's function for an algorithm, or NULL where it has none. */
peer_function *peer_algorithm_of(const peer_library *library, algorithm_id id);

#ifdef __cplusplus
}
#endif

#endif
