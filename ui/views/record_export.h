// SPDX-License-Identifier: Apache-2.0
// RecordExport: the records that a filter lets through, written to a file as they are read: CSV or NDJSON, whole values.
//
// Nothing is gathered in memory, and the file appears under its name only when all of it is there. CSV tells null (nothing) from
// the empty string (""); what is no UTF-8 is written as base64. Thread rule: UI thread; lines are made on the scan's thread.
#pragma once

#include <QObject>
#include <QString>
#include <memory>
#include <string>

#include "ui/session/record_scan.h"

namespace hw::ui {

// One line without its end.
[[nodiscard]] std::string csv_line(const RecordRow& row);
[[nodiscard]] std::string ndjson_line(const std::string& topic, const RecordRow& row);
[[nodiscard]] std::string csv_header();

class RecordExport : public QObject {
  Q_OBJECT

 public:
  enum class Format : std::uint8_t { csv, ndjson };
  explicit RecordExport(QObject* parent = nullptr);
  // `request`: topic, parts, filter, isolation. One export at a time.
  void start(const std::shared_ptr<BatchReader>& reader, ScanRequest request, const QString& path, Format format);
  void cancel();  // the file does not appear
  [[nodiscard]] bool running() const { return scan_.running(); }
  [[nodiscard]] const ScanProgress& progress() const { return scan_.progress(); }
  [[nodiscard]] const QString& path() const { return path_; }

 signals:
  void progressed();
  // `error` empty: done. After cancel() nothing comes.
  void finished(const QString& error, std::int64_t records);

 private:
  struct Writer;
  RecordScan scan_;
  std::shared_ptr<Writer> writer_;
  QString path_;
};

}  // namespace hw::ui
