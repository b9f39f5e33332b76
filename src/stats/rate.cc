#include <boost/math/distributions/binomial.hpp>

#include "base/error.h"
#include "stats/stats.h"

namespace perfgate {

double UpperBoundOfRate(int events, int trials, double confidence) {
  if (events < 0 || events > trials) throw Error(Fault::kBug, "more events than trials");
  if (events == trials) return 1;
  return boost::math::binomial_distribution<>::find_upper_bound_on_p(trials, events,
                                                                     1 - confidence);
}

}  // namespace perfgate
