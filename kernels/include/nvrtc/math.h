// The parts that kernels use are built into NVRTC.
#pragma once
