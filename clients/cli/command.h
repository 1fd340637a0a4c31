/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Commands of dynamicsctl. The table in main.c lists them.
 */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include <dynamics_client.h>

#include "arguments.h"

/* Group of a command in the help, and manual page that describes it. */
typedef enum command_group {
    GROUP_NONE,
    GROUP_DAEMON,
    GROUP_MODELS,
    GROUP_DYNAMICS,
    GROUP_MOTIONS,
    GROUP_SIMULATIONS,
    GROUPS /* number of groups */
} command_group;

typedef struct command {
    const char *name;
    command_group group;
    const char *operands; /* for the help, such as "NAME" */
    const char *summary;  /* one line */
    const char *details;  /* paragraphs for --help; may be empty */
    const char *example;  /* lines to type */
    size_t min_operands, max_operands;
    option_set options;        /* those that every command has are not in the set */
    const option_words *words; /* help that differs from the general one of an option; may be NULL */
    /* NULL: the command help, which needs no daemon. */
    exit_code (*run)(const struct command *self, const arguments *args, dyn_client *client);
} command;

exit_code run_ping(const command *self, const arguments *args, dyn_client *client);
exit_code run_info(const command *self, const arguments *args, dyn_client *client);
exit_code run_stat(const command *self, const arguments *args, dyn_client *client);
exit_code run_top(const command *self, const arguments *args, dyn_client *client);
exit_code run_log_level(const command *self, const arguments *args, dyn_client *client);
exit_code run_clients(const command *self, const arguments *args, dyn_client *client);
exit_code run_slowlog(const command *self, const arguments *args, dyn_client *client);
exit_code run_disconnect(const command *self, const arguments *args, dyn_client *client);
exit_code run_config(const command *self, const arguments *args, dyn_client *client);
exit_code run_latency(const command *self, const arguments *args, dyn_client *client);
exit_code run_load(const command *self, const arguments *args, dyn_client *client);
exit_code run_derive(const command *self, const arguments *args, dyn_client *client);
exit_code run_export(const command *self, const arguments *args, dyn_client *client);
exit_code run_inertia(const command *self, const arguments *args, dyn_client *client);
exit_code run_base_parameters(const command *self, const arguments *args, dyn_client *client);
exit_code run_configuration(const command *self, const arguments *args, dyn_client *client);
exit_code run_models(const command *self, const arguments *args, dyn_client *client);
exit_code run_describe(const command *self, const arguments *args, dyn_client *client);
exit_code run_unload(const command *self, const arguments *args, dyn_client *client);
exit_code run_inverse_dynamics(const command *self, const arguments *args, dyn_client *client);
exit_code run_forward_dynamics(const command *self, const arguments *args, dyn_client *client);
exit_code run_mass_matrix(const command *self, const arguments *args, dyn_client *client);
exit_code run_gravity(const command *self, const arguments *args, dyn_client *client);
exit_code run_bias_forces(const command *self, const arguments *args, dyn_client *client);
exit_code run_forward_kinematics(const command *self, const arguments *args, dyn_client *client);
exit_code run_jacobian(const command *self, const arguments *args, dyn_client *client);
exit_code run_evaluate(const command *self, const arguments *args, dyn_client *client);
exit_code run_compare(const command *self, const arguments *args, dyn_client *client);
exit_code run_formulate(const command *self, const arguments *args, dyn_client *client);
exit_code run_motor(const command *self, const arguments *args, dyn_client *client);
exit_code run_identify(const command *self, const arguments *args, dyn_client *client);
exit_code run_excite(const command *self, const arguments *args, dyn_client *client);
exit_code run_assemble(const command *self, const arguments *args, dyn_client *client);
exit_code run_explain(const command *self, const arguments *args, dyn_client *client);
exit_code run_simulate(const command *self, const arguments *args, dyn_client *client);
exit_code run_simulations(const command *self, const arguments *args, dyn_client *client);
exit_code run_watch(const command *self, const arguments *args, dyn_client *client);
exit_code run_stream(const command *self, const arguments *args, dyn_client *client);
exit_code run_streams(const command *self, const arguments *args, dyn_client *client);
exit_code run_record(const command *self, const arguments *args, dyn_client *client);
exit_code run_recordings(const command *self, const arguments *args, dyn_client *client);
exit_code run_replay(const command *self, const arguments *args, dyn_client *client);
exit_code run_rollout(const command *self, const arguments *args, dyn_client *client);
exit_code run_trajectory(const command *self, const arguments *args, dyn_client *client);
exit_code run_jobs(const command *self, const arguments *args, dyn_client *client);
exit_code run_call(const command *self, const arguments *args, dyn_client *client);

#endif
