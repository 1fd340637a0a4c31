/*
 * The peers that were found when the build was configured.
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
