// A stand-in for the NVIDIA driver (libcuda.so.1) that serves the CUDA of FAKE_DRIVER_CUDA, 12080
// for 12.8, and finds no GPU.
#include <cstdlib>

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT int cuDriverGetVersion(int* version) {
  const char* text = std::getenv("FAKE_DRIVER_CUDA");
  *version = text == nullptr ? 0 : std::atoi(text);
  return 0;
}
EXPORT int cuInit(unsigned) { return 100; }  // CUDA_ERROR_NO_DEVICE
EXPORT int cuGetErrorString(int, const char** text) {
  *text = "no CUDA-capable device is detected";
  return 0;
}
