#include "run/ask.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "base/text.h"

namespace perfgate {
namespace {

using testing::HasSubstr;

constexpr int64_t kWithinNs = 60'000'000'000;

TEST(Ask, AResponseIsWhatTheProgramPrintedAndHowItEnded) {
  const Response response =
      Ask({"sh", "-c", "echo one; echo two; echo fault >&2; exit 3"}, kWithinNs, RealWorld());
  EXPECT_TRUE(response.started());
  EXPECT_EQ(response.text, "one\ntwo\n");
  EXPECT_EQ(response.result.exit_code, 3);
  EXPECT_EQ(response.result.stderr_tail, "fault\n");
}

TEST(Ask, AProgramThatIsNotThereHasNotStarted) {
  const Response response = Ask({"no-such-program-of-ours"}, kWithinNs, RealWorld());
  EXPECT_FALSE(response.started());
  EXPECT_EQ(response.text, "");
  EXPECT_THAT(response.result.fault, HasSubstr("not found"));
}

TEST(Ask, TheFolderThatAProgramRanInIsGone) {
  const Response response = Ask({"sh", "-c", "touch left; pwd"}, kWithinNs, RealWorld());
  const std::filesystem::path folder(std::string(Trim(response.text)));
  EXPECT_THAT(folder.filename().string(), HasSubstr("perfgate-ask-"));
  EXPECT_FALSE(std::filesystem::exists(folder));
}

}  // namespace
}  // namespace perfgate
