/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ARKODE of SUNDIALS 6 (Debian 12) and of SUNDIALS 7.1 and later (Debian 13), by the names of the latter: functions
 * that all of its integrators share begin with ARKode there, and with the integrator's name before.
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

static inline void arkode_ignore_message(int code, const char *module, const char *function, char *message,
                                         void *context) {
    (void)code, (void)module, (void)function, (void)message, (void)context;
}

/* Keeps an integrator from writing its errors to stderr; they come back as return values, too. */
static inline int arkode_silence(SUNContext context, void *integrator) {
    (void)context;
    return ERKStepSetErrHandlerFn(integrator, arkode_ignore_message, NULL);
}

#else

/* Keeps an integrator from writing its errors to stderr; they come back as return values, too. */
static inline int arkode_silence(SUNContext context, void *integrator) {
    (void)integrator;
    return SUNContext_ClearErrHandlers(context);
}

#endif

#endif
