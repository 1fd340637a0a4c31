/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Converts vectors and poses from the public form to the protocol's and back.
 */
#include "poses.h"

#include <math.h>

#include "model_parts.h"

bool are_zero(const double *numbers, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (numbers[i] != 0) {
            return false;
        }
    }
    return true;
}

Dynamics__V1__Vector3 *from_vector3(pool *memory, const double vector[3]) {
    Dynamics__V1__Vector3 *made = pool_allocate(memory, 1, sizeof *made);
    if (made) {
        dynamics__v1__vector3__init(made);
        made->x = vector[0];
        made->y = vector[1];
        made->z = vector[2];
    }
    return made;
}

/* Returns false if the quaternion x y z w is the identity 0 0 0 1, or zero, which means that it is not set. */
static bool is_turned(const double orientation[4]) {
    return !are_zero(orientation, 3) || (orientation[3] != 0 && orientation[3] != 1);
}

Dynamics__V1__Vector3 *from_nonzero(pool *memory, const double vector[3]) {
    return are_zero(vector, 3) ? NULL : from_vector3(memory, vector);
}

/* Sets the attitude of a placement from the rotation matrix, or from the quaternion if there is no matrix. Leaves it
 * unset if the quaternion is the identity. */
static void set_attitude(pool *memory, const dyn_client_pose *from, Dynamics__V1__Placement *made) {
    if (from->rotation) {
        made->attitude_case = DYNAMICS__V1__PLACEMENT__ATTITUDE_ROTATION;
        made->rotation = pool_allocate(memory, 1, sizeof *made->rotation);
        if (!made->rotation) {
            return;
        }
        dynamics__v1__rotation_matrix__init(made->rotation);
        made->rotation->n_values = 9;
        made->rotation->values = (double *)from->rotation;
    } else if (is_turned(from->orientation)) {
        made->attitude_case = DYNAMICS__V1__PLACEMENT__ATTITUDE_ORIENTATION;
        made->orientation = pool_allocate(memory, 1, sizeof *made->orientation);
        if (!made->orientation) {
            return;
        }
        dynamics__v1__quaternion__init(made->orientation);
        made->orientation->x = from->orientation[0];
        made->orientation->y = from->orientation[1];
        made->orientation->z = from->orientation[2];
        made->orientation->w = from->orientation[3];
    }
}

Dynamics__V1__Placement *from_pose(pool *memory, const dyn_client_pose *from) {
    bool is_identity = are_zero(from->position, 3) && !from->rotation && !is_turned(from->orientation);
    Dynamics__V1__Placement *made = is_identity ? NULL : pool_allocate(memory, 1, sizeof *made);
    if (!made) {
        return NULL;
    }
    dynamics__v1__placement__init(made);
    made->position = from_nonzero(memory, from->position);
    set_attitude(memory, from, made);
    return made;
}

/* Computes the unit quaternion x y z w, with w >= 0, of a rotation matrix R, stored by rows (Shepperd 1978): the
 * largest component follows from the diagonal, the others from the sums and differences of the elements beside the
 * diagonal. */
static void to_quaternion(const double R[9], double q[4]) {
    const double squares[4] = {1 + R[0] - R[4] - R[8], 1 - R[0] + R[4] - R[8], 1 - R[0] - R[4] + R[8],
                               1 + R[0] + R[4] + R[8]};
    const double sums[3] = {R[5] + R[7], R[2] + R[6], R[1] + R[3]};
    const double differences[3] = {R[7] - R[5], R[2] - R[6], R[3] - R[1]};
    size_t largest = 0;
    for (size_t i = 1; i < 4; i++) {
        largest = squares[i] > squares[largest] ? i : largest;
    }
    double twice = sqrt(squares[largest]);
    if (largest == 3) {
        for (size_t i = 0; i < 3; i++) {
            q[i] = differences[i] / (2 * twice);
        }
        q[3] = twice / 2;
        return;
    }
    double sign = differences[largest] < 0 ? -1 : 1;
    for (size_t i = 0; i < 3; i++) {
        q[i] = sign * (i == largest ? twice / 2 : sums[3 - i - largest] / (2 * twice));
    }
    q[3] = sign * differences[largest] / (2 * twice);
}

dyn_client_pose to_pose(const Dynamics__V1__Placement *from) {
    dyn_client_pose pose = {.orientation = {0, 0, 0, 1}};
    if (!from) {
        return pose;
    }
    to_vector3(from->position, pose.position);
    if (from->attitude_case == DYNAMICS__V1__PLACEMENT__ATTITUDE_ROTATION && from->rotation->n_values == 9) {
        pose.rotation = from->rotation->values;
        to_quaternion(pose.rotation, pose.orientation);
    } else if (from->attitude_case == DYNAMICS__V1__PLACEMENT__ATTITUDE_ORIENTATION) {
        pose.orientation[0] = from->orientation->x;
        pose.orientation[1] = from->orientation->y;
        pose.orientation[2] = from->orientation->z;
        pose.orientation[3] = from->orientation->w;
    }
    return pose;
}
