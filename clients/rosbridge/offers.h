/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Manages services and actions that peers offer. The gateway forwards calls and goals of other peers to them, and the
 * answers back.
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
    bool is_bare; /* the provider spells it without the slash */
    peer *provider;
} offer;

/* Returns the offer of a service, or of an action, by its name with a slash, or NULL. */
offer *offer_find(bridge *in, const char *name, bool is_action);

/* Adds an offer, or replaces the type of one that the peer has already. Returns NULL, or the reason for a refusal. */
const char *offer_add(peer *provider, const char *name, bool is_bare, const char *type, bool is_action);

/* Removes an offer and fails the calls that wait for it. Returns false if this peer does not offer it. */
bool offer_remove(peer *provider, const char *name, bool is_action);

/* Recipient and form of an answer. */
typedef struct asker {
    peer *peer;
    json_t *id;       /* may be NULL */
    const char *name; /* as the asker spelled it */
    encoding encoding;
    double timeout; /* s */
} asker;

/* Forwards a call or goal, which is answered in every case. `arguments` may be NULL. */
void offer_call(bridge *in, offer *called, const asker *by, json_t *arguments, bool wants_feedback);

/* Handles service_response, action_result and action_feedback of a provider. Returns false if no call waits for it. */
bool offer_answer(peer *provider, const char *id, json_t *message, bool is_final);

/* Handles cancel_action_goal. Returns false if this peer has no such goal. */
bool offer_cancel(peer *asking, const json_t *id);

/* Fails the calls and goals whose deadline has passed, and cancels these goals. Called periodically. */
void offers_check(bridge *in, double now);

/* Removes the offers of a peer that is gone and fails the calls that wait for it. Drops the calls that it made, and
 * cancels its goals. */
void offers_forget_peer(bridge *in, peer *gone);

#endif
