// A CUDA driver's answers about its GPUs, for a machine without one.
#include <cuda.h>

#include <cstring>

namespace {

int contexts = 0;

}  // namespace

extern "C" {

void FakePrimaryContext() { ++contexts; }

CUresult cuDevicePrimaryCtxGetState(CUdevice, unsigned* flags, int* active) {
  *flags = 0;
  *active = contexts > 0;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int* count) {
  *count = 2;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char* name, int size, CUdevice) {
  std::strncpy(name, "NVIDIA H200", static_cast<size_t>(size));
  return CUDA_SUCCESS;
}

CUresult cuDeviceTotalMem_v2(size_t* bytes, CUdevice) {
  *bytes = 150109880320;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice) {
  *value = attribute == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT ? 132 : 9;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice device) {
  std::memset(uuid->bytes, 0x5a, sizeof uuid->bytes);
  uuid->bytes[15] = static_cast<char>(device);
  return CUDA_SUCCESS;
}

CUresult cuDriverGetVersion(int* version) {
  *version = 13000;
  return CUDA_SUCCESS;
}
}
