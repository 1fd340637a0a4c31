/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lists the peer libraries that the configuration of the build found, and finds a library or its algorithm.
 */
#include <string.h>

#include "peer.h"

const peer_library *const peer_libraries[] = {
#ifdef PEER_KDL
    &kdl_library,
#endif
#ifdef PEER_MUJOCO
    &mujoco_library,
#endif
#ifdef PEER_DART
    &dart_library,
#endif
#ifdef PEER_SIMBODY
    &simbody_library,
#endif
    NULL,
};

const peer_library *peer_find(const char *key) {
    for (int i = 0; peer_libraries[i]; i++) {
        if (strcmp(peer_libraries[i]->key, key) == 0) {
            return peer_libraries[i];
        }
    }
    return NULL;
}

peer_function *peer_algorithm_of(const peer_library *library, algorithm_id id) {
    for (const peer_algorithm *a = library->algorithms; a->compute; a++) {
        if (a->id == id) {
            return a->compute;
        }
    }
    return NULL;
}
