# SPDX-License-Identifier: BSD-2-Clause
"""Services, actions and topics of the gateway as those of the graph of ROS 1."""
import rospy
from roslib.message import get_message_class, get_service_class

from ros_values import message_of, values_of
from rosbridge_client import Failed

DAEMON = "/dynamicsd"


def ros1_type(name):
    """pkg/Type, also from the spelling of ROS 2."""
    parts = name.split("/")
    return f"{parts[0]}/{parts[-1]}"


class ServiceRelay:
    """A service of the gateway under its own name, if its type is installed."""

    def __init__(self, node, name):
        self.node, self.name = node, name
        self.kind = get_service_class(ros1_type(node.call("/rosapi/service_type", {"service": name})["type"]))
        if self.kind:
            rospy.Service(name, self.kind, self.on_call)

    def on_call(self, request):
        try:
            return message_of(self.kind._response_class, self.node.call(self.name, values_of(request)))
        except Failed as error:
            raise rospy.ServiceException(str(error)) from error


class ActionRelay:
    """An action of the gateway under its own name, if its type is installed. Any number of goals run at once."""

    def __init__(self, node, name):
        self.node, self.name, self.goals = node, name, {}
        self.type = ros1_type(node.call("/rosapi/service_type", {"service": name})["type"])
        self.kinds = {each: get_message_class(f"{self.type}{each}") for each in ("Action", "Result", "Feedback")}
        if not all(self.kinds.values()):
            return
        from actionlib import ActionServer  # Debian has it in a package of its own

        self.server = ActionServer(name, self.kinds["Action"], self.on_goal, self.on_cancel, auto_start=False)
        self.server.start()

    def on_goal(self, handle):
        """Starts a goal; a handle's result is set by the thread that reads the connection."""
        def on_feedback(values):
            handle.publish_feedback(message_of(self.kinds["Feedback"], values))

        def on_result(future):
            self.goals.pop(handle.get_goal_id().id, None)
            error = future.exception()
            if error is None:
                handle.set_succeeded(message_of(self.kinds["Result"], future.result()))
            elif "CANCELLED" in str(error):
                handle.set_canceled(text=str(error))
            else:
                handle.set_aborted(text=str(error))

        handle.set_accepted()
        try:
            goal = self.node.connected().start(self.name, self.type, values_of(handle.get_goal()), on_feedback)
        except (Failed, OSError) as error:
            handle.set_aborted(text=str(error))
            return
        self.goals[handle.get_goal_id().id] = goal
        goal.result.add_done_callback(on_result)

    def on_cancel(self, handle):
        goal = self.goals.get(handle.get_goal_id().id)
        if goal:
            goal.cancel()


class Outward:
    """A topic that the daemon publishes. It is subscribed at the gateway while it has subscribers here."""

    def __init__(self, node, name, type_name, kind):
        self.node, self.name, self.type_name, self.kind = node, name, type_name, kind
        self.is_subscribed = False
        self.publisher = rospy.Publisher(name, kind, queue_size=100)

    def on_message(self, values):
        self.publisher.publish(message_of(self.kind, values))

    def follow(self):
        """Subscribes or unsubscribes, depending on the subscribers here."""
        wanted = self.publisher.get_num_connections() > 0
        if wanted and not self.is_subscribed:
            self.node.connected().subscribe(self.name, self.type_name, self.on_message)
        elif self.is_subscribed and not wanted:
            self.node.connected().unsubscribe(self.name)
        self.is_subscribed = wanted

    def end(self):
        self.publisher.unregister()


class Inward:
    """A topic to which the daemon subscribes."""

    def __init__(self, node, name, type_name, kind):
        self.node, self.name = node, name
        node.connected().send("advertise", topic=name, type=type_name)
        self.subscriber = rospy.Subscriber(name, kind, self.on_message, queue_size=100)

    def on_message(self, message):
        try:
            self.node.connected().send("publish", topic=self.name, msg=values_of(message))
        except (Failed, OSError) as error:
            rospy.logerr_throttle(1.0, f"{self.name}: {error}")

    def follow(self):
        """Does nothing."""

    def end(self):
        self.subscriber.unregister()


class TopicRelays:
    """The daemon's topics whose types are installed, as they come and go."""

    def __init__(self, node):
        self.node, self.relays = node, {}

    def clear(self):
        for relay in self.relays.values():
            relay.end()
        self.relays = {}

    def follow(self):
        ways = self.node.call("/rosapi/node_details", {"node": DAEMON})
        present = {**dict.fromkeys(ways["publishing"], Outward), **dict.fromkeys(ways["subscribing"], Inward)}
        for name in [each for each in self.relays if each not in present]:
            self.relays.pop(name).end()
        for name in [each for each in present if each not in self.relays]:
            type_name = ros1_type(self.node.call("/rosapi/topic_type", {"topic": name})["type"])
            kind = get_message_class(type_name)
            if kind:
                self.relays[name] = present[name](self.node, name, type_name, kind)
        for relay in self.relays.values():
            relay.follow()
