/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Offers the gateway's services and topics to a rosbridge server.
 */
#include "dialled.h"

#include "services.h"
#include "topics.h"

void dialled_open(peer *opened) {
    opened->is_dialled = true;
    services_offer(opened);
    topics_offer(opened);
}
