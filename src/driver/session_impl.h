/* Shared by the files of the session. */
#ifndef GN_DRIVER_SESSION_IMPL_H
#define GN_DRIVER_SESSION_IMPL_H

#include "driver/session.h"


#endif
