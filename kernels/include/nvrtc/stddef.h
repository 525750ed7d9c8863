// size_t is built into NVRTC.
#pragma once
