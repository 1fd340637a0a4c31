/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Adds and removes topics, their publishers and their subscriptions.
 */
#include "topics.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "publication.h"
#include "ros_names.h"
#include "ros_types.h"

topic *topic_find(bridge *in, const char *name) {
    topic *found = in->topics;
    while (found && strcmp(found->name, name) != 0) {
        found = found->next;
    }
    return found;
}

static topic *add_topic(bridge *in, const char *name, const char *type) {
    topic *added = calloc(1, sizeof *added);
    if (!added) {
        return NULL;
    }
    snprintf(added->name, sizeof added->name, "%s", name);
    snprintf(added->type, sizeof added->type, "%s", type);
    added->next = in->topics;
    in->topics = added;
    in->metrics.gauges[GAUGE_TOPICS]++;
    return added;
}

static void free_subscription(bridge *in, subscription *freed) {
    while (freed->requests) {
        subscribe_request *gone = freed->requests;
        freed->requests = gone->next;
        json_decref(gone->id);
        free(gone);
    }
    if (!freed->peer->is_gone) {
        outbox_drop_source(&freed->peer->outbox, freed);
    }
    freed->peer->subscriptions--;
    in->metrics.gauges[GAUGE_SUBSCRIPTIONS]--;
    json_decref(freed->queue);
    free(freed);
}

/* Frees a topic of peers that has no publisher and no subscriber left. */
static void tidy(bridge *in, topic *tidied) {
    if (tidied->is_own || tidied->publishers || tidied->subscriptions) {
        return;
    }
    for (topic **link = &in->topics; *link; link = &(*link)->next) {
        if (*link == tidied) {
            *link = tidied->next;
            break;
        }
    }
    in->metrics.gauges[GAUGE_TOPICS]--;
    json_decref(tidied->last);
    free(tidied);
}

/* ---- own topics -------------------------------------------------------------------------------------------------- */

/* Offers a topic of the daemon to the dialled server: advertises a topic that peers read, subscribes to one that they
 * write. */
static void offer(peer *dialled, topic *own) {
    char type[ROS_NAME_SIZE];
    ros_type_spelling(own->type, dialled->bridge->config->ros_version, type);
    if (own->read) {
        peer_send(dialled, json_pack("{ss ss ss}", "op", "subscribe", "topic", own->name, "type", type));
        return;
    }
    peer_send(dialled, json_pack("{ss ss ss sb}", "op", "advertise", "topic", own->name, "type", type, "latch",
                                 (int)own->is_latching));
    subscribe_request *request = calloc(1, sizeof *request);
    if (request) {
        topic_subscribe(dialled, own->name, type, request);
    }
}

void topics_offer(peer *dialled) {
    for (topic *own = dialled->bridge->topics; own; own = own->next) {
        if (own->is_own) {
            offer(dialled, own);
        }
    }
}

topic *topic_open(bridge *in, const char *name, const char *type, bool is_latching, topic_reader read, void *user) {
    topic *opened = topic_find(in, name);
    if (!opened) {
        opened = add_topic(in, name, type);
    }
    if (!opened) {
        return NULL;
    }
    snprintf(opened->type, sizeof opened->type, "%s", type);
    json_decref(opened->last); /* last message of a client that advertised the name before */
    opened->last = NULL;
    opened->is_own = true;
    opened->is_latching = is_latching;
    opened->read = read;
    opened->user = user;
    for (peer *each = in->peers; each; each = each->next) {
        if (each->is_dialled) {
            offer(each, opened);
        }
    }
    return opened;
}

void topic_close(bridge *in, topic *closed) {
    for (peer *each = in->peers; each; each = each->next) {
        if (each->is_dialled) {
            peer_send(each,
                      json_pack("{ss ss}", "op", closed->read ? "unsubscribe" : "unadvertise", "topic", closed->name));
            topic_unsubscribe(each, closed->name, NULL);
        }
    }
    closed->is_own = false;
    closed->read = NULL;
    json_decref(closed->last);
    closed->last = NULL;
    tidy(in, closed);
}

