/* SPDX-License-Identifier: BSD-2-Clause */
/* Attachments of simulations and streams. */
#include "methods/faces.h"

simulation_face *face_of(const simulation *s) {
    return s->attachment;
}

stream_face *stream_face_of(const stream *s) {
    return s->attachment;
}
