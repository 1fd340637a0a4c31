/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Holds the text of --help and writes it.
 */
#include "help.h"

#include "config.h"

static const char usage[] =
    "Usage: dynamics-rosbridge [OPTION]...\n"
    "\n"
    "Connects clients of the rosbridge protocol, version 2 (JSON and CBOR over WebSocket: roslibjs, roslibpy, ROS# "
    "and\n"
    "others), to dynamicsd. ROS need not be installed.\n"
    "\n"
    "Options\n"
    "  --config FILE           read this configuration; default " CONFIG_DEFAULT_PATH ", if it exists\n"
    "  --set SECTION.KEY=VALUE set one key of the configuration; may be repeated\n"
    "  --endpoint URL          the daemon's request endpoint: ipc:///path, tcp://address:port, or nats://host:port\n"
    "                          of a NATS server (daemon.request)\n"
    "  --events URL            the daemon's event endpoint; not used with a NATS server (daemon.events)\n"
    "  --port PORT             listen on this port of the loopback interface; 0: any free port (server.port)\n"
    "  --dial URL              connect to the rosbridge server at ws://host:port and offer all services and topics to\n"
    "                          its nodes (dial.url)\n"
    "  --verbose               log connections to standard error (log.verbose)\n"
    "  --check-config          check the configuration and exit\n"
    "  --version               print the version and exit\n"
    "  --help                  print this text and exit\n";

static const char services[] =
    "Services\n"
    "  Every method of the daemon is a service /dynamics/METHOD. For example, /dynamics/inverse_dynamics has the type\n"
    "  dynamics_msgs/srv/InverseDynamics (dynamics_msgs/InverseDynamics in ROS 1). Arguments are the fields of the\n"
    "  request by name, or an array of their values in order. An array of numbers may be an object with index keys,\n"
    "  as JavaScript writes its typed arrays. A request with the fields query and q also accepts \"joint_state\": a\n"
    "  sensor_msgs/JointState or an array of them, with joints in any order (for joints with several coordinates see\n"
    "  Topics). An empty or missing velocity or effort means zeros. A joint that the model lacks is an error, unless "
    "the\n"
    "  request has \"ignore_extra_joints\": true. Calls of one connection run in parallel, and each is answered when "
    "it\n"
    "  ends.\n"
    "  /dynamics/check_health returns the daemon's health as std_srvs/Trigger: success, and a message such as\n"
    "  \"degraded; listener ipc:///...: does not answer\". It also answers while the daemon is not running.\n"
    "  /rosapi/services, /rosapi/topics and other services of rosapi list services, topics and types.\n";

static const char topics[] =
    "Topics\n"
    "  /diagnostics                    diagnostic_msgs/DiagnosticArray: the health of each part of the daemon, every\n"
    "                                  daemon.health_interval; \"dynamicsd: connection\" while the daemon does not\n"
    "                                  answer; latched\n"
    "  /rosout                         rcl_interfaces/Log, in ROS 1 rosgraph_msgs/Log: changes of the health, and\n"
    "                                  reasons why a topic has no messages; latched\n"
    "  /tf, /tf_static                 tf2_msgs/TFMessage: the links of the robot of one simulation (ros.simulation)\n"
    "                                  in the frames of their parents, for RViz, Foxglove and others; latched\n"
    "  /robot_description              std_msgs/String: the URDF of that robot; latched\n"
    "  /dynamics/models                dynamics_msgs/ModelEvent: a model was loaded, replaced or unloaded\n"
    "  /dynamics/simulations/NAME/joint_states  sensor_msgs/JointState, its stamp is the simulated time; latched\n"
    "  /dynamics/simulations/NAME/state         dynamics_msgs/SimulationStateEvent\n"
    "  /dynamics/simulations/NAME/events        dynamics_msgs/SimulationEvent\n"
    "  /dynamics/simulations/NAME/command       for publishers: sensor_msgs/JointState with the input of the\n"
    "                                           simulation, and the simulation's token in header.frame_id\n"
    "  /dynamics/simulations/NAME/wrench        for publishers: geometry_msgs/WrenchStamped, an external force in\n"
    "                                           the axes of a link and about its origin; header.frame_id is\n"
    "                                           TOKEN/LINK; zeros end it\n"
    "  /dynamics/streams/NAME/joint_trajectory  for publishers: trajectory_msgs/JointTrajectory, with the key of\n"
    "                                           open_stream in header.frame_id; time_from_start is the time of a\n"
    "                                           point, in simulated time if the stream drives a simulation\n"
    "  /dynamics/streams/NAME/effort            sensor_msgs/JointState: the torques of each point\n"
    "  /dynamics/streams/NAME/torques           dynamics_msgs/StreamTorques\n"
    "  /dynamics/streams/NAME/events            dynamics_msgs/StreamEvent: lost, late and refused points, the credit\n"
    "\n"
    "  JointState and JointTrajectory name their values, in any order. A joint with one coordinate has one name, its\n"
    "  own. A joint with several (planar, cylindrical, spherical, floating ..) has one name for each, in the order of\n"
    "  the model: root_joint[0], root_joint[1] .. for a floating base. If it has fewer velocities than coordinates (a\n"
    "  quaternion), the last names have only a position: their velocity, acceleration and effort are written as 0 and\n"
    "  ignored when read. Published messages name each coordinate once; names that the model lacks are ignored with\n"
    "  their values. A part (position, velocity ..) has one number for each name, or none.\n"
    "\n"
    "  Messages of one topic take effect in the order of arrival: a command after the previous one is set, a\n"
    "  trajectory after the previous one is checked. A status reports errors. At most 1024 commands of a simulation,\n"
    "  wrenches on 64 links, 64 trajectories of a stream, and 32 messages of a topic whose joints are not known yet\n"
    "  may wait; further ones are refused.\n"
    "\n"
    "  '-' in names becomes '_'. If two names become equal, the older object has the topics. Messages are checked\n"
    "  against their types. Missing fields get defaults, a missing stamp the present time; times may be {sec,\n"
    "  nanosec}, {secs, nsecs} or \"now\". A subscriber receives times in the spelling of the type that it stated.\n"
    "  Clients may also advertise topics, services and actions of their own to one another.\n";

