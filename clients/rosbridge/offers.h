/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Services and actions that peers offer: calls and goals of other peers are passed on to them, and the answers back.
 */
#ifndef ROSBRIDGE_OFFERS_H
#define ROSBRIDGE_OFFERS_H

#include "peer.h"

enum { OFFER_NAME_SIZE = 256 };

typedef struct offer {
    struct offer *next;
    char name[OFFER_NAME_SIZE]; /* begins with a slash */
    char type[OFFER_NAME_SIZE];
    bool is_action;
    bool is_bare; /* the provider names it without the slash */
    peer *provider;
} offer;

/* NULL: nobody offers it. */
offer *offer_find(bridge *in, const char *name, bool is_action);

/* advertise_service, advertise_action: NULL, or a sentence about why not. */
const char *offer_add(peer *provider, const char *name, bool is_bare, const char *type, bool is_action);

/* False: this peer does not offer it. */
bool offer_remove(peer *provider, const char *name, bool is_action);

/* Recipient of an answer, and the form of the answer. */
typedef struct asker {
    peer *peer;
    json_t *id;       /* may be NULL */
    const char *name; /* as the asker spelled it */
    encoding encoding;
    double timeout; /* s */
} asker;

/* Passes a call or goal on; it is answered in every case. `arguments` may be NULL. */
void offer_call(bridge *in, offer *called, const asker *by, json_t *arguments, bool wants_feedback);

/* service_response, action_result and action_feedback of a provider; false: nobody waits for it. */
bool offer_answer(peer *provider, const char *id, json_t *message, bool is_final);

/* cancel_action_goal; false: no such goal of this peer. */
bool offer_cancel(peer *asking, const json_t *id);

/* Ends the calls whose time is over. */
void offers_check(bridge *in, double now);

/* The peer's offers end, and calls that wait for it fail. */
void offers_forget_peer(bridge *in, peer *gone);

#endif
