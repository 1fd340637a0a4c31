/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The methods, one family per file; each answers one member of Request.method.
 */
#ifndef SERVER_METHODS_METHODS_H
#define SERVER_METHODS_METHODS_H

#include "methods/call.h"

/* server.c: the daemon itself. */
void method_get_health(call *c);
void method_get_server_info(call *c);

/* model.c: the store; describe.c: one model in full. Models are built beside other requests, and then entered. */
void method_build_model(call *c);
void method_load_model(call *c);
void method_unload_model(call *c);
void method_list_models(call *c);
void method_describe_model(call *c);

/* derive.c: new models from old ones; export.c: models back to descriptions. */
void method_build_derived(call *c);
void method_derive_model(call *c);
void method_export_model(call *c);

/* inertia.c: inertias of bodies; configuration.c: the configuration space of a model. */
void method_compute_inertia(call *c);
void method_compute_configurations(call *c);

/* base_parameters.c: what motion and torques tell of the inertial parameters. */
void method_find_base_parameters(call *c);

/* dynamics.c: the equation of motion. */
void method_inverse_dynamics(call *c);
void method_forward_dynamics(call *c);
void method_mass_matrix(call *c);
void method_gravity(call *c);
void method_bias_forces(call *c);

/* evaluate.c: any set of quantities; explain.c: where a torque comes from. */
void method_evaluate(call *c);
void method_explain(call *c);

/* kinematics.c: poses and Jacobians. */
void method_kinematics(call *c);

/* simulation.c: simulations that live in the daemon; snapshot.c: over a restart; replay.c: recorded runs. */
void method_create_simulation(call *c);
void method_step_simulation(call *c);
void method_set_simulation_input(call *c);
void method_get_simulation_state(call *c);
void method_set_simulation_state(call *c);
void method_pause_simulation(call *c);
void method_resume_simulation(call *c);
void method_reset_simulation(call *c);
void method_delete_simulation(call *c);
void method_list_simulations(call *c);
void method_watch_simulation(call *c);
void method_claim_simulation(call *c);
void method_record_simulation(call *c);
void method_stop_recording(call *c);
void method_save_simulations(call *c);
void method_restore_simulations(call *c);
void method_replay_simulation(call *c);

/* recording_files.c: the recordings in the state directory. */
void method_list_recordings(call *c);
void method_delete_recording(call *c);
void method_fetch_recording(call *c);

/* stream.c: points that are pushed. */
void method_open_stream(call *c);
void method_get_stream(call *c);
void method_close_stream(call *c);
void method_get_stream_points(call *c);
void method_list_streams(call *c);
void method_watch_stream(call *c);

/* rollout.c: many states forward in time; trajectory.c: motions over time; cancel.c: an end to long requests. */
void method_rollout(call *c);
void method_inverse_dynamics_trajectory(call *c);
void method_forward_dynamics_trajectory(call *c);
void method_derive_rates(call *c);
void method_cancel(call *c);

#endif
