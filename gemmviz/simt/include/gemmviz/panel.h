// gemmviz/panel.h for the recorder: the panels are arrays that it watches.
#pragma once

float *gv_panels_new(const char *name, unsigned count, unsigned depth, unsigned width);
void gv_panels_free(float *memory);

#define panels_new gv_panels_new
#define panels_free gv_panels_free
