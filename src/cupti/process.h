// The one collector of the process, across forks and to its end.
#pragma once

namespace perfgate::cupti {

class Collector;

// Made on first use; nullptr in a child that was forked from a process with CUDA in use, which
// neither CUDA nor the collector survives.
Collector* ProcessCollector();
// The collector, if there is one already and it is this process's own.
Collector* ExistingCollector();

}  // namespace perfgate::cupti
