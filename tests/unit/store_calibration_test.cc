#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "store/sqlite.h"
#include "store/store.h"
#include "temp_folder.h"

namespace perfgate {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

Calibration SomeCalibration(const std::string& measured) {
  Calibration calibration;
  calibration.case_name = "gelu";
  calibration.measured = measured;
  calibration.machine = {{"cpu", "Some CPU"}, {"cores", "2"}};
  calibration.stack = {{"device", "cpu"}, {"definition", "d1"}};
  calibration.base = {100, 101, 99.5, 100, 102};
  calibration.head = {101, 100, 100, 99, 101};
  SetNoise(calibration);
  return calibration;
}

class CalibrationStore : public TempFolder {
 protected:
  const std::filesystem::path file_ = folder_ / "perfgate.db";
};

TEST_F(CalibrationStore, GivesBackWhatItWasGiven) {
  Store store(file_);
  const Calibration calibration = SomeCalibration("2027-01-31T10:15:00Z");
  store.AddCalibrations(std::vector{calibration});
  const std::vector<Calibration> all = store.Calibrations();
  ASSERT_THAT(all, SizeIs(1));
  EXPECT_EQ(ToJson(all[0]), ToJson(calibration));
}

TEST_F(CalibrationStore, KeepsOneRowACaseMetricMachineAndMoment) {
  Store store(file_);
  const auto first = std::vector{SomeCalibration("2027-01-31T10:15:00Z")};
  store.AddCalibrations(first);
  store.AddCalibrations(first);
  store.AddCalibrations(std::vector{SomeCalibration("2027-02-28T10:15:00Z")});
  EXPECT_THAT(store.Calibrations(), SizeIs(2));
  EXPECT_THAT(store.Calibrations("2027-01-31T10:15:00Z"), SizeIs(1));
  EXPECT_THAT(store.Calibrations("2026-12-31T00:00:00Z"), IsEmpty());
}

TEST_F(CalibrationStore, ComesToADatabaseOfAnEarlierSchema) {
  { Store store(file_); }
  Database(file_).Execute(
      "DROP VIEW calibration_view; DROP TABLE calibration; PRAGMA user_version = 1");
  Store store(file_);
  store.AddCalibrations(std::vector{SomeCalibration("2027-01-31T10:15:00Z")});
  EXPECT_THAT(store.Calibrations(), SizeIs(1));
}

TEST_F(CalibrationStore, StaysWhenTheRunsGo) {
  Store store(file_);
  store.AddCalibrations(std::vector{SomeCalibration("2027-01-31T10:15:00Z")});
  RunRemoval removal(store);
  removal.Commit();
  EXPECT_THAT(store.Calibrations(), SizeIs(1));
}

}  // namespace
}  // namespace perfgate
