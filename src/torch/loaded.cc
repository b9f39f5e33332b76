#include "torch/loaded.h"

#include <torch/csrc/inductor/aoti_package/model_package_loader.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/serialization/import.h>

#include <filesystem>
#include <stdexcept>
#include <utility>

#include "torch/fault.h"

namespace perfgate::runner {
namespace {

void MustExist(const std::string& path) {
  if (!std::filesystem::is_regular_file(path)) {
    throw WorkloadFault("no file " + path + "; a workload's `prepare` is the place to make it");
  }
}

void Flatten(const c10::IValue& value, std::vector<at::Tensor>* out) {
  if (value.isTensor()) {
    out->push_back(value.toTensor());
  } else if (value.isTuple()) {
    for (const c10::IValue& element : value.toTupleRef().elements()) Flatten(element, out);
  } else if (value.isList()) {
    for (const c10::IValue& element : value.toListRef()) Flatten(element, out);
  } else if (value.isGenericDict()) {
    for (const auto& item : value.toGenericDict()) Flatten(item.value(), out);
  }
}

class Package : public Model {
 public:
  Package(const std::string& path, c10::Device device)
      : loader_(path, "model", /*run_single_threaded=*/false, /*num_runners=*/1, device.index()) {}
  std::vector<at::Tensor> Forward(const std::vector<at::Tensor>& inputs) override {
    return loader_.run(inputs);
  }

 private:
  torch::inductor::AOTIModelPackageLoader loader_;
};

class Script : public Model {
 public:
  Script(const std::string& path, c10::Device device) : module_(torch::jit::load(path, device)) {
    module_.eval();
  }
  std::vector<at::Tensor> Forward(const std::vector<at::Tensor>& inputs) override {
    std::vector<at::Tensor> outputs;
    Flatten(Call({inputs.begin(), inputs.end()}), &outputs);
    return outputs;
  }

 private:
  c10::IValue Call(std::vector<c10::IValue> inputs) try {
    return module_.forward(std::move(inputs));
  } catch (const std::runtime_error& fault) {
    throw WorkloadFault(Explain(fault.what()));
  }

  torch::jit::Module module_;
};

}  // namespace

std::unique_ptr<Model> LoadPackage(const std::string& path, c10::Device device) {
  MustExist(path);
  return std::make_unique<Package>(path, device);
}

std::unique_ptr<Model> LoadScript(const std::string& path, c10::Device device) {
  MustExist(path);
  return std::make_unique<Script>(path, device);
}

}  // namespace perfgate::runner
