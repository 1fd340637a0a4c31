/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Interface for other libraries of rigid-body dynamics, so that tests and the benchmark can compare this library with
 * them.
 *
 * Each library is used through its public interface only. All quantities have the conventions (dynamics/model.h) and
 * joint order of this library: a peer converts the numbers that its library holds otherwise.
 */
#ifndef DYNAMICS_TESTS_PEER_H
#define DYNAMICS_TESTS_PEER_H

#include <stdbool.h>

#include "support/algorithms.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A robot in one library, with that library's scratch memory. */
typedef struct peer peer;

/* Computes the result of algorithm_compute for one state (in->n = 1, no external forces). Where `out` is NULL, the
 * result stays in the form in which the library computes it. Returns false where the library lacks the algorithm for
 * this robot or frame. */
typedef bool peer_function(peer *robot, const algorithm_input *in, double *out);

/* An algorithm that a library has. */
typedef struct peer_algorithm {
    algorithm_id id;
    peer_function *compute;
} peer_algorithm;

enum { PEER_REASON_SIZE = 256 };

typedef struct peer_library {
    const char *name; /* such as "Orocos KDL 1.5" */
    const char *key;  /* such as "kdl" */
    double tolerance; /* relative difference that rounding in the library explains */
    bool has_floating_base, has_point_masses;

    /* Creates the robot of a model, built from the model's description link by link; the model must outlive the robot.
     * With `merge_fixed` the library merges links on fixed joints into their parents where it can; merged links cannot
     * be queried. Returns NULL, with the reason, where the library cannot represent the robot. */
    peer *(*create)(const dyn_model *model, bool merge_fixed, char reason[PEER_REASON_SIZE]);
    /* Loads the robot by the library's own reader from the text of a URDF file. NULL function: the library has no
     * reader. */
    peer *(*read)(const dyn_model *model, const char *urdf, char reason[PEER_REASON_SIZE]);
    void (*destroy)(peer *robot);

    const peer_algorithm *algorithms; /* the last one has no function */
} peer_library;

extern const peer_library kdl_library, mujoco_library, dart_library, simbody_library;

/* Libraries that this build has; the last element is NULL. */
extern const peer_library *const peer_libraries[];

/* Returns the library of that key, or NULL where this build lacks it. */
const peer_library *peer_find(const char *key);

/* Returns the library's function for an algorithm, or NULL where it has none. */
peer_function *peer_algorithm_of(const peer_library *library, algorithm_id id);

#ifdef __cplusplus
}
#endif

#endif
