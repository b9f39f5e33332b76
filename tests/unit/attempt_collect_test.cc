#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "attempt/attempt.h"
#include "temp_folder.h"

namespace perfgate {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class AttemptFolder : public testing::Test {
 protected:
  void SetUp() override {
    out_ = std::filesystem::path(testing::TempDir()) / NameOfTest();
    std::filesystem::remove_all(out_);
    attempt_.case_name = "a";
    attempt_.dir = "attempts/a";
    std::filesystem::create_directories(out_ / attempt_.dir);
  }
  void TearDown() override { std::filesystem::remove_all(out_); }

  std::filesystem::path Path(const std::string& name) { return out_ / attempt_.dir / name; }
  void Put(const std::string& name, const std::string& text) { std::ofstream(Path(name)) << text; }
  AttemptData Collect() { return CollectAttempt(out_, attempt_, result_); }

  std::filesystem::path out_;
  Attempt attempt_;
  AttemptResult result_;
};

TEST_F(AttemptFolder, TracesAreFoundWithTheirRanks) {
  for (const char* name : {"trace-rank1.json", "trace.rank_12.json.gz", "trace.json", "other.json",
                           "trace-rankx.json", "trace.txt"}) {
    Put(name, "{}");
  }
  const AttemptData data = Collect();
  EXPECT_THAT(data.faults, IsEmpty());
  ASSERT_EQ(data.traces.size(), 4U);
  EXPECT_EQ(data.traces[0].path, Path("trace-rank1.json"));
  EXPECT_EQ(data.traces[0].rank, 1);
  EXPECT_EQ(data.traces[1].rank, std::nullopt);
  EXPECT_EQ(data.traces[2].rank, std::nullopt);
  EXPECT_EQ(data.traces[3].rank, 12);
}

TEST_F(AttemptFolder, ATracedAttemptWithoutATraceHasAFault) {
  Put("samples.json", R"({"schema": "perfgate.samples/1"})");
  EXPECT_THAT(Collect().faults, ElementsAre(HasSubstr("wrote no trace*.json")));
}

TEST_F(AttemptFolder, WhyTheCollectorWroteNoTraceIsTheFault) {
  Put("no-trace-pid7.txt", "the program marked no NVTX range 'step'\nand more");
  Put("no-trace-pid9.txt", "another profiler has CUPTI\talready");
  EXPECT_THAT(Collect().faults, ElementsAre("the program marked no NVTX range 'step'",
                                            "another profiler has CUPTI\\x09already"));
  Put("trace.json", "{}");  // another process of the attempt did: what the two did is missing
  EXPECT_THAT(Collect().faults, ElementsAre("the program marked no NVTX range 'step'",
                                            "another profiler has CUPTI\\x09already"));
}

TEST_F(AttemptFolder, UnderTheCollectorNoTraceMeansNoCuda) {
  const AttemptData data = CollectAttempt(out_, attempt_, result_, Profiler::kCupti);
  EXPECT_THAT(data.faults, ElementsAre(HasSubstr("the program used no CUDA")));
}

TEST_F(AttemptFolder, ATracedAttemptNeedsNoSamplesButATimedOneDoes) {
  Put("trace.json", "{}");
  EXPECT_THAT(Collect().faults, IsEmpty());
  attempt_.phase = Phase::kTimed;
  EXPECT_THAT(Collect().faults, ElementsAre(HasSubstr("wrote no samples.json")));
}

TEST_F(AttemptFolder, AFailedProcessIsOneFaultNotThree) {
  result_.outcome = Outcome::kSignalled;
  result_.fault = "killed by SIGSEGV";
  EXPECT_THAT(Collect().faults, ElementsAre("killed by SIGSEGV"));
}

TEST_F(AttemptFolder, EmptyAndBrokenFilesAreFaultsWithTheirNames) {
  Put("trace.json", "");
  Put("samples.json", R"({"schema": "perfgate.samples/1", "latency_ns": "x"})");
  const AttemptData data = Collect();
  EXPECT_FALSE(data.samples.has_value());
  EXPECT_THAT(data.faults,
              ElementsAre("trace.json: is empty", HasSubstr("samples.json: latency_ns: expected")));
}

TEST_F(AttemptFolder, AMissingFolderIsAFault) {
  attempt_.dir = "attempts/none";
  EXPECT_THAT(Collect().faults, ElementsAre(HasSubstr("wrote no trace")));
}

TEST_F(AttemptFolder, LinksThatLeadOutOfTheFolderAreNotFollowed) {
  std::ofstream(out_.string() + "-secret.json") << "{}";
  std::filesystem::create_symlink(out_.string() + "-secret.json", Path("trace.json"));
  std::filesystem::create_symlink("/etc/passwd", Path("samples.json"));
  const AttemptData data = Collect();
  EXPECT_THAT(data.traces, IsEmpty());
  EXPECT_THAT(data.faults, ElementsAre("trace.json: is a link that leads out of the folder",
                                       "samples.json: is a link that leads out of the folder"));
  std::filesystem::remove(out_.string() + "-secret.json");
}

TEST_F(AttemptFolder, AnAttemptFolderThatIsALinkOutIsNotFollowed) {
  const std::filesystem::path elsewhere = out_.string() + "-elsewhere";
  std::filesystem::create_directories(elsewhere);
  std::ofstream(elsewhere / "trace.json") << "{}";
  std::filesystem::create_symlink(elsewhere, out_ / "attempts" / "link");
  attempt_.dir = "attempts/link";
  EXPECT_THAT(Collect().faults, ElementsAre("trace.json: is a link that leads out of the folder"));
  attempt_.dir = "../" + elsewhere.filename().string();
  EXPECT_THAT(Collect().faults, ElementsAre(HasSubstr("is not inside the out folder")));
  std::filesystem::remove_all(elsewhere);
}

TEST_F(AttemptFolder, PipesAndFoldersAreNoTraces) {
  ASSERT_EQ(::mkfifo(Path("trace.json").c_str(), 0600), 0);
  std::filesystem::create_directory(Path("trace-2.json"));
  std::filesystem::create_symlink("trace-3.json", Path("trace-3.json"));  // a loop
  EXPECT_THAT(Collect().faults,
              ElementsAre("trace-2.json: is not a regular file", HasSubstr("trace-3.json: "),
                          "trace.json: is not a regular file"));
}

TEST_F(AttemptFolder, AnOutputFileThatIsMissingIsAFault) {
  Put("trace.json", "{}");
  Put("samples.json",
      R"({"schema": "perfgate.samples/1", "outputs": [{"name": "o", "file": "o.f32"}]})");
  const AttemptData data = Collect();
  EXPECT_THAT(data.faults, ElementsAre("o.f32: is missing"));
  ASSERT_TRUE(data.samples.has_value());
  EXPECT_EQ(data.samples->outputs[0].file, "");
}

TEST_F(AttemptFolder, AnOutputFileIsAsLongAsItsShapeSays) {
  const auto collect = [&](const std::string& output) {
    Put("samples.json", R"({"schema": "perfgate.samples/1", "outputs": [{"name": "o", )" + output +
                            R"(, "file": "o.f32"}]})");
    return Collect().faults;
  };
  Put("trace.json", "{}");
  Put("o.f32", std::string(24, 'x'));
  EXPECT_THAT(collect(R"("shape": [2, 3])"), IsEmpty());
  EXPECT_THAT(collect(R"("shape": [2, 6], "stride": 2)"), IsEmpty());
  const char* const wrong = "o.f32: holds 24 bytes, where the shape of output 'o' asks for ";
  EXPECT_THAT(collect(R"("shape": [2, 4])"),
              ElementsAre(wrong + std::string("8 elements of 4 bytes")));
  EXPECT_THAT(collect(R"("shape": [2, 2])"),
              ElementsAre(wrong + std::string("4 elements of 4 bytes")));
  Put("o.f32", std::string(25, 'x'));
  EXPECT_THAT(collect(R"("shape": [2, 3])"), ElementsAre(HasSubstr("holds 25 bytes")));
  Put("o.f32", "");
  EXPECT_THAT(collect(R"("shape": [0, 3])"), IsEmpty());
}

TEST_F(AttemptFolder, TwoOutputsInOneFileAreAFault) {
  const auto collect = [&](const std::string& file) {
    Put("samples.json", R"({"schema": "perfgate.samples/1", "outputs": [
        {"name": "head/0", "file": "o.f32"}, {"name": "head-0", "file": ")" +
                            file + R"("}]})");
    return Collect().faults;
  };
  Put("trace.json", "{}");
  Put("o.f32", "1234");
  Put("p.f32", "1234");
  EXPECT_THAT(collect("p.f32"), IsEmpty());
  const std::string said = ": is the file of two outputs, 'head/0' and 'head-0'";
  EXPECT_THAT(collect("o.f32"), ElementsAre("o.f32" + said));
  EXPECT_THAT(collect("./o.f32"), ElementsAre("./o.f32" + said));
  std::filesystem::create_symlink("o.f32", Path("q.f32"));
  EXPECT_THAT(collect("q.f32"), ElementsAre("q.f32" + said));
  std::filesystem::create_hard_link(Path("o.f32"), Path("r.f32"));
  EXPECT_THAT(collect("r.f32"), ElementsAre("r.f32" + said));
}

}  // namespace
}  // namespace perfgate
