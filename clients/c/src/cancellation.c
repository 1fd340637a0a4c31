/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the replies of several daemons to a cancellation. */
#include "cancellation.h"

#include <dynamics/v1/envelope.pb-c.h>

bool cancellation_is(unsigned method) {
    return method == DYNAMICS__V1__REQUEST__METHOD_CANCEL;
}

bool cancellation_is_found(const uint8_t *reply, size_t size) {
    Dynamics__V1__Reply *read = dynamics__v1__reply__unpack(NULL, size, reply);
    bool is_found = read && read->result_case == DYNAMICS__V1__REPLY__RESULT_CANCEL && read->cancel->found;
    if (read) {
        dynamics__v1__reply__free_unpacked(read, NULL);
    }
    return is_found;
}
