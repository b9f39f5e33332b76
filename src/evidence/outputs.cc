#include "evidence/outputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <fstream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "evidence/merge.h"
#include "stats/stats.h"

namespace perfgate {
namespace {

namespace fs = std::filesystem;

static_assert(std::endian::native == std::endian::little, "outputs are little-endian float32");

constexpr size_t kMostOutputs = 4096;  // of a process
constexpr size_t kLongestName = 200;
constexpr int64_t kPieceElements = 1 << 16;

std::vector<int64_t> IndexOf(int64_t position, const Output& output) {
  int64_t flat = position * output.stride;
  std::vector<int64_t> index(output.shape.size());
  for (size_t i = index.size(); i-- > 0;) {
    index[i] = flat % output.shape[i];
    flat /= output.shape[i];
  }
  return index;
}

std::string ShapeText(const Output& output) {
  std::vector<std::string> sizes;
  for (const int64_t size : output.shape) sizes.push_back(fmt::format("{}", size));
  return Shorten(fmt::format("[{}]", Join(sizes, ", ")), 80);
}

std::string Named(const Output& output) {
  return fmt::format("output '{}'", Shorten(Printable(output.name), 80));
}

// NaN and infinities among elements that come in pieces, the first of each by its place.
struct NotFinite {
  int64_t nan_count = 0, inf_count = 0, first_nan = -1, first_inf = -1, read = 0;

  void Add(std::span<const float> values) {
    for (const float value : values) {
      const int64_t at = read++;
      if (std::isnan(value) && nan_count++ == 0) first_nan = at;
      if (std::isinf(value) && inf_count++ == 0) first_inf = at;
    }
  }
};

// The next elements of a file that CollectAttempt has seen to be long enough; false if it is not.
bool Next(std::ifstream& file, int64_t elements, std::vector<float>& into) {
  into.resize(static_cast<size_t>(elements));
  const auto bytes = static_cast<std::streamsize>(into.size() * sizeof(float));
  file.read(reinterpret_cast<char*>(into.data()), bytes);
  return file.gcount() == bytes;
}

// The outputs of one process as rows, and why they were not compared; "" if they were.
class ProcessOutputs {
 public:
  // `reference` may be null: nothing is compared then.
  ProcessOutputs(const AttemptData& data, const AttemptData* reference, const fs::path& out_dir)
      : data_(data), reference_(reference), out_dir_(out_dir) {
    const std::vector<Output>& outputs = data.samples->outputs;
    if (reference != nullptr) not_compared_ = FindMismatch();
    for (const Output& output : outputs) {
      if (rows_.size() < kMostOutputs) AddRow(output);
    }
    if (reference != nullptr && not_compared_.empty()) not_compared_ = FindNothingCompared();
  }

  std::vector<OutputRow>& rows() { return rows_; }
  const std::string& not_compared() const { return not_compared_; }

  // Over all outputs; 0 of none.
  double Worst(double OutputError::*error) const {
    double worst = 0;
    for (const OutputRow& row : rows_) {
      if (row.error) worst = std::max(worst, *row.error.*error);
    }
    return worst;
  }

 private:
  std::string FindMismatch() const {
    const std::vector<Output>&outputs = data_.samples->outputs,
          &others = reference_->samples->outputs;
    if (outputs.empty()) return "the case saved no outputs";
    if (outputs.size() > kMostOutputs) return fmt::format("more than {} outputs", kMostOutputs);
    std::set<std::string> names;
    for (const Output& output : outputs) {
      names.insert(output.name);
      const Output* other = Find(output);
      if (other == nullptr) return fmt::format("there is no {}", Named(output));
      if (output.shape != other->shape) {
        return fmt::format("{} has shape {}, there {}", Named(output), ShapeText(output),
                           ShapeText(*other));
      }
      if (output.file.empty() || other->file.empty()) {
        return fmt::format("{} was not saved{}", Named(output),
                           output.file.empty() ? "" : " there");
      }
      if (output.stride != other->stride) {
        return fmt::format("of {} every {}. element was saved, there every {}.", Named(output),
                           output.stride, other->stride);
      }
    }
    for (const Output& other : others) {
      if (!names.contains(other.name)) return fmt::format("only it has {}", Named(other));
    }
    const std::string &inputs = data_.samples->inputs, &theirs = reference_->samples->inputs;
    if (inputs.empty() || theirs.empty() || inputs == theirs) return "";
    return fmt::format("its inputs are other ones ({}, there {})", Shorten(Printable(inputs), 80),
                       Shorten(Printable(theirs), 80));
  }

  std::string FindNothingCompared() const {
    int64_t compared = 0;
    for (const OutputRow& row : rows_) compared += row.error->compared;
    return compared == 0 ? "no output has an element" : "";
  }

