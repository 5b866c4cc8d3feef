// SPDX-License-Identifier: Apache-2.0
// highwaterd and hw as processes: a daemon on a port of the kernel's choice, and runs of the tool against it.
#pragma once

#include <QByteArray>
#include <QJsonObject>
#include <QList>
#include <QProcess>
#include <QString>
#include <QStringList>
#include <memory>

namespace hw::tests {

struct Run {
  int exit = -1;  // -1: it did not end
  QByteArray out;
  QByteArray error;
  // Lines of `out` as JSON objects; a line that is none is an empty object.
  [[nodiscard]] QList<QJsonObject> objects() const;
  [[nodiscard]] QJsonObject object() const;  // the only one
};

class Daemon {
 public:
  // In memory where `folder` is empty. `arguments` go to highwaterd.
  explicit Daemon(const QString& folder = {}, const QStringList& arguments = {});
  ~Daemon();
  [[nodiscard]] bool started() const { return !address_.isEmpty(); }
  [[nodiscard]] QString address() const { return address_; }
  [[nodiscard]] QString control() const { return control_; }  // where its control port is; empty: it has none
  bool stop();  // SIGTERM; true: it ended with 0

  // `hw ARGUMENTS` with this daemon as bootstrap.
  [[nodiscard]] Run hw(const QStringList& arguments, const QByteArray& input = {}) const;
  // The same, running on; the caller waits for it. Its output goes to the file `output` where that is given.
  [[nodiscard]] std::unique_ptr<QProcess> start_hw(const QStringList& arguments, const QString& output = {}) const;

 private:
  QProcess process_;
  QString address_;
  QString control_;
};

// Without a daemon.
[[nodiscard]] Run run_hw(const QStringList& arguments, const QByteArray& input = {}, const QString& bootstrap = {});

}  // namespace hw::tests
