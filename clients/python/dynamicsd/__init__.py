# SPDX-License-Identifier: BSD-2-Clause
"""Python client of dynamicsd, the rigid-body dynamics service.

    import dynamicsd
    client = dynamicsd.connect()
    ur5 = client.model("ur5")
    tau = ur5.inverse_dynamics(q, v, a)      # q is (6,) or (n, 6)

Arrays are numpy arrays of float64 in SI units, one row for each state; n rows take one message and one round trip. The
package is built on libdynamicsclient. A client may be used by many threads at once, and calls release the interpreter's
lock. dynamicsd.aio has the same for asyncio.
"""
from dynamicsd._client import ffi as _ffi
from dynamicsd._client import lib as _lib
from dynamicsd._query import EvaluateOptions, JobTicket, Options
from dynamicsd.client import Client, connect, default_address, default_token
from dynamicsd.errors import (Aborted, AlreadyExists, BadReply, Cancelled, DataLoss, DeadlineExceeded, DynamicsError,
                              FailedPrecondition, Internal, InvalidArgument, MarkedRows, NotFound, OutOfMemory,
                              OutOfRange, PermissionDenied, ResourceExhausted, Timeout, Unauthenticated, Unavailable,
                              Unimplemented, Unreachable)
from dynamicsd.evaluation import Evaluation, Quantity, quantities
from dynamicsd.live import Simulation, StateWatcher, Stream, Watcher
from dynamicsd.model import Model
from dynamicsd.records import (BaseMotion, Brake, Bushing, Constraint, ConstraintFrame, ContactSurface,
                               CoupledCoordinate, DHRow, DHTable, ExternalForce, FlexibleBeam, FlexibleLink, Fluid,
                               Frame, Friction, Gear, Inertia, InertiaPart, Joint, JointMotion, Limits, Link,
                               LoopClosure, MachineElement, ModelDescription, MotionOptions, Motor, MotorChoice,
                               Operation, PassiveForces, Payload, Pose, Rotor, ScrewChain, Shaft, SoftContact, Spring,
                               SpringStop, Stepping, Strut, TaskFrame, Tip, TipConstraint)

__version__: str = _ffi.string(_lib.dyn_client_version()).decode()

__all__ = [
    "Aborted", "AlreadyExists", "BadReply", "BaseMotion", "Brake", "Bushing", "Cancelled", "Client", "Constraint",
    "ConstraintFrame", "ContactSurface", "CoupledCoordinate", "DHRow", "DHTable", "DataLoss", "DeadlineExceeded",
    "DynamicsError", "EvaluateOptions", "Evaluation", "ExternalForce", "FailedPrecondition", "FlexibleBeam",
    "FlexibleLink", "Fluid", "Frame", "Friction", "Gear", "Inertia", "InertiaPart", "Internal", "InvalidArgument",
    "JobTicket", "Joint", "JointMotion", "Limits", "Link", "LoopClosure", "MachineElement", "MarkedRows", "Model",
    "ModelDescription", "MotionOptions", "Motor", "MotorChoice", "NotFound", "Operation", "Options", "OutOfMemory",
    "OutOfRange", "PassiveForces", "Payload", "PermissionDenied", "Pose", "Quantity", "ResourceExhausted", "Rotor",
    "ScrewChain", "Shaft", "Simulation", "SoftContact", "Spring", "SpringStop", "StateWatcher", "Stepping", "Stream",
    "Strut", "TaskFrame", "Timeout", "Tip", "TipConstraint", "Unauthenticated", "Unavailable", "Unimplemented",
    "Unreachable", "Watcher", "connect", "default_address", "default_token", "quantities",
]
