// What the collector is asked for, read once from the environment.
#pragma once

#include <cstdint>
#include <string>

namespace perfgate::cupti {

struct Config {
  std::string folder = ".";  // PERFGATE_ATTEMPT_DIR: where the files go
  std::string library;       // PERFGATE_CUPTI_LIB: the CUPTI to load if none is loaded yet

  // The window, by steps: PERFGATE_NVTX_STEPS names the NVTX range that marks a step ("": none);
  // the first PERFGATE_WARMUP of them pass, the next PERFGATE_TRACED_ITERATIONS are the window.
  std::string step_range;
  int64_t skipped_steps = 20, steps = 5;
  // Or by time and count: PERFGATE_CUPTI_WINDOW, "after=5s,for=2s" or "kernels=100000". 0: no
  // limit; all 0: the whole process.
  int64_t after_ns = 0, for_ns = 0, kernels = 0;
  // PERFGATE_CUPTI_MOST_EVENTS: a window that holds more is cut off there, with a fault.
  int64_t most_events = 1'000'000;

  // Of the launcher: RANK, OMPI_COMM_WORLD_RANK or SLURM_PROCID, and the size that goes with it.
  // -1: not said.
  int rank = -1, world_size = -1;

  std::string fault;  // what is wrong with these settings; "" if nothing
};

Config ReadConfig();

}  // namespace perfgate::cupti
