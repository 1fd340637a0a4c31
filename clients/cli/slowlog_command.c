/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Command slowlog, which lists the requests that took the daemon long.
 */
#include <limits.h>
#include <time.h>

#include "command.h"
#include "listing.h"
#include "numbers.h"

static const listing_column COLUMNS[] = {
    {"number", "number", TABLE_RIGHT},
    {"answered", "answered", TABLE_LEFT},
    {"stamp_ns", NULL, TABLE_RIGHT},
    {"method", "method", TABLE_LEFT},
    {"object", "object", TABLE_LEFT},
    {"caller", "caller", TABLE_LEFT},
    {"peer", "peer", TABLE_LEFT},
    {"code", "code", TABLE_LEFT},
    {"time", "took s", TABLE_RIGHT},
    {"waiting_time", "waiting s", TABLE_RIGHT},
    {"samples", "states", TABLE_RIGHT},
    {"request_bytes", "bytes in", TABLE_RIGHT},
    {"reply_bytes", "bytes out", TABLE_RIGHT},
    {"request", "request", TABLE_RIGHT},
};

enum { COLUMN_COUNT = sizeof COLUMNS / sizeof *COLUMNS };

static void add_request(listing *list, const dyn_client_slow_request *each) {
    char stamp[32];
    time_t answered = (time_t)(each->stamp_ns / 1000000000);
    struct tm parts;
    bool is_time = localtime_r(&answered, &parts) != NULL;
    strftime(stamp, sizeof stamp, "%F %T", &parts);
    listing_count(list, each->number);
    listing_text(list, is_time ? stamp : "-", NULL);
    listing_signed(list, each->stamp_ns);
    listing_text(list, each->method, NULL);
    listing_text(list, each->object, NULL);
    listing_text(list, each->caller, NULL);
    listing_text(list, each->peer, NULL);
    listing_text(list, each->code, NULL);
    listing_number(list, each->time, "%.3f", each->time);
    listing_number(list, each->waiting_time, "%.3f", each->waiting_time);
    listing_count(list, each->samples);
    listing_count(list, each->request_bytes);
    listing_count(list, each->reply_bytes);
    listing_count(list, each->request);
}

exit_code run_slowlog(const command *self, const arguments *args, dyn_client *client) {
    (void)self;
    double timeout;
    long most = 0;
    dyn_client_error error;
    dyn_client_slow_requests *found;
    listing list;
    exit_code code = arguments_timeout(args, &timeout);
    if (code != EXIT_OK) {
        return code;
    }
    if (args->positional_count > 0 && !parse_integer(args->positional[0], 1, UINT_MAX, &most)) {
        return complain(EXIT_USAGE, "%s: pass a number of requests, 1 or more", args->positional[0]);
    }
    if (dyn_client_list_slow_requests(client, (size_t)most, timeout, &found, &error) != DYN_CLIENT_OK) {
        return complain_call(&error, NULL);
    }
    code = listing_open(args, COLUMN_COUNT, COLUMNS, &list);
    for (size_t i = 0; code == EXIT_OK && i < found->count; i++) {
        add_request(&list, &found->requests[i]);
    }
    dyn_client_slow_requests_free(found);
    return listing_close(&list, "no slow requests", code);
}
