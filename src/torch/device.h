// Where the workload runs, and what the machine and the installed LibTorch are.
#pragma once

#include <c10/core/Device.h>

#include <filesystem>
#include <map>
#include <string>

namespace perfgate::runner {

// "cpu", "cuda", "cuda:1", or "auto": the first GPU where the driver is, else the CPU. LibTorch's
// CUDA part is loaded here, so that the runner starts without it. Throws WorkloadFault, with the
// reason, if there is no such device; UsageFault for another text.
c10::Device OpenDevice(const std::string& text);

// Waits until the device has done all that it was given.
void Synchronize(c10::Device device);

// The `torch` folder that libtorch_cpu.so was loaded from.
std::filesystem::path TorchFolder();

// torch, cuda, git of the installed LibTorch, cpu_isa, threads, device, writer; on a GPU triton.
std::map<std::string, std::string> Environment(c10::Device device);

}  // namespace perfgate::runner
