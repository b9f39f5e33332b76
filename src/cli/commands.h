// One function a subcommand; each returns the exit code and throws Error.
#pragma once

#include "cli/options.h"
#include "cli/reports.h"
#include "run/run.h"

namespace perfgate::cli {

int Run(const RunArgs& args, Reports& reports, World& world);
int JudgeStored(const JudgeArgs& args, Reports& reports, World& world);
int ReviewFiles(const ReviewArgs& args, World& world);
int Inspect(const InspectArgs& args, World& world);
int DiffTwo(const DiffArgs& args, Reports& reports, World& world);
int Accept(const AcceptArgs& args, World& world);
int ShowBaselines(const ShowArgs& args, World& world);
int DiffBaselines(const BaselineDiffArgs& args, World& world);
int Verify(const VerifyArgs& args, World& world);
int Ingest(const IngestArgs& args, World& world);
int History(const HistoryArgs& args, World& world);
int Gc(const GcArgs& args, World& world);
int Comment(const CommentArgs& args, World& world);
int ListRules(const RulesListArgs& args, World& world);
int CheckRules(const RulesCheckArgs& args, World& world);
int PrintSchema(const SchemaArgs& args, World& world);
int Doctor(const DoctorArgs& args, World& world);
int CalibrateMachine(const CalibrateArgs& args, World& world);
int SelfTest(const SelftestArgs& args, World& world);
int Init(const InitArgs& args, World& world);

}  // namespace perfgate::cli
