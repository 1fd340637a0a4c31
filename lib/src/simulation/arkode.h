/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of SUNDIALS 7.1 and later (Debian 13) for ARKODE of SUNDIALS 6 (Debian 12). Functions that all integrators
 * share begin with ARKode in the later version, and with the integrator's name in the earlier one.
 */
#ifndef SIMULATION_ARKODE_H
#define SIMULATION_ARKODE_H

#include <arkode/arkode_erkstep.h>
#include <nvector/nvector_serial.h>
#include <stddef.h>
#include <sundials/sundials_config.h>

#if SUNDIALS_VERSION_MAJOR < 7

#define ARKodeEvolve ERKStepEvolve
#define ARKodeFree ERKStepFree
#define ARKodeGetNumErrTestFails ERKStepGetNumErrTestFails
#define ARKodeGetNumSteps ERKStepGetNumSteps
#define ARKodeGetRootInfo ERKStepGetRootInfo
#define ARKodeReset ERKStepReset
#define ARKodeRootInit ERKStepRootInit
#define ARKodeSStolerances ERKStepSStolerances
#define ARKodeSetMaxNumSteps ERKStepSetMaxNumSteps
#define ARKodeSetMaxStep ERKStepSetMaxStep
#define ARKodeSetPostprocessStepFn ERKStepSetPostprocessStepFn
#define ARKodeSetRootDirection ERKStepSetRootDirection
#define ARKodeSetStopTime ERKStepSetStopTime
#define ARKodeSetUserData ERKStepSetUserData

/* Communicator of a context without MPI. */
#define SUN_COMM_NULL NULL

/* Error handler that discards the message. */
static inline void arkode_ignore_message(int code, const char *module, const char *function, char *message,
                                         void *context) {
    (void)code, (void)module, (void)function, (void)message, (void)context;
}

/* Silences the messages of an integrator on stderr, whose functions return each error as a value too. Returns
 * ARK_SUCCESS or an error. */
static inline int arkode_silence(SUNContext context, void *integrator) {
    (void)context;
    return ERKStepSetErrHandlerFn(integrator, arkode_ignore_message, NULL);
}

#else

/* Silences the messages of an integrator on stderr, whose functions return each error as a value too. Returns
 * ARK_SUCCESS or an error. */
static inline int arkode_silence(SUNContext context, void *integrator) {
    (void)integrator;
    return SUNContext_ClearErrHandlers(context);
}

#endif

#endif
