#include "torch/kineto.h"

#include <ATen/record_function.h>
#include <torch/csrc/autograd/profiler_kineto.h>
#include <torch/csrc/profiler/kineto_shim.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>
#include <thread>

#include "torch/fault.h"

namespace perfgate::runner {
namespace {

using torch::profiler::impl::ActivityType;

// The timed window leaves a GPU with its clock lowered by the power limit, by more or less, so that
// kernels bound by compute took 0 to 13 % longer in the traced window right after it (H200).
constexpr std::chrono::milliseconds kSettle{300};

void Begin(c10::Device device) {
  namespace profiler = torch::autograd::profiler;
  const torch::profiler::impl::ProfilerConfig config(torch::profiler::impl::ProfilerState::KINETO,
                                                     /*report_input_shapes=*/true,
                                                     /*profile_memory=*/true);
  std::set<ActivityType> activities = {ActivityType::CPU};
  if (device.is_cuda()) {
    activities.insert(ActivityType::CUDA);
  } else {
    // Kineto asks for GPUs even so, and without a driver calls that an error (6 is above its own
    // highest level). End checks by itself that there is a trace.
    setenv("KINETO_LOG_LEVEL", "6", /*overwrite=*/0);
  }
  profiler::prepareProfiler(config, activities);
  // The flags as torch.profiler writes them, so that a reader knows what the trace could hold.
  profiler::addMetadataJson("record_shapes", "1");
  profiler::addMetadataJson("profile_memory", "1");
  profiler::addMetadataJson("perfgate_writer", "\"perfgate-torch\"");
  profiler::enableProfiler(
      config, activities,
      {at::RecordScope::FUNCTION, at::RecordScope::BACKWARD_FUNCTION, at::RecordScope::USER_SCOPE});
  if (device.is_cuda()) std::this_thread::sleep_for(kSettle);
}

void Step(int index, const std::function<void()>& body) {
  at::RecordFunction mark(at::RecordScope::USER_SCOPE);
  if (mark.isActive()) mark.before("ProfilerStep#" + std::to_string(index));
  body();
}

void End(const std::string& path) {
  torch::autograd::profiler::disableProfiler()->save(path);
  std::error_code fault;
  if (std::filesystem::file_size(path, fault) == 0 || fault) {
    throw WorkloadFault("the profiler left no trace at " + path +
                        "; KINETO_LOG_LEVEL=1 in the environment makes it say why");
  }
}

}  // namespace

attempt::Tracer KinetoTracer(c10::Device device) {
  attempt::Tracer tracer;
  tracer.begin = [device] { Begin(device); };
  tracer.step = Step;
  tracer.end = End;
  return tracer;
}

}  // namespace perfgate::runner