static const char actions[] =
    "Actions\n"
    "  Every method is also an action under the same name. Goals can be cancelled, and then end with status 5\n"
    "  (canceled); other goals end with 4 (succeeded) or 6 (aborted). With \"feedback\": true, long requests\n"
    "  (rollouts, trajectories, large batches, many steps of a simulation) report their progress ten times a second:\n"
    "  {fraction, elapsed}. When a connection ends, its goals are cancelled.\n"
    "\n"
    "Answers\n"
    "  Every message that needs an answer gets one. A call that is refused, late or fails: service_response with\n"
    "  \"result\": false and the reason in \"values\", with the path of the value, such as \"args.q[2]: null is not a\n"
    "  number\". A goal: action_result with \"result\": false and a status. Any other error: status of the level "
    "error,\n"
    "  with the id of the message. set_level sets the lowest level to send (none, error, warning, info); the default\n"
    "  is warning. NaN and infinity, which JSON lacks, are null in JSON and unchanged in CBOR.\n"
    "\n"
    "  A subscribe accepts throttle_rate (ms), queue_length (at most 10000; the oldest are dropped), fragment_size "
    "(at\n"
    "  least 128) and compression: none, png, cbor, or cbor-raw (in the serialization of ROS). Several subscriptions\n"
    "  of a connection to one topic are combined: the shortest throttle, longest queue, smallest fragment. A slow\n"
    "  reader loses the oldest messages of topics; once it has caught up, a status states how many.\n";

static const char access[] =
    "Access\n"
    "  The gateway listens on the loopback interface. A request with the header Origin comes from a web page, and\n"
    "  server.origins must list its value. The gateway refuses an empty Origin, and \"null\" unless it is listed;\n"
    "  \"*\" lists every value. Programs send no Origin and need not be listed. With server.token_file every client\n"
    "  needs the token, as \"Authorization: Bearer TOKEN\" or as ?token=TOKEN in the address. With server.certificate\n"
    "  and server.key the address is wss://. /metrics (Prometheus) and /healthz answer plain HTTP on the same port,\n"
    "  also without the token; /healthz is 503 while the daemon does not serve.\n"
    "\n"
    "  A refused connection gets HTTP 403 (origin), 401 (token) or 503 (limits.connections). A page of an allowed\n"
    "  origin gets a close frame instead, since browsers do not show it the HTTP status. Statuses of close frames:\n"
    "    1000  the connection was idle for limits.idle_time\n"
    "    1001  the gateway stops\n"
    "    1008  a page lacks the token; or unread answers exceed limits.control_messages or limits.control_bytes\n"
    "    1009  a message is larger than limits.message_bytes\n"
    "    1011  a ping was not answered within limits.ping_timeout; or memory ran out\n"
    "    1013  a page beyond limits.connections, or while the gateway stops\n";

static const char configuration[] =
    "Configuration\n"
    "  An INI file. The list below has the keys, their defaults and, in parentheses, the allowed values. On the\n"
    "  command line: --set limits.calls=100.\n"
    "\n";

static const char end[] =
    "Signals\n"
    "  SIGTERM and SIGINT stop the gateway within about a second. Calls in progress are answered as failed.\n"
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
