/* SPDX-License-Identifier: BSD-2-Clause */
/* Buckets of shared values in JetStream, over the connection of the NATS carrier. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <nats/nats.h>

#include "transport/bucket.h"
#include "transport/carrier.h"

/* Longest wait for the NATS server in ms, and the room for the subject of all values of a bucket. */
enum { BUCKET_WAIT = 1000, SUBJECT_SIZE = 512 };

/*
 * The watch reads the values of the bucket by a plain consumer of its stream. A kvWatcher has an ordered consumer,
 * which libnats 3.4 replaces on a thread of its own after it has connected again: to destroy the watcher at that moment
 * reads the freed name of the consumer.
 */
struct transport_bucket {
    nats_carrier *carrier;
    jsCtx *jetstream;
    kvStore *store;
    natsSubscription *watch;
    uint64_t delivered;   /* number of the last message of the watch */
    bool is_complete;     /* the watch has delivered all values that existed when it began */
    bool is_told;         /* transport_bucket_next has returned BUCKET_COMPLETE */
    unsigned connections; /* connections of the carrier when the watch began */
};

bool transport_bucket_is_wanted(const transport *t) {
    return t->nats != NULL;
}

/* Writes the reason for which JetStream did not open a bucket, and returns its status. */
static bucket_status explain(natsStatus status, char error[TRANSPORT_ERROR_SIZE]) {
    bool is_off = status == NATS_NO_RESPONDERS;
    if (is_off) {
        snprintf(error, TRANSPORT_ERROR_SIZE,
                 "the NATS server has no JetStream, in which daemons share their models; turn it on with "
                 "\"jetstream { store_dir: DIRECTORY }\" in the configuration of nats-server, or with its option -js");
    } else {
        const char *last = nats_GetLastError(NULL);
        snprintf(error, TRANSPORT_ERROR_SIZE, "JetStream of the NATS server does not answer: %s%s%.200s",
                 natsStatus_GetText(status), last && last[0] ? ", " : "", last ? last : "");
    }
    return is_off ? BUCKET_ABSENT : BUCKET_UNREACHABLE;
}

/* Opens the bucket, or creates it: one value for each key, on the disk of the NATS server. */
static natsStatus open_store(transport_bucket *bucket, const char *name) {
    natsStatus status = js_KeyValue(&bucket->store, bucket->jetstream, name);
    if (status != NATS_NOT_FOUND) {
        return status;
    }
    kvConfig config;
    kvConfig_Init(&config);
    config.Bucket = name;
    config.History = 1;
    config.StorageType = js_FileStorage;
    return js_CreateKeyValue(&bucket->store, bucket->jetstream, &config);
}

bucket_status transport_bucket_open(transport *t, const char *name, char error[TRANSPORT_ERROR_SIZE],
                                    transport_bucket **result) {
    if (!nats_carrier_is_connected(t->nats)) {
        snprintf(error, TRANSPORT_ERROR_SIZE, "there is no connection to a NATS server");
        return BUCKET_UNREACHABLE;
    }
    transport_bucket *bucket = calloc(1, sizeof *bucket);
    if (!bucket) {
        snprintf(error, TRANSPORT_ERROR_SIZE, "out of memory");
        return BUCKET_UNREACHABLE;
    }
    bucket->carrier = t->nats;
    jsOptions options;
    jsOptions_Init(&options);
    options.Wait = BUCKET_WAIT;
    natsStatus status = natsConnection_JetStream(&bucket->jetstream, nats_carrier_connection(t->nats), &options);
    if (status == NATS_OK) {
        status = open_store(bucket, name);
    }
    if (status != NATS_OK) {
        transport_bucket_close(bucket);
        return explain(status, error);
    }
    *result = bucket;
    return BUCKET_OK;
}

static void end_watch(transport_bucket *bucket) {
    natsSubscription_Unsubscribe(bucket->watch);
    natsSubscription_Destroy(bucket->watch);
    bucket->watch = NULL;
}

void transport_bucket_close(transport_bucket *bucket) {
    if (bucket) {
        end_watch(bucket);
        kvStore_Destroy(bucket->store);
        jsCtx_Destroy(bucket->jetstream);
        free(bucket);
    }
}

/* Copies a value. Returns false when out of memory. */
static bool copy_bytes(const void *bytes, int size, uint64_t revision, bucket_value *value) {
    *value = (bucket_value){malloc(size > 0 ? (size_t)size : 1), size > 0 ? (size_t)size : 0, revision};
    if (value->bytes && size > 0) {
        memcpy(value->bytes, bytes, value->size);
    }
    return value->bytes != NULL;
}

bucket_status transport_bucket_get(transport_bucket *bucket, const char *key, bucket_value *value) {
    kvEntry *entry = NULL;
    natsStatus status = kvStore_Get(&entry, bucket->store, key);
    bool is_copied =
        status == NATS_OK && copy_bytes(kvEntry_Value(entry), kvEntry_ValueLen(entry), kvEntry_Revision(entry), value);
    kvEntry_Destroy(entry);
    return is_copied ? BUCKET_OK : status == NATS_NOT_FOUND ? BUCKET_ABSENT : BUCKET_UNREACHABLE;
}

/* Returns the revision of a key, 0 if the key is absent. Sets `is_known` to false when the server does not answer. */
static uint64_t find_revision(transport_bucket *bucket, const char *key, bool *is_known) {
    kvEntry *entry = NULL;
    natsStatus status = kvStore_Get(&entry, bucket->store, key);
    uint64_t revision = status == NATS_OK ? kvEntry_Revision(entry) : 0;
    kvEntry_Destroy(entry);
    *is_known = status == NATS_OK || status == NATS_NOT_FOUND;
    return revision;
}

