/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Opens connections to the daemon's endpoints of one kind.
 */
#include "endpoint.h"

#include <string.h>

#include "call.h"

enum { MAX_ADDRESSES = 16 };

dyn_client_status endpoint_open(dyn_client *client, const char *kind, size_t topic_count, char *const *topics,
                                double timeout, one_way **opened, dyn_client_error *error) {
    char *addresses[MAX_ADDRESSES];
    size_t count = 0;
    dyn_client_server_info *info;
    connection *via = client_connection(client);
    double dial_timeout = client_connect_timeout(client);
    dial_timeout = timeout > 0 && timeout < dial_timeout ? timeout : dial_timeout;
    if (connection_has_one_way(via)) {
        return one_way_open(via, 0, NULL, topic_count, topics, dial_timeout, opened, error);
    }
    dyn_client_status status = dyn_client_get_server_info(client, timeout, &info, error);
    if (status != DYN_CLIENT_OK) {
        return status;
    }
    for (size_t i = 0; i < info->endpoint_count && count < MAX_ADDRESSES; i++) {
        if (strcmp(info->endpoints[i].kind, kind) == 0) {
            addresses[count++] = (char *)info->endpoints[i].address;
        }
    }
    status = one_way_open(via, count, addresses, topic_count, topics, dial_timeout, opened, error);
    dyn_client_server_info_free(info);
    return status;
}
