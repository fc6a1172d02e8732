/* What gnnc can use on this machine, what is missing and how to get it, as text for people. */
#ifndef GN_DRIVER_DOCTOR_H
#define GN_DRIVER_DOCTOR_H

#include "base/arena.h"

/* Appends lines: the processor, NVRTC, the CUDA driver and its devices.  Loads what it speaks of. */
void gn_doctor(gn_buf *out);

#endif