bucket_status transport_bucket_put(transport_bucket *bucket, const char *key, const bucket_value *value,
                                   uint64_t expected, uint64_t *revision) {
    int64_t most = natsConnection_GetMaxPayload(nats_carrier_connection(bucket->carrier));
    if (most > 0 && value->size > (size_t)most) {
        return BUCKET_TOO_LARGE;
    }
    natsStatus status = expected == 0
                            ? kvStore_Create(revision, bucket->store, key, value->bytes, (int)value->size)
                            : kvStore_Update(revision, bucket->store, key, value->bytes, (int)value->size, expected);
    if (status == NATS_OK) {
        return BUCKET_OK;
    }
    bool is_known;
    uint64_t present = find_revision(bucket, key, &is_known);
    return is_known && present != expected ? BUCKET_CHANGED : BUCKET_UNREACHABLE;
}

bucket_status transport_bucket_remove(transport_bucket *bucket, const char *key) {
    return kvStore_Purge(bucket->store, key, NULL) == NATS_OK ? BUCKET_OK : BUCKET_UNREACHABLE;
}

/* Returns the subject of a key, or of a pattern of keys, as JetStream's key-value buckets define it. */
static const char *subject_of(const transport_bucket *bucket, const char *key, char subject[SUBJECT_SIZE]) {
    snprintf(subject, SUBJECT_SIZE, "$KV.%s.%s", kvStore_Bucket(bucket->store), key);
    return subject;
}

/* Notes whether the bucket holds no value that the watch will deliver. Returns false when JetStream does not answer. */
static bool note_emptiness(transport_bucket *bucket) {
    jsConsumerInfo *information = NULL;
    natsStatus status = natsSubscription_GetConsumerInfo(&information, bucket->watch, NULL, NULL);
    if (status == NATS_OK) {
        bucket->is_complete = information->NumPending == 0 && information->Delivered.Consumer == 0;
    }
    jsConsumerInfo_Destroy(information);
    return status == NATS_OK;
}

bool transport_bucket_watch(transport_bucket *bucket, const char *pattern) {
    char subject[SUBJECT_SIZE], stream[SUBJECT_SIZE];
    jsSubOptions options;
    end_watch(bucket);
    snprintf(stream, sizeof stream, "KV_%s", kvStore_Bucket(bucket->store));
    jsSubOptions_Init(&options);
    options.Stream = stream;
    options.Config.DeliverPolicy = js_DeliverLastPerSubject;
    options.Config.AckPolicy = js_AckNone;
    bucket->delivered = 0;
    bucket->is_complete = bucket->is_told = false;
    bucket->connections = nats_carrier_connections(bucket->carrier);
    natsStatus status =
        js_SubscribeSync(&bucket->watch, bucket->jetstream, subject_of(bucket, pattern, subject), NULL, &options, NULL);
    return status == NATS_OK && natsSubscription_SetPendingLimits(bucket->watch, -1, -1) == NATS_OK &&
           note_emptiness(bucket);
}

/* Copies the key and the value of a message. Messages without an operation in their header store a value. */
static bucket_news read_change(transport_bucket *bucket, natsMsg *message, uint64_t revision, bucket_change *change) {
    char prefix[SUBJECT_SIZE];
    const char *subject = natsMsg_GetSubject(message), *operation = NULL;
    size_t length = strlen(subject_of(bucket, "", prefix));
    if (strncmp(subject, prefix, length) != 0) {
        return BUCKET_LOST;
    }
    snprintf(change->key, sizeof change->key, "%s", subject + length);
    change->value = (bucket_value){NULL, 0, revision};
    if (natsMsgHeader_Get(message, "KV-Operation", &operation) == NATS_OK && operation[0] != '\0') {
        return BUCKET_REMOVED;
    }
    bool is_copied = copy_bytes(natsMsg_GetData(message), natsMsg_GetDataLength(message), revision, &change->value);
    return is_copied ? BUCKET_PUT : BUCKET_LOST;
}

/* Reads a message of the watch. A gap in their numbers means that a message was lost. */
static bucket_news read_message(transport_bucket *bucket, natsMsg *message, bucket_change *change) {
    jsMsgMetaData *data = NULL;
    if (natsMsg_GetMetaData(&data, message) != NATS_OK) {
        return BUCKET_LOST;
    }
    bool is_next = data->Sequence.Consumer == bucket->delivered + 1;
    uint64_t revision = data->Sequence.Stream;
    bucket->delivered = data->Sequence.Consumer;
    bucket->is_complete = bucket->is_complete || data->NumPending == 0;
    jsMsgMetaData_Destroy(data);
    return is_next ? read_change(bucket, message, revision, change) : BUCKET_LOST;
}

bucket_news transport_bucket_next(transport_bucket *bucket, int milliseconds, bucket_change *change) {
    if (bucket->is_complete && !bucket->is_told) {
        bucket->is_told = true;
        return BUCKET_COMPLETE;
    }
    natsMsg *message = NULL;
    natsStatus status = natsSubscription_NextMsg(&message, bucket->watch, milliseconds);
    bool is_same = nats_carrier_connections(bucket->carrier) == bucket->connections;
    if (status == NATS_TIMEOUT) {
        return is_same ? BUCKET_NOTHING : BUCKET_LOST;
    }
    bucket_news news = status == NATS_OK ? read_message(bucket, message, change) : BUCKET_LOST;
    natsMsg_Destroy(message);
    return news;
}
