#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fake_nvml.h"
#include "torch/nvml.h"

namespace perfgate::runner {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Key;
using testing::Not;
using testing::Pair;

constexpr const char* kUuid = "GPU-8d2c7a10-0000-0000-0000-000000000001";

class NvmlTest : public testing::Test {
 protected:
  NvmlTest() : library_(dlopen(PERFGATE_FAKE_NVML, RTLD_NOW)) {
    if (library_ == nullptr) throw std::runtime_error(dlerror());
    fake_ = static_cast<FakeNvml*>(dlsym(library_, "fake_nvml"));
    *fake_ = FakeNvml();
  }
  ~NvmlTest() override {
    EXPECT_EQ(fake_->open, 0) << "every init has its shutdown";
    dlclose(library_);
  }
  std::optional<GpuReading> Read() { return ReadGpu(kUuid, PERFGATE_FAKE_NVML); }

  void* library_;
  FakeNvml* fake_;
};

TEST_F(NvmlTest, AReadingHasWhatTheDriverSays) {
  fake_->throttle = 0x1 | 0x4 | 0x20;  // idle, power cap, thermal
  fake_->processes = 2;
  fake_->ecc_errors = 5;
  const std::optional<GpuReading> reading = Read();
  ASSERT_TRUE(reading);
  EXPECT_EQ(reading->driver, "580.65.06");
  EXPECT_EQ(reading->mig, "");
  EXPECT_EQ(reading->sm_clock_mhz, 1980);
  EXPECT_EQ(reading->memory_clock_mhz, 3201);
  EXPECT_EQ(reading->temperature_c, 41);
  EXPECT_EQ(reading->power_mw, 118000);
  EXPECT_EQ(reading->throttle, "sw_power_cap, sw_thermal_slowdown");
  EXPECT_EQ(reading->ecc_errors, 5);
  EXPECT_EQ(reading->processes, 2);
}

TEST_F(NvmlTest, WhereThereIsNoNvmlOrNoSuchGpuNothingIsKnown) {
  EXPECT_FALSE(ReadGpu(kUuid, "libnothing-of-this-name.so.1"));
  EXPECT_FALSE(ReadGpu("GPU-00000000-0000-0000-0000-000000000000", PERFGATE_FAKE_NVML));
  fake_->init = 9;  // NVML_ERROR_DRIVER_NOT_LOADED
  EXPECT_FALSE(Read());
}

TEST_F(NvmlTest, AQuestionThatIsNotAnsweredLeavesItsKeyOut) {
  fake_->result = 3;  // NVML_ERROR_NOT_SUPPORTED
  std::map<std::string, std::string> environment;
  AddReadings(Read(), Read(), &environment);
  EXPECT_THAT(environment, Not(Contains(Key("sm_clock_mhz_before"))));
  EXPECT_THAT(environment, Contains(Pair("throttle_before", "none")));
  EXPECT_THAT(environment, Contains(Pair("driver", "580.65.06")));
}

TEST_F(NvmlTest, ASliceHasItsProfileAndTheClocksOfItsBoard) {
  fake_->name = "NVIDIA H200 MIG 1g.18gb";
  fake_->uuid = "MIG-8d2c7a10-0000-0000-0000-000000000001";
  const std::optional<GpuReading> reading = Read();
  ASSERT_TRUE(reading);
  EXPECT_EQ(reading->mig, "1g.18gb");
  EXPECT_EQ(reading->sm_clock_mhz, 1980);
}

TEST_F(NvmlTest, BeforeAndAfterAreRecordedApart) {
  fake_->throttle = 0x4;
  const std::optional<GpuReading> before = Read();
  fake_->throttle = 0;
  fake_->processes = 1;  // this process
  std::map<std::string, std::string> environment;
  AddReadings(before, Read(), &environment);
  EXPECT_THAT(environment, Contains(Pair("throttle_before", "sw_power_cap")));
  EXPECT_THAT(environment, Contains(Pair("throttle_after", "none")));
  EXPECT_THAT(environment, Contains(Pair("gpu_processes_before", "0")));
  EXPECT_THAT(environment, Contains(Pair("gpu_processes_after", "1")));
  EXPECT_THAT(environment, Contains(Pair("power_mw_after", "118000")));
  EXPECT_THAT(environment, Not(Contains(Key("warning"))));
  EXPECT_THAT(environment, Not(Contains(Key("mig"))));
}

TEST_F(NvmlTest, OtherProcessesSlowdownsAndEccErrorsAreWarnings) {
  fake_->processes = 1;
  const std::optional<GpuReading> before = Read();
  fake_->processes = 3;  // two others and this one
  fake_->throttle = 0x40;
  fake_->ecc_errors = 1;
  std::map<std::string, std::string> environment;
  AddReadings(before, Read(), &environment);
  EXPECT_EQ(environment["warning"],
            "2 other processes use the GPU, which disturbs all times; "
            "the GPU slowed down: hw_thermal_slowdown; "
            "uncorrectable ECC errors during the attempt");
}

TEST_F(NvmlTest, AProcessThatWasThereOnlyBeforeIsAWarningToo) {
  fake_->processes = 1;
  const std::optional<GpuReading> before = Read();
  std::map<std::string, std::string> environment;
  AddReadings(before, Read(), &environment);
  EXPECT_THAT(environment["warning"], HasSubstr("1 other process uses the GPU"));
}

TEST_F(NvmlTest, WithoutReadingsNothingIsRecorded) {
  std::map<std::string, std::string> environment = {{"torch", "2.11.0"}};
  AddReadings(std::nullopt, std::nullopt, &environment);
  EXPECT_EQ(environment.size(), 1U);
}

}  // namespace
}  // namespace perfgate::runner