/* ---- publishers -------------------------------------------------------------------------------------------------- */

static publisher **find_publisher(topic *in, const peer *wanted) {
    publisher **link = &in->publishers;
    while (*link && (*link)->peer != wanted) {
        link = &(*link)->next;
    }
    return link;
}

const char *topic_advertise(peer *by, const char *name, const char *type, bool is_latching) {
    topic *known = topic_find(by->bridge, name);
    if (known && known->is_own && !known->read) {
        return "the daemon publishes it";
    }
    if (known && known->type[0] != '\0' && strcmp(known->type, type) != 0) {
        return "it has another type";
    }
    if (!known) {
        known = add_topic(by->bridge, name, type);
    }
    publisher **link = known ? find_publisher(known, by) : NULL;
    if (!link) {
        return "out of memory";
    }
    if (!*link) {
        publisher *added = by->advertisements < by->bridge->config->advertisements ? calloc(1, sizeof *added) : NULL;
        if (!added) {
            tidy(by->bridge, known);
            return "this connection has as many advertisements as are allowed";
        }
        added->peer = by;
        *link = added;
        by->advertisements++;
    }
    snprintf(known->type, sizeof known->type, "%s", type);
    known->is_latching |= is_latching;
    return NULL;
}

const char *topic_unadvertise(peer *by, const char *name) {
    topic *known = topic_find(by->bridge, name);
    publisher **link = known ? find_publisher(known, by) : NULL;
    if (!link || !*link) {
        return "this connection does not advertise it";
    }
    publisher *removed = *link;
    *link = removed->next;
    by->advertisements--;
    free(removed);
    tidy(by->bridge, known);
    return NULL;
}

bool topic_receive(peer *by, const char *name, json_t *message, char error[TOPIC_ERROR_SIZE]) {
    topic *known = topic_find(by->bridge, name);
    const char *wrong = NULL;
    if (!known) {
        wrong = "nobody advertises this topic; advertise it first";
    } else if (known->is_own && !known->read) {
        wrong = "the daemon publishes this topic";
    } else if (!known->is_own && !*find_publisher(known, by)) {
        wrong = "advertise this topic first";
    }
    if (wrong) {
        snprintf(error, TOPIC_ERROR_SIZE, "%s", wrong);
        return false;
    }
    if (!ros_complete(known->type, message, "msg", error)) {
        return false;
    }
    if (known->read && !known->read(by, known, message, error)) {
        return false;
    }
    topic_publish(by->bridge, known, message);
    return true;
}

/* ---- subscribers ------------------------------------------------------------------------------------------------- */

static subscription **find_subscription(topic *in, const peer *wanted) {
    subscription **link = &in->subscriptions;
    while (*link && (*link)->peer != wanted) {
        link = &(*link)->next;
    }
    return link;
}

/* Combines all requests of a subscription, of which there is at least one. */
static void combine(subscription *of) {
    of->throttle = INFINITY;
    of->queue_length = 0;
    of->encoding = (encoding){0};
    of->is_bare = of->requests->is_bare;
    for (const subscribe_request *each = of->requests; each; each = each->next) {
        size_t size = each->encoding.fragment_size;
        of->throttle = fmin(of->throttle, each->throttle);
        if (each->queue_length > of->queue_length) {
            of->queue_length = each->queue_length;
        }
        if (size > 0 && (of->encoding.fragment_size == 0 || size < of->encoding.fragment_size)) {
            of->encoding.fragment_size = size;
        }
        if (each->encoding.compression > of->encoding.compression) {
            of->encoding.compression = each->encoding.compression;
        }
    }
    of->next_time = fmin(of->next_time, monotonic_time() + of->throttle);
}

/* Returns the subscription of a peer, and creates it if necessary. Returns NULL when the peer has too many
 * subscriptions, or when out of memory. */
