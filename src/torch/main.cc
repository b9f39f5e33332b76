// perfgate-torch: runs one workload by the attempt contract. One process, one attempt.
#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>
#include <c10/util/Exception.h>
#include <fmt/format.h>

#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "perfgate/attempt.h"
#include "torch/device.h"
#include "torch/export.h"
#include "torch/fault.h"
#include "torch/gpu.h"
#include "torch/kineto.h"
#include "torch/loaded.h"
#include "torch/module.h"
#include "torch/nvml.h"
#include "torch/options.h"
#include "torch/outputs.h"

namespace perfgate::runner {
namespace {

// The workload's process: where it runs and what is recorded of it.
struct Process {
  attempt::Settings settings = attempt::ReadSettings();
  c10::Device device = c10::DeviceType::CPU;
  std::unique_ptr<Gpu> gpu;  // null on the CPU
  std::map<std::string, std::string> environment;
  std::optional<GpuReading> before;
  int64_t reading_ns = 0;  // what that took

  std::optional<GpuReading> Reading() const {
    return gpu == nullptr ? std::nullopt : ReadGpu(environment.at("gpu_uuid"));
  }
};

Process Start() {
  Process process;
  at::set_num_threads(process.settings.threads);
  process.device = OpenDevice(process.settings.device);
  process.environment = Environment(process.device);
  if (!process.device.is_cuda()) return process;
  process.gpu = OpenGpu(process.device);
  process.environment.merge(process.gpu->Environment());
  const int64_t start_ns = attempt::internal::NowNs();
  process.before = process.Reading();
  process.reading_ns = attempt::internal::NowNs() - start_ns;
  process.gpu->Select();
  return process;
}

// Captures the first call, and replays it in the others.
class Captured : public Model {
 public:
  Captured(std::unique_ptr<Model> model, Gpu* gpu) : model_(std::move(model)), gpu_(gpu) {}
  std::vector<at::Tensor> Forward(const std::vector<at::Tensor>& inputs) override {
    if (graph_ == nullptr) graph_ = gpu_->Capture([&] { return model_->Forward(inputs); });
    return graph_->Replay();
  }

 private:
  std::unique_ptr<Model> model_;
  Gpu* gpu_;
  std::unique_ptr<Graph> graph_;
};

std::unique_ptr<Model> MakeModel(const Options& options, const Process& process,
                                 attempt::Workload* workload) {
  const c10::Device device = process.device;
  const Plant plant = PlantFor(process.settings.plant, options, device.is_cuda());
  if (options.source == Source::kScript) return LoadScript(options.name, device);
  if (options.source == Source::kPackage) return LoadPackage(options.name, device);
  if (options.mode == Mode::kAoti) {
    const Exported exported = ExportModule(options, device, process.environment);
    workload->once_ns += exported.took_ns;
    return LoadPackage(exported.package.string(), device);
  }
  if (options.mode != Mode::kCudaGraph) {
    return MakeModule(options, device, plant, process.gpu.get());
  }
  if (process.gpu == nullptr) {
    throw WorkloadFault("mode cuda_graph needs a GPU, and the device is cpu; use mode eager there");
  }
  return std::make_unique<Captured>(MakeModule(options, device, plant, process.gpu.get()),
                                    process.gpu.get());
}

void Run(const Options& options) {
  const Process process = Start();
  const c10::InferenceMode inference(!options.Trains());
  attempt::Workload workload;
  workload.once_ns = process.reading_ns;
  const std::unique_ptr<Model> model = MakeModel(options, process, &workload);
  const std::vector<at::Tensor> inputs = MakeInputs(options, process.device);
  std::vector<at::Tensor> outputs;
  workload.iterate = [&] { outputs = model->Forward(inputs); };
  // Packages were compiled before. A TorchScript may still compile kernels, and does not say.
  if (options.source != Source::kScript) workload.compiled_ns = [] { return int64_t{0}; };
  if (process.gpu != nullptr) {
    workload.synchronize = [&] { Synchronize(process.device); };
    workload.device_latency = [&] { return process.gpu->TimeNs(workload.iterate); };
  }
  workload.tracer = KinetoTracer(process.device);
  // The result of the step before is freed between the steps, so that every step allocates alike.
  workload.tracer.begin = [&, begin = workload.tracer.begin] {
    outputs.clear();
    begin();
  };
  workload.tracer.step = [&, step = workload.tracer.step](int index, const auto& body) {
    outputs.clear();
    step(index, body);
  };

  attempt::Samples samples = attempt::Measure(process.settings, workload);
  samples.environment = process.environment;
  AddReadings(process.before, process.Reading(), &samples.environment);
  samples.outputs = Save(outputs, process.settings);
  samples.inputs = NameOfInputs(options);
  samples.fallback = model->Fallbacks();
  samples.plant = process.settings.plant;
  attempt::Finish(process.settings, samples);
}

// LibTorch's faults carry a backtrace of pages.
void RunTorch(const Options& options) try { Run(options); } catch (const c10::Error& error) {
  throw WorkloadFault(Explain(error.what_without_backtrace()));
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
