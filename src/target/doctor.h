/* What gnnc can use on this machine, what is missing and how to get it, as text for people. */
#ifndef GN_TARGET_DOCTOR_H
#define GN_TARGET_DOCTOR_H

#include "base/arena.h"
#include "base/status.h"

/* Appends lines: the processor, NVRTC, the CUDA driver and its devices.  Loads what it speaks
 * of. */
void gn_doctor(gn_buf *out);

/* The driver and its devices, a line each; GN_ERR_BACKEND: there is none, what was looked for, and
 * how to get it. */
GN_NODISCARD gn_status *gn_doctor_devices(gn_buf *out);
/* "what: text", lines after the first indented. */
void gn_doctor_lines(gn_buf *out, const char *what, const char *text);

#endif
