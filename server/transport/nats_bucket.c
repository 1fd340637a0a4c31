/* SPDX-License-Identifier: BSD-2-Clause */
/* Buckets of shared values in JetStream, over the connection of the NATS carrier. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <nats/nats.h>

#include "transport/bucket.h"
#include "transport/carrier.h"

/* Longest wait for the NATS server, ms. */
enum { BUCKET_WAIT = 1000 };

struct transport_bucket {
    nats_carrier *carrier;
    jsCtx *jetstream;
    kvStore *store;
    kvWatcher *watcher;
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

void transport_bucket_close(transport_bucket *bucket) {
    if (bucket) {
        kvWatcher_Destroy(bucket->watcher);
        kvStore_Destroy(bucket->store);
        jsCtx_Destroy(bucket->jetstream);
        free(bucket);
    }
}

/* Copies the value of an entry. Returns false when out of memory. */
static bool copy_value(kvEntry *entry, bucket_value *value) {
    int size = kvEntry_ValueLen(entry);
    *value = (bucket_value){malloc(size > 0 ? (size_t)size : 1), size > 0 ? (size_t)size : 0, kvEntry_Revision(entry)};
    if (value->bytes && size > 0) {
        memcpy(value->bytes, kvEntry_Value(entry), value->size);
    }
    return value->bytes != NULL;
}

bucket_status transport_bucket_get(transport_bucket *bucket, const char *key, bucket_value *value) {
    kvEntry *entry = NULL;
    natsStatus status = kvStore_Get(&entry, bucket->store, key);
    bool is_copied = status == NATS_OK && copy_value(entry, value);
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

bool transport_bucket_watch(transport_bucket *bucket, const char *pattern) {
    kvWatchOptions options;
    kvWatchOptions_Init(&options);
    options.Timeout = BUCKET_WAIT;
    kvWatcher_Destroy(bucket->watcher);
    bucket->watcher = NULL;
    bucket->connections = nats_carrier_connections(bucket->carrier);
    return kvStore_Watch(&bucket->watcher, bucket->store, pattern, &options) == NATS_OK;
}

bucket_news transport_bucket_next(transport_bucket *bucket, int milliseconds, bucket_change *change) {
    kvEntry *entry = NULL;
    natsStatus status = kvWatcher_Next(&entry, bucket->watcher, milliseconds);
    bool is_same = nats_carrier_connections(bucket->carrier) == bucket->connections;
    if (status == NATS_TIMEOUT) {
        return is_same ? BUCKET_NOTHING : BUCKET_LOST;
    }
    if (status != NATS_OK) {
        return BUCKET_LOST;
    }
    if (!entry) {
        return BUCKET_COMPLETE;
    }
    bool is_put = kvEntry_Operation(entry) == kvOp_Put;
    snprintf(change->key, sizeof change->key, "%s", kvEntry_Key(entry));
    change->value = (bucket_value){NULL, 0, kvEntry_Revision(entry)};
    bool is_good = !is_put || copy_value(entry, &change->value);
    kvEntry_Destroy(entry);
    return !is_good ? BUCKET_LOST : is_put ? BUCKET_PUT : BUCKET_REMOVED;
}
