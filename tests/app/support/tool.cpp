// SPDX-License-Identifier: Apache-2.0
#include "tests/app/support/tool.h"

#include <QJsonDocument>
#include <QProcessEnvironment>

namespace hw::tests {
namespace {

constexpr int kPatienceMs = 60'000;  // of a machine that builds beside it

void prepare(QProcess& process, const QStringList& arguments, const QString& bootstrap) {
  QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
  environment.remove(QStringLiteral("HIGHWATER_BOOTSTRAP"));
  environment.remove(QStringLiteral("HIGHWATER_CONTROL"));
  environment.insert(QStringLiteral("TZ"), QStringLiteral("UTC"));
  if (!bootstrap.isEmpty()) {
    environment.insert(QStringLiteral("HIGHWATER_BOOTSTRAP"), bootstrap);
  }
  process.setProcessEnvironment(environment);
  process.setProgram(QStringLiteral(HW_TOOL));
  process.setArguments(arguments);
}

}  // namespace

QList<QJsonObject> Run::objects() const {
  QList<QJsonObject> all;
  for (const QByteArray& line : out.split('\n')) {
    if (!line.isEmpty()) {
      all.append(QJsonDocument::fromJson(line).object());
    }
  }
  return all;
}

QJsonObject Run::object() const {
  const QList<QJsonObject> all = objects();
  return all.size() == 1 ? all.front() : QJsonObject();
}

Run run_hw(const QStringList& arguments, const QByteArray& input, const QString& bootstrap) {
  QProcess process;
  prepare(process, arguments, bootstrap);
  process.start();
  process.write(input);
  process.closeWriteChannel();
  Run run;
  const bool ended = process.waitForFinished(kPatienceMs);
  if (!ended) {
    process.kill();
    process.waitForFinished();
  }
  run.exit = ended && process.exitStatus() == QProcess::NormalExit ? process.exitCode() : -1;
  run.out = process.readAllStandardOutput();
  run.error = process.readAllStandardError();
  return run;
}

Daemon::Daemon(const QString& folder, const QStringList& arguments) {
  QStringList all{QStringLiteral("--port"), QStringLiteral("0"), QStringLiteral("--config"),
                  QStringLiteral("group.initial.rebalance.delay.ms=0"), QStringLiteral("--config"),
                  QStringLiteral("offsets.topic.num.partitions=4")};
  all += folder.isEmpty() ? QStringList{QStringLiteral("--memory")} : QStringList{QStringLiteral("--dir"), folder};
  process_.setProcessChannelMode(QProcess::ForwardedErrorChannel);
  process_.start(QStringLiteral(HW_DAEMON), all + arguments);
  while (process_.state() != QProcess::NotRunning && !process_.canReadLine()) {
    if (!process_.waitForReadyRead(kPatienceMs)) {
      return;
    }
  }
  const QStringList words = QString::fromUtf8(process_.readLine()).split(QLatin1Char(' '));
  if (words.size() > 1 && words[0] == QStringLiteral("ready")) {
    address_ = words[1];
    if (const auto at = words.indexOf(QStringLiteral("control")); at > 0 && at + 1 < words.size()) {
      control_ = words[at + 1].trimmed();
    }
  }
}

Daemon::~Daemon() { (void)stop(); }

bool Daemon::stop() {
  if (process_.state() == QProcess::NotRunning) {
    return false;
  }
  process_.terminate();
  if (!process_.waitForFinished(kPatienceMs)) {
    process_.kill();
    process_.waitForFinished();
    return false;
  }
  return process_.exitStatus() == QProcess::NormalExit && process_.exitCode() == 0;
}

Run Daemon::hw(const QStringList& arguments, const QByteArray& input) const { return run_hw(arguments, input, address_); }

std::unique_ptr<QProcess> Daemon::start_hw(const QStringList& arguments, const QString& output) const {
  auto process = std::make_unique<QProcess>();
  prepare(*process, arguments, address_);
  if (!output.isEmpty()) {
    process->setStandardOutputFile(output);
  }
  process->start();
  return process;
}

}  // namespace hw::tests
