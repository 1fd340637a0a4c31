/*
 * Other libraries of rigid-body dynamics behind one interface, so that tests and the benchmark can stand ours beside
 * them. Each is reached through its public interface only.
 *
 * All quantities are in our conventions (dynamics/model.h) and joint order: a peer converts what its library holds
 * otherwise. Functions that compute return false where the library has no such algorithm for this robot.
 */
#ifndef DYNAMICS_TESTS_PEER_H
#define DYNAMICS_TESTS_PEER_H

#include <stdbool.h>

#include <dynamics/model.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One robot in one library, with that library's scratch memory. */
typedef struct peer peer;

enum { PEER_REASON_SIZE = 256 };

typedef struct peer_library {
    const char *name; /* "Orocos KDL 1.5.1" */
    const char *key;  /* "kdl" */
    double tolerance; /* relative difference to us that rounding in the library explains */

    /* The robot of a model, built from its description link by link; the model must outlive it. With `merge_fixed`
     * links on fixed joints are merged into their parents where the library can, and cannot be asked for then. NULL
     * where the library cannot hold such a robot, with the reason. */
    peer *(*create)(const dyn_model *model, bool merge_fixed, char reason[PEER_REASON_SIZE]);
    /* The same robot as the library itself reads it from the text of a URDF file. NULL function: it reads none. */
    peer *(*read)(const dyn_model *model, const char *urdf, char reason[PEER_REASON_SIZE]);
    void (*destroy)(peer *robot);

    /* tau for (q, v, a). */
    bool (*inverse_dynamics)(peer *robot, const double *q, const double *v, const double *a, double *tau);
    /* h = C v + g. */
    bool (*bias)(peer *robot, const double *q, const double *v, double *h);
    bool (*gravity)(peer *robot, const double *q, double *g);
    /* M(q), nv x nv; NULL: leave it in the form in which the library computes it. */
    bool (*mass_matrix)(peer *robot, const double *q, double *M);
    /* a for (q, v, tau). */
    bool (*forward_dynamics)(peer *robot, const double *q, const double *v, const double *tau, double *a);
    /* Pose of a link in the world: position, row-major rotation. */
    bool (*frame_pose)(peer *robot, const double *q, int link, double position[3], double rotation[9]);
    /* Jacobian of a link in DYN_LOCAL_WORLD_ALIGNED, 6 x nv, angular rows first. */
    bool (*frame_jacobian)(peer *robot, const double *q, int link, double *J);
} peer_library;

extern const peer_library kdl_library, mujoco_library;

/* The libraries that this build has, ended by NULL. */
extern const peer_library *const peer_libraries[];

/* The library of that key, or NULL where this build has not got it. */
const peer_library *peer_find(const char *key);

#ifdef __cplusplus
}
#endif

#endif
