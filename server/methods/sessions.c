/* SPDX-License-Identifier: BSD-2-Clause */
/* Sessions of simulations and streams: finds the session of an object. */
#include "methods/sessions.h"

simulation_session *session_of(const simulation *s) {
    return s->attachment;
}

stream_session *stream_session_of(const stream *s) {
    return s->attachment;
}