  const Output* Find(const Output& output) const {
    const std::vector<Output>& others = reference_->samples->outputs;
    const auto found = std::find_if(others.begin(), others.end(),
                                    [&](const Output& o) { return o.name == output.name; });
    return found == others.end() ? nullptr : &*found;
  }

  void AddRow(const Output& output) {
    OutputRow row;
    row.process = data_.attempt.process;
    row.name = Shorten(output.name, kLongestName);
    row.dtype = Shorten(output.dtype, kLongestName);
    row.shape = output.shape;
    row.nan_count = output.nan_count;
    row.inf_count = output.inf_count;
    if (!output.file.empty()) {
      const bool compares = reference_ != nullptr && not_compared_.empty();
      Read(output, compares ? Find(output) : nullptr, row);
    }
    rows_.push_back(std::move(row));
  }

  void Read(const Output& output, const Output* other, OutputRow& row) {
    std::ifstream file(out_dir_ / data_.attempt.dir / output.file, std::ios::binary);
    std::ifstream theirs;
    if (other != nullptr) {
      theirs.open(out_dir_ / reference_->attempt.dir / other->file, std::ios::binary);
    }
    NotFinite seen;
    TensorErrorSum sum;
    std::vector<float> values, wanted;
    for (int64_t left = SavedElementsOf(output); left > 0; left -= kPieceElements) {
      const int64_t count = std::min(left, kPieceElements);
      if (!Next(file, count, values) || (other != nullptr && !Next(theirs, count, wanted))) {
        not_compared_ = Named(output) + " could not be read to its end";
        return;
      }
      seen.Add(values);
      if (other != nullptr) sum.Add(values, wanted);
    }
    TakeNotFinite(output, seen, row);
    if (other != nullptr) TakeError(output, *other, sum.Total(), row);
  }

  // What the elements show counts, whatever the workload says; of a sample it is the least.
  static void TakeNotFinite(const Output& output, const NotFinite& seen, OutputRow& row) {
    const auto count = [&](int64_t said, int64_t found) {
      if (output.stride == 1) return found;
      return found > 0 ? std::max(said, found) : said;
    };
    row.nan_count = count(row.nan_count, seen.nan_count);
    row.inf_count = count(row.inf_count, seen.inf_count);
    if (seen.nan_count > 0) row.first_nan = IndexOf(seen.first_nan, output);
    if (seen.inf_count > 0) row.first_inf = IndexOf(seen.first_inf, output);
  }

  void TakeError(const Output& output, const Output& other, const TensorError& total,
                 OutputRow& row) {
    OutputError error;
    error.reference_dtype = other.dtype;
    error.compared = total.compared;
    error.unlike = total.unlike;
    error.relative = total.relative;
    error.largest = total.largest;
    error.value = double{total.value};
    error.reference = double{total.reference};
    if (total.compared > 0) error.index = IndexOf(total.at, output);
    if (total.compared > 0 && total.numbers == 0 && total.unlike == 0) {
      not_compared_ =
          fmt::format("of {} no element is a finite number, here and there", Named(output));
    }
    row.error = std::move(error);
  }

  const AttemptData& data_;
  const AttemptData* reference_;
  const fs::path& out_dir_;
  std::vector<OutputRow> rows_;
  std::string not_compared_;
};

bool WentWell(const AttemptData& data) {
  return data.faults.empty() && data.result.outcome == Outcome::kExited &&
         data.result.exit_code == 0;
}

class CaseOutputs {
 public:
  CaseOutputs(const Case& declared, std::span<const AttemptData> attempts,
              std::span<const AttemptData> reference, const fs::path& out_dir, Evidence& evidence)
      : declared_(declared),
        attempts_(attempts),
        references_(reference),
        out_dir_(out_dir),
        evidence_(evidence) {}

  void Append() {
    if (!declared_.reference.empty()) FindReference();
    for (const AttemptData& data : attempts_) {
      if (data.samples) AppendProcess(data);
      if (!data.samples && WentWell(data)) NotCompared(data, "the case wrote no samples.json");
    }
    if (reference_ == nullptr) return;
    evidence_.reference = declared_.reference;
    if (declared_.reference == declared_.name && !compared_) {
      evidence_.unavailable.emplace(MetricId::kRelativeError, kReferenceAlone);
      evidence_.unavailable.emplace(MetricId::kMaxAbsError, kReferenceAlone);
    }
    NotePlant();
    NoteUnknownInputs();
    NoteSamples();
    NoteSpreadOfReference();
  }

 private:
  void FindReference() {
    std::string why = "it was not run";
    for (const AttemptData& data : references_) {
      if (!WentWell(data)) {
        why = data.faults.empty() ? "it failed" : data.faults.front();
      } else if (!data.samples || data.samples->outputs.empty()) {
        why = "it saved no outputs";
      } else {
        reference_ = &data;
        return;
      }
    }
    if (!attempts_.empty()) NotCompared(attempts_.front(), why);
  }

