/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Commands clients, which lists the connections of the daemon's clients, and disconnect, which closes one of them.
 */
#include <limits.h>

#include "command.h"
#include "done_output.h"
#include "listing.h"
#include "numbers.h"

static const listing_column COLUMNS[] = {
    {"connection", "number", TABLE_RIGHT},
    {"peer", "peer", TABLE_LEFT},
    {"caller", "caller", TABLE_LEFT},
    {"role", "role", TABLE_LEFT},
    {"kind", "kind", TABLE_LEFT},
    {"age", "age s", TABLE_RIGHT},
    {"idle", "idle s", TABLE_RIGHT},
    {"requests", "requests", TABLE_RIGHT},
    {"under_way", "under way", TABLE_RIGHT},
};

enum { COLUMN_COUNT = sizeof COLUMNS / sizeof *COLUMNS };

static const char *role_name(dyn_client_method_role role) {
    switch (role) {
    case DYN_CLIENT_METHOD_ROLE_READER:
        return "reader";
    case DYN_CLIENT_METHOD_ROLE_USER:
        return "user";
    case DYN_CLIENT_METHOD_ROLE_ADMINISTRATOR:
        return "administrator";
    default:
        return "none";
    }
}

exit_code run_clients(const command *self, const arguments *args, dyn_client *client) {
    (void)self;
    double timeout;
    dyn_client_error error;
    dyn_client_connections *found;
    listing list;
    exit_code code = arguments_timeout(args, &timeout);
    if (code != EXIT_OK) {
        return code;
    }
    if (dyn_client_list_connections(client, timeout, &found, &error) != DYN_CLIENT_OK) {
        return complain_call(&error, NULL);
    }
    code = listing_open(args, COLUMN_COUNT, COLUMNS, &list);
    for (size_t i = 0; code == EXIT_OK && i < found->count; i++) {
        const dyn_client_connection *each = &found->connections[i];
        listing_count(&list, each->connection);
        listing_text(&list, each->peer, NULL);
        listing_text(&list, each->caller, NULL);
        listing_text(&list, role_name(each->role), NULL);
        listing_text(&list, each->kind, NULL);
        listing_number(&list, each->age, "%.1f", each->age);
        listing_number(&list, each->idle, "%.1f", each->idle);
        listing_count(&list, each->requests);
        listing_count(&list, each->under_way);
    }
    dyn_client_connections_free(found);
    return listing_close(&list, "no connections", code);
}

exit_code run_disconnect(const command *self, const arguments *args, dyn_client *client) {
    (void)self;
    double timeout;
    long number;
    dyn_client_error error;
    exit_code code = arguments_timeout(args, &timeout);
    if (code != EXIT_OK) {
        return code;
    }
    if (!parse_integer(args->positional[0], 1, UINT_MAX, &number)) {
        return complain(EXIT_USAGE, "%s: pass the number of a connection; dynamicsctl clients lists them",
                        args->positional[0]);
    }
    if (dyn_client_close_connection(client, (uint64_t)number, timeout, &error) != DYN_CLIENT_OK) {
        return complain_call(&error, NULL);
    }
    print_done(args, args->positional[0], "closed");
    return EXIT_OK;
}
