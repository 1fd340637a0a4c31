/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The text of --help.
 */
#include "help.h"

#include "config.h"

static const char usage[] =
    "Usage: dynamics-rosbridge [OPTION]...\n"
    "\n"
    "Speaks the rosbridge protocol, version 2 (JSON and CBOR over WebSocket), to roslibjs, roslibpy, ROS# and others,\n"
    "and dynamicsd's protocol to the daemon. ROS need not be installed.\n"
    "\n"
    "Options\n"
    "  --config FILE           read this configuration; without it " CONFIG_DEFAULT_PATH ", if there is one\n"
    "  --set SECTION.KEY=VALUE set one key of the configuration; may be repeated\n"
    "  --endpoint URL          the daemon's request endpoint: ipc:///path or tcp://address:port (daemon.request)\n"
    "  --events URL            the daemon's event endpoint (daemon.events)\n"
    "  --port PORT             listen on this port of the loopback interface; 0: any that is free (server.port)\n"
    "  --dial URL              connect to the rosbridge server at ws://host:port and offer everything to its nodes\n"
    "                          (dial.url)\n"
    "  --verbose               log connections to standard error (log.verbose)\n"
    "  --check-config          say whether the configuration is right, and end\n"
    "  --version               print the version, and end\n"
    "  --help                  print this, and end\n";

static const char services[] =
    "Services\n"
    "  Every method of the daemon is /dynamics/METHOD, such as /dynamics/inverse_dynamics of the type\n"
    "  dynamics_msgs/srv/InverseDynamics (dynamics_msgs/InverseDynamics in ROS 1). Arguments are the fields of the\n"
    "  request by name, or an array of them in order; an array of numbers may be an object with index keys, as\n"
    "  JavaScript writes its typed arrays. Where a request has query and q, it also takes \"joint_state\": a\n"
    "  sensor_msgs/JointState or an array of them, joints in any order (those with several coordinates: see\n"
    "  Topics); an empty or missing velocity or effort stands for zeros. Calls of one connection are made side\n"
    "  by side, and answered in the order in which they are done.\n"
    "  /dynamics/check_health is the daemon's health as std_srvs/Trigger: success, and a message such as \"degraded;\n"
    "  listener ipc:///...: does not answer\". It is answered also when the daemon is gone.\n"
    "  /rosapi/services, /rosapi/topics and their like list what there is.\n";

static const char topics[] =
    "Topics\n"
    "  /diagnostics                    diagnostic_msgs/DiagnosticArray: the health of each part of the daemon, every\n"
    "                                  daemon.health_interval; \"dynamicsd: connection\" where it cannot be\n"
    "                                  asked; latched\n"
    "  /dynamics/models                dynamics_msgs/ModelEvent: a model was loaded, replaced or unloaded\n"
    "  /dynamics/simulations/NAME/joint_states  sensor_msgs/JointState, its stamp the simulated time; latched\n"
    "  /dynamics/simulations/NAME/state         dynamics_msgs/SimulationStateEvent\n"
    "  /dynamics/simulations/NAME/events        dynamics_msgs/SimulationEvent\n"
    "  /dynamics/simulations/NAME/command       to be published to: sensor_msgs/JointState with the input of the\n"
    "                                           simulation, and in header.frame_id the token that commands it\n"
    "  /dynamics/simulations/NAME/wrench        to be published to: geometry_msgs/WrenchStamped, an external force in\n"
    "                                           the axes of a link and about its origin; header.frame_id is\n"
    "                                           TOKEN/LINK; zeros end it\n"
    "  /dynamics/streams/NAME/joint_trajectory  to be published to: trajectory_msgs/JointTrajectory, and in\n"
    "                                           header.frame_id the key of open_stream; time_from_start is the\n"
    "                                           time of a point, simulated time where a simulation is fed\n"
    "  /dynamics/streams/NAME/effort            sensor_msgs/JointState: the torques of each point\n"
    "  /dynamics/streams/NAME/torques           dynamics_msgs/StreamTorques\n"
    "  /dynamics/streams/NAME/events            dynamics_msgs/StreamEvent: lost, late and refused points, the credit\n"
    "\n"
    "  JointState and JointTrajectory name values, in any order. A joint with one coordinate is named by its\n"
    "  name. One with several (planar, cylindrical, spherical, floating ..) is named once for each in the order\n"
    "  of the model: root_joint[0], root_joint[1] .. for a floating base. Where it has fewer velocities than\n"
    "  coordinates (a quaternion), the last names have a position alone: their velocity, acceleration and effort\n"
    "  are written as 0 and not read. What is published names each coordinate once; a part (position, velocity\n"
    "  ..) has a number for each name, or none.\n"
    "\n"
    "  Messages of one topic act in the order in which they come: a command once the one before is set, a trajectory\n"
    "  once the one before is judged. What is wrong with one is told by a status. At most 1024 commands of a\n"
    "  simulation, wrenches on 64 links, 64 trajectories of a stream wait, and 32 messages of a topic while its\n"
    "  joints are asked for; then they are refused.\n"
    "\n"
    "  '-' in names becomes '_'; of two names that are equal then, the older one has the topics. A message is\n"
    "  checked against its type, missing fields get defaults, a missing stamp the present time; times may be {sec,\n"
    "  nanosec}, {secs, nsecs} or \"now\". Times go to a subscriber in the spelling of the type that it gave.\n"
    "  Clients may also advertise topics, services and actions of their own to one another.\n";

