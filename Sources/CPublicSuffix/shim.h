/// The Public Suffix List, as the system's libpsl has it.
#ifndef DARKROOM_CPUBLICSUFFIX_SHIM_H
#define DARKROOM_CPUBLICSUFFIX_SHIM_H

#include <libpsl.h>

#endif
