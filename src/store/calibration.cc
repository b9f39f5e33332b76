// Calibrations of this machine and others.
#include <utility>

#include "store/impl.h"
#include "store/store.h"

namespace perfgate {

void Store::AddCalibrations(std::span<const Calibration> calibrations) {
  Database& database = impl_->database;
  Transaction transaction(database);
  Statement add(database,
                "INSERT INTO calibration (fingerprint, document) VALUES (:fingerprint, :document) "
                "ON CONFLICT DO UPDATE SET document = excluded.document");
  for (const Calibration& calibration : calibrations) {
    add.Bind(":fingerprint", calibration.Fingerprint());
    add.Bind(":document", WriteJson(ToJson(calibration), 0)).Run();
  }
  transaction.Commit();
}

std::vector<Calibration> Store::Calibrations(const std::string& until) const {
  Statement all(impl_->database,
                "SELECT document FROM calibration WHERE :until = '' OR measured <= :until "
                "ORDER BY measured, calibration_id");
  all.Bind(":until", until);
  std::vector<Calibration> calibrations;
  while (all.Step()) {
    std::optional<Calibration> known =
        CalibrationFromJson(ParseJson(all.Text(0), impl_->database.file().string()));
    if (known) calibrations.push_back(std::move(*known));
  }
  return calibrations;
}

}  // namespace perfgate
