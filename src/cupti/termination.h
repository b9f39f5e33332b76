// SIGTERM while a window is open: the file is finished first, then the process ends by the signal
// as it would have.
#pragma once

namespace perfgate::cupti {

// Takes SIGTERM if it would end the process; one that the program handles is its own affair. At the
// signal `wake_fd` is written to.
void WatchTermination(int wake_fd);
// The signal came.
bool TerminationAsked();
// Gives SIGTERM back, if it is still ours.
void UnwatchTermination();
// Ends the process by SIGTERM.
void Terminate();

}  // namespace perfgate::cupti
