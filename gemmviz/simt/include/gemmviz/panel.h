// gemmviz/panel.h for the recorder: the panels are arrays that it watches.
#pragma once
#include "../../runtime/kernel_calls/c_kernels.h"

#define panels_new gv_panels_new
#define panels_free gv_panels_free
