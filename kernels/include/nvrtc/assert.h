// NVRTC knows what kernels take from it by itself.
#pragma once