static const char actions[] =
    "Actions\n"
    "  Every method is also an action under the same name. Goals can be cancelled, and end then with status 5\n"
    "  (canceled); else with 4 (succeeded) or 6 (aborted). With \"feedback\": true, what takes long (rollouts,\n"
    "  trajectories, big batches, many steps of a simulation) tells its progress ten times a second: {fraction,\n"
    "  elapsed}. The goals of a connection that ends are cancelled.\n"
    "\n"
    "Answers\n"
    "  Everything gets an answer. A call that is refused, late or fails: service_response with \"result\": false\n"
    "  and the reason in \"values\", with the path of what is wrong, as \"args.q[2]: null is not a number\". A goal:\n"
    "  action_result with \"result\": false and status. Anything else that is wrong: status of the level error, with\n"
    "  the id of the message. set_level says from which level on (none, error, warning, info); at first warning. NaN\n"
    "  and infinity, which JSON lacks, are null in JSON and themselves in CBOR.\n"
    "\n"
    "  Topics take throttle_rate (ms), queue_length (at most 10000; the oldest are dropped), fragment_size (at least\n"
    "  128) and compression: none, png, cbor, or cbor-raw (in the serialization of ROS). Several subscriptions of a\n"
    "  connection to one topic become one: the shortest throttle, longest queue, smallest fragment. A reader that is\n"
    "  slow loses the oldest messages of topics, and is told how many by a status once it has caught up.\n";

static const char access[] =
    "Access\n"
    "  It listens on the loopback interface. A request with the header Origin comes from a web page, and\n"
    "  server.origins must list its value. The gateway refuses an empty Origin, and \"null\" unless it is listed;\n"
    "  \"*\" lists every value. Programs send no Origin and need not be listed. With server.token_file everybody\n"
    "  needs the token, as \"Authorization: Bearer TOKEN\" or as ?token=TOKEN in the address; server.certificate and\n"
    "  server.key make it wss://. /metrics (Prometheus) and /healthz answer plain HTTP on the same port, also\n"
    "  without the token.\n"
    "\n"
    "  Who may not connect gets HTTP 403 (origin), 401 (token) or 503 (limits.connections); a page of an allowed\n"
    "  origin, which is not shown that, a close frame. Connections end with a close frame that says why:\n"
    "    1000  it was idle for limits.idle_time\n"
    "    1001  the gateway stops\n"
    "    1008  a page without the token; or answers pile up unread (limits.control_messages, limits.control_bytes)\n"
    "    1009  a message is larger than limits.message_bytes\n"
    "    1011  a ping was not answered within limits.ping_timeout; or memory ran out\n"
    "    1013  a page beyond limits.connections, or while the gateway stops\n";

static const char configuration[] =
    "Configuration\n"
    "  An INI file; keys, their defaults, and in parentheses what is allowed. On the command line, --set\n"
    "  limits.calls=100.\n"
    "\n";

static const char end[] =
    "Signals\n"
    "  SIGTERM and SIGINT end it: calls under way are answered as failed, connections closed, within about a second.\n"
    "\n"
    "Exit status\n"
    "  0 after a clean stop, 1 after a failure, 2 for a wrong command line or configuration.\n"
    "\n"
    "Files\n"
    "  " CONFIG_DEFAULT_PATH "   its configuration\n"
    "  share/dynamicsd/ros            message files of dynamics_msgs for ROS 1 and 2, and a node of ROS 1\n"
    "\n"
    "Examples\n"
    "  dynamics-rosbridge --endpoint ipc:///tmp/dynamicsd.sock --events ipc:///tmp/dynamicsd.sock.events\n"
    "  dynamics-rosbridge --dial ws://robot:9090 --set server.address=\n"
    "  dynamics-rosbridge --check-config --config " CONFIG_DEFAULT_PATH "\n";

void help_write(FILE *to) {
    fprintf(to, "%s\n%s\n%s\n%s\n%s\n%s", usage, services, topics, actions, access, configuration);
    config_describe(to);
    fprintf(to, "\n%s", end);
}
