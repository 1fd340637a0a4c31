/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages without a reply over nng: a SUB socket that receives, or a PUSH socket that sends.
 */
#ifndef CLIENT_NNG_ONE_WAY_H
#define CLIENT_NNG_ONE_WAY_H

#include "carrier.h"

/* Dials the addresses until one connects, those with the scheme of `url` first, and waits for each at most `timeout`
 * seconds. If `topic_count` > 0, opens a SUB socket and subscribes to the topics, otherwise a PUSH socket. */
dyn_client_status nng_one_way_open(size_t address_count, char *const *addresses, const char *url, size_t topic_count,
                                   char *const *topics, double timeout, one_way **opened, dyn_client_error *error);

#endif