static subscription *open_subscription(topic *in, peer *by, const char *type) {
    subscription **link = find_subscription(in, by);
    if (*link || by->subscriptions >= by->bridge->config->subscriptions) {
        return *link;
    }
    subscription *added = calloc(1, sizeof *added);
    if (!added) {
        return NULL;
    }
    added->peer = by;
    added->queue = json_array();
    added->is_ros1 = type[0] != '\0' ? !ros_type_is_ros2(type) : by->bridge->config->ros_version == 1;
    *link = added;
    by->subscriptions++;
    by->bridge->metrics.gauges[GAUGE_SUBSCRIPTIONS]++;
    return added;
}

const char *topic_subscribe(peer *by, const char *name, const char *type, subscribe_request *request) {
    bridge *in = by->bridge;
    char wanted[ROS_NAME_SIZE];
    ros_type_normalize(type, "msg", wanted);
    topic *known = topic_find(in, name);
    const char *wrong = NULL;
    subscription *subscribed = NULL;
    if (!known) {
        known = add_topic(in, name, wanted);
    }
    if (!known) {
        wrong = "out of memory";
    } else if (known->type[0] != '\0' && wanted[0] != '\0' && strcmp(known->type, wanted) != 0) {
        wrong = "it has another type";
    } else if (request->encoding.compression == COMPRESSION_CBOR_RAW && !ros_type_is_known(known->type)) {
        wrong = "cbor-raw is for types whose definition is known; use cbor";
    } else {
        subscribed = open_subscription(known, by, type);
    }
    if (!subscribed) {
        json_decref(request->id);
        free(request);
        if (known) {
            tidy(in, known);
        }
        return wrong ? wrong : "this connection has as many subscriptions as are allowed";
    }
    bool is_new = !subscribed->requests;
    for (subscribe_request **link = &subscribed->requests; *link; link = &(*link)->next) {
        subscribe_request *same = *link;
        if (json_equal(same->id, request->id) || (!same->id && !request->id)) {
            *link = same->next;
            json_decref(same->id);
            free(same);
            break;
        }
    }
    request->next = subscribed->requests;
    subscribed->requests = request;
    combine(subscribed);
    bridge_flush_at(in, subscribed->next_time);
    if (is_new && known->last) {
        publication_send_one(known, subscribed, known->last);
    }
    return NULL;
}

const char *topic_unsubscribe(peer *by, const char *name, const json_t *id) {
    topic *known = topic_find(by->bridge, name);
    subscription **link = known ? find_subscription(known, by) : NULL;
    if (!link || !*link) {
        return "this connection does not subscribe to it";
    }
    subscription *own = *link;
    bool is_found = !id;
    for (subscribe_request **each = &own->requests; *each;) {
        subscribe_request *request = *each;
        if (id && !json_equal(request->id, id)) {
            each = &request->next;
            continue;
        }
        *each = request->next;
        json_decref(request->id);
        free(request);
        is_found = true;
    }
    if (own->requests) {
        combine(own);
    } else {
        *link = own->next;
        free_subscription(by->bridge, own);
        tidy(by->bridge, known);
    }
    return is_found ? NULL : "this connection has no subscription of that id";
}

/* ---- the end ----------------------------------------------------------------------------------------------------- */

void topics_forget_peer(bridge *in, peer *gone) {
    for (topic *each = in->topics, *next; each; each = next) {
        next = each->next;
        subscription **subscribed = find_subscription(each, gone);
        subscription *own = *subscribed;
        if (own) {
            *subscribed = own->next;
            free_subscription(in, own);
        }
        publisher **advertised = find_publisher(each, gone);
        if (*advertised) {
            publisher *removed = *advertised;
            *advertised = removed->next;
            free(removed);
        }
        tidy(in, each);
    }
}

void topics_close(bridge *in) {
    for (topic *each = in->topics, *next; each; each = next) {
        next = each->next;
        each->is_own = false;
        tidy(in, each);
    }
}
