// A stand-in for the driver's NVML with one GPU, whose answers a test sets.
#pragma once

struct FakeNvml {
  const char* name = "NVIDIA H200";
  const char* uuid = "GPU-8d2c7a10-0000-0000-0000-000000000001";
  int init = 0;    // what nvmlInit_v2 returns
  int result = 0;  // what every question about clocks, temperature and power returns
  unsigned processes = 0;
  unsigned long long throttle = 0, ecc_errors = 0;
  int open = 0;  // inits without a shutdown
};

extern "C" FakeNvml fake_nvml;
