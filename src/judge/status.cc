#include "judge/status.h"

namespace perfgate {

std::string_view ToString(Status status) {
  switch (status) {
    case Status::kPass:
      return "pass";
    case Status::kImproved:
      return "improved";
    case Status::kWarn:
      return "warn";
    case Status::kFail:
      return "fail";
    case Status::kInconclusive:
      return "inconclusive";
    case Status::kError:
      return "error";
    case Status::kMissing:
      return "missing";
    case Status::kNotComparable:
      return "not_comparable";
    case Status::kSuspicious:
      return "suspicious";
    case Status::kSkipped:
      return "skipped";
    case Status::kWaived:
      return "waived";
  }
  return "error";
}

std::string_view ToString(Lack lack) {
  switch (lack) {
    case Lack::kBaseline:
      return "baseline";
    case Lack::kPairs:
      return "pairs";
    case Lack::kSameWork:
      return "same_work";
    case Lack::kHistory:
      return "history";
    case Lack::kSince:
      return "since";
  }
  return "baseline";
}

std::string_view ToString(Result result) {
  switch (result) {
    case Result::kPass:
      return "pass";
    case Result::kFail:
      return "fail";
    case Result::kError:
      return "error";
    case Result::kInconclusive:
      return "inconclusive";
    case Result::kNotComparable:
      return "not_comparable";
  }
  return "error";
}

int Weight(Status status) {
  switch (status) {
    case Status::kSkipped:
      return 0;
    case Status::kPass:
      return 1;
    case Status::kImproved:
      return 2;
    case Status::kWaived:
      return 3;
    case Status::kWarn:
      return 4;
    case Status::kInconclusive:
      return 5;
    case Status::kMissing:
      return 6;
    case Status::kNotComparable:
      return 7;
    case Status::kFail:
      return 8;
    case Status::kSuspicious:
      return 9;
    case Status::kError:
      return 10;
  }
  return 10;
}

int ExitCode(Status status) {
  switch (status) {
    case Status::kError:
    case Status::kSuspicious:
      return 3;
    case Status::kFail:
      return 1;
    case Status::kMissing:
    case Status::kNotComparable:
    case Status::kInconclusive:
      return 4;
    case Status::kPass:
    case Status::kImproved:
    case Status::kWarn:
    case Status::kSkipped:
    case Status::kWaived:
      return 0;
  }
  return 3;
}

int WorseExit(int a, int b) {
  for (const int code : {3, 1, 4}) {
    if (a == code || b == code) return code;
  }
  return 0;
}

Result ResultOf(int exit_code, bool only_inconclusive) {
  switch (exit_code) {
    case 0:
      return Result::kPass;
    case 1:
      return Result::kFail;
    case 4:
      return only_inconclusive ? Result::kInconclusive : Result::kNotComparable;
    default:
      return Result::kError;
  }
}

}  // namespace perfgate
