// SPDX-License-Identifier: Apache-2.0
// Check: one property of the whole cluster that must hold whatever happens. One file each, numbered; checks.cpp lists them.
//
// A check looks at every node several times a simulated second (sample), hears what nodes tell (event), and looks once more when the
// cluster has come to rest (finish). It changes nothing. Thread rule: one thread.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/event/event.h"
#include "engine/sim/history.h"
#include "engine/sim/node_host.h"
#include "engine/sim/options.h"

namespace hw::sim {

struct Watched {
  const Options& options;
  const std::vector<std::unique_ptr<NodeHost>>& nodes;
  History& history;
};

class Check {
 public:
  // Given what is wrong, in words.
  using Report = std::function<void(const Check& check, const std::string& what)>;

  Check(const Watched& watched, Report report) : watched_(watched), report_(std::move(report)) {}
  virtual ~Check() = default;
  Check(const Check&) = delete;
  Check& operator=(const Check&) = delete;

  [[nodiscard]] virtual const char* name() const noexcept = 0;
  virtual void event(const NodeHost& /*node*/, const event::Any& /*event*/) {}
  virtual void sample() {}
  virtual void finish() {}

 protected:
  [[nodiscard]] const Watched& watched() const noexcept { return watched_; }
  void wrong(const std::string& what) { report_(*this, what); }

 private:
  Watched watched_;
  Report report_;
};

[[nodiscard]] std::vector<std::unique_ptr<Check>> make_checks(const Watched& watched, const Check::Report& report);

// Helpers of several checks.
[[nodiscard]] std::string node_text(const NodeHost& node);
// The topic's name by an image of any node; empty: nobody knows it.
[[nodiscard]] bool is_workload(const std::string& topic) noexcept;  // of which the history is kept

}  // namespace hw::sim
