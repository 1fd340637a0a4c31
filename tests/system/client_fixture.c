/* SPDX-License-Identifier: BSD-2-Clause */
#include "system/client_fixture.h"

#include <check.h>

#include "system/daemon_fixture.h"

dyn_client *client;

static daemon_fixture served;

void start_daemon(void) {
    dyn_client_error error;
    daemon_start(NULL, &served);
    ck_assert_msg(dyn_client_connect(served.request_ipc, NULL, &client, &error) == DYN_CLIENT_OK, "%s", error.message);
}

void stop_daemon(void) {
    dyn_client_close(client);
    daemon_stop(&served);
}
