// perfgate-torch: runs one workload by the attempt contract. One process, one attempt.
#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>
#include <c10/util/Exception.h>
#include <fmt/format.h>

#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "perfgate/attempt.h"
#include "torch/device.h"
#include "torch/export.h"
#include "torch/fault.h"
#include "torch/kineto.h"
#include "torch/loaded.h"
#include "torch/module.h"
#include "torch/options.h"
#include "torch/outputs.h"

namespace perfgate::runner {
namespace {

std::unique_ptr<Model> MakeModel(const Options& options, const attempt::Settings& settings,
                                 c10::Device device, attempt::Workload* workload) {
  const Plant plant = PlantFor(settings.plant, options, device.is_cuda());
  if (options.source == Source::kScript) return LoadScript(options.name, device);
  if (options.source == Source::kPackage) return LoadPackage(options.name, device);
  if (options.mode == Mode::kEager) return MakeModule(options, device, plant);
  const Exported exported = ExportModule(options, device);
  workload->once_ns = exported.took_ns;
  return LoadPackage(exported.package.string(), device);
}

void Run(const Options& options) {
  const attempt::Settings settings = attempt::ReadSettings();
  at::set_num_threads(settings.threads);
  const c10::InferenceMode inference;
  const c10::Device device = OpenDevice(settings.device);

  attempt::Workload workload;
  const std::unique_ptr<Model> model = MakeModel(options, settings, device, &workload);
  const std::vector<at::Tensor> inputs = MakeInputs(options, device);
  std::vector<at::Tensor> outputs;
  workload.iterate = [&] { outputs = model->Forward(inputs); };
  if (device.is_cuda()) workload.synchronize = [device] { Synchronize(device); };
  workload.tracer = KinetoTracer(device);
  // The result of the step before is freed between the steps, so that every step allocates alike.
  workload.tracer.begin = [&, begin = workload.tracer.begin] {
    outputs.clear();
    begin();
  };
  workload.tracer.step = [&, step = workload.tracer.step](int index, const auto& body) {
    outputs.clear();
    step(index, body);
  };

  attempt::Samples samples = attempt::Measure(settings, workload);
  samples.outputs = Describe(outputs, settings.folder);
  samples.environment = Environment(device);
  samples.plant = settings.plant;
  attempt::Finish(settings, samples);
}

// LibTorch's faults carry a backtrace of pages; the first line says what happened.
void RunTorch(const Options& options) try { Run(options); } catch (const c10::Error& error) {
  const std::string text = error.what_without_backtrace();
  throw WorkloadFault("LibTorch: " + text.substr(0, text.find('\n')));
}

int Main(int argc, char** argv) try {
  RunTorch(ReadOptions(argc, argv));
  return 0;
} catch (const UsageFault& fault) {
  fmt::print(stderr, "perfgate-torch: {}\n", fault.what());
  return 2;
} catch (const std::exception& fault) {
  fmt::print(stderr, "perfgate-torch: {}\n", fault.what());
  return 1;
}

}  // namespace
}  // namespace perfgate::runner

int main(int argc, char** argv) { return perfgate::runner::Main(argc, argv); }