  // Of the base it is only unavailable: what it computes is not asked.
  void NotCompared(const AttemptData& data, const std::string& why) {
    if (declared_.reference.empty()) return;
    const std::string reason =
        fmt::format("not compared with the reference {}: {}", Printable(declared_.reference), why);
    evidence_.unavailable.emplace(MetricId::kRelativeError, reason);
    evidence_.unavailable.emplace(MetricId::kMaxAbsError, reason);
    if (data.attempt.side == Side::kHead) AddUnique(evidence_.incomplete_because, reason);
  }

  // What is compared with itself was not compared.
  bool IsReference(const AttemptData& data) const {
    return reference_ != nullptr && data.attempt.dir == reference_->attempt.dir;
  }

  void AppendProcess(const AttemptData& data) {
    const bool compares = reference_ != nullptr && WentWell(data) && !IsReference(data);
    ProcessOutputs outputs(data, compares ? reference_ : nullptr, out_dir_);
    AddCount(data, outputs.rows(), MetricId::kNanCount, &OutputRow::nan_count);
    AddCount(data, outputs.rows(), MetricId::kInfCount, &OutputRow::inf_count);
    if (!outputs.not_compared().empty()) {
      NotCompared(data, outputs.not_compared());
    } else if (compares) {
      compared_ = true;
      Observe(data, MetricId::kRelativeError, outputs.Worst(&OutputError::relative));
      Observe(data, MetricId::kMaxAbsError, outputs.Worst(&OutputError::largest));
    }
    for (OutputRow& row : outputs.rows()) evidence_.outputs.push_back(std::move(row));
  }

  // A count that one output does not say is unknown for all, never 0.
  void AddCount(const AttemptData& data, const std::vector<OutputRow>& rows, MetricId metric,
                int64_t OutputRow::*count) {
    double total = 0;  // of numbers that the workload chose: their sum may not fit into 64 bits
    for (const OutputRow& row : rows) {
      if (row.*count < 0) {
        evidence_.unavailable.emplace(metric, fmt::format("samples.json: output '{}' has no {}",
                                                          Printable(row.name), Info(metric).name));
        return;
      }
      total += static_cast<double>(row.*count);
    }
    if (!rows.empty()) Observe(data, metric, total);
  }

  void Observe(const AttemptData& data, MetricId metric, double value) {
    const Attempt& attempt = data.attempt;
    evidence_.values.push_back({metric, attempt.side, attempt.pair, attempt.process, {value}});
  }

  // A case that is judged itself may be planted too: what it makes of others is no fault of theirs.
  void NotePlant() {
    const std::string& plant = reference_->samples->plant;
    if (plant.empty()) return;
    AddUnique(evidence_.notes, fmt::format("the reference {} has the planted defect '{}'",
                                           Printable(declared_.reference), Printable(plant)));
  }

  void NoteUnknownInputs() {
    const bool known = !reference_->samples->inputs.empty() &&
                       std::all_of(attempts_.begin(), attempts_.end(), [](const AttemptData& d) {
                         return !d.samples || !d.samples->inputs.empty();
                       });
    if (known) return;
    AddUnique(evidence_.notes,
              fmt::format("whether the reference {} had the same inputs is not known: samples.json "
                          "names no `inputs`",
                          Printable(declared_.reference)));
  }

  void NoteSamples() {
    for (const AttemptData& data : attempts_) {
      if (!data.samples) continue;
      for (const Output& output : data.samples->outputs) {
        if (output.stride == 1) continue;
        AddUnique(evidence_.notes,
                  fmt::format("of {} {} of {} elements were saved and compared", Named(output),
                              SavedElementsOf(output), ElementsOf(output)));
      }
    }
  }

  // What two processes of the reference differ by, no case can be blamed for.
  void NoteSpreadOfReference() {
    double spread = 0;
    for (const AttemptData& data : references_) {
      if (&data == reference_ || !WentWell(data) || !data.samples) continue;
      spread = std::max(spread,
                        ProcessOutputs(data, reference_, out_dir_).Worst(&OutputError::relative));
    }
    if (spread == 0 || declared_.reference == declared_.name) return;
    AddUnique(
        evidence_.notes,
        fmt::format("processes of the reference {} differ from each other by a relative error "
                    "of up to {:.2g}",
                    Printable(declared_.reference), spread));
  }

  const Case& declared_;
  std::span<const AttemptData> attempts_, references_;
  const fs::path& out_dir_;
  Evidence& evidence_;
  const AttemptData* reference_ = nullptr;
  bool compared_ = false;  // any process
};

}  // namespace

void AppendOutputs(const Case& declared, std::span<const AttemptData> attempts,
                   std::span<const AttemptData> reference, const fs::path& out_dir,
                   Evidence& evidence) {
  CaseOutputs(declared, attempts, reference, out_dir, evidence).Append();
}

}  // namespace perfgate
