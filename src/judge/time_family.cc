#include "judge/time_family.h"

#include <utility>
#include <vector>

#include "judge/checks.h"

namespace perfgate {
namespace {

// By round: the pairs of which both sides have a value.
std::vector<PairsOfRound> RoundsOf(const CasePair& pair, MetricId id) {
  const std::map<int, double> base = ValuesByPair(*pair.head.base_side, id),
                              head = ValuesByPair(pair.head, id);
  std::vector<PairsOfRound> rounds(pair.rounds.size());
  for (size_t i = 0; i < rounds.size(); ++i) {
    const PairRound& round = pair.rounds[i];
    rounds[i].planned = round.pairs;
    for (int number = round.first_pair; number < round.first_pair + round.pairs; ++number) {
      const auto of_base = base.find(number), of_head = head.find(number);
      if (of_base == base.end() || of_head == head.end()) continue;
      rounds[i].base.push_back(of_base->second);
      rounds[i].head.push_back(of_head->second);
    }
  }
  return rounds;
}

}  // namespace

TimeFamily::TimeFamily(std::span<const Rule> rules, std::span<const CasePair> cases) {
  std::map<Key, PairedMetric> members;
  for (const Rule& rule : rules) {
    const auto* check = std::get_if<RegressionCheck>(&rule.check);
    for (const CasePair& pair : cases) {
      if (check == nullptr || !pair.head.base_side || pair.rounds.empty() ||
          !pair.head.Complete() || !NotForThisCase(rule, pair).empty()) {
        continue;
      }
      for (const MetricId id : rule.metrics) {
        PairedMetric member{check->tolerance, RoundsOf(pair, id), 0};
        if (const Calibration* known = FindCalibration(pair.calibrations, id)) {
          member.known_noise = known->noise;
        }
        if (member.rounds.front().base.empty()) continue;
        members.insert_or_assign({rule.full_id, pair.declared.name, id}, std::move(member));
      }
    }
  }
  std::vector<PairedMetric> family;
  for (const auto& [key, member] : members) family.push_back(member);
  const std::vector<PairedTimes> times = CompareFamily(family);
  size_t i = 0;
  for (const auto& [key, member] : members) times_.emplace(key, times[i++]);
}

const PairedTimes* TimeFamily::Find(const std::string& rule, const std::string& case_name,
                                    MetricId id) const {
  const auto found = times_.find({rule, case_name, id});
  return found == times_.end() ? nullptr : &found->second;
}

}  // namespace perfgate
