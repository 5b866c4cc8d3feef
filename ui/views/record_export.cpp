// SPDX-License-Identifier: Apache-2.0
#include "ui/views/record_export.h"

#include <QByteArray>
#include <QDateTime>
#include <QSaveFile>
#include <atomic>
#include <mutex>
#include <optional>
#include <string_view>

namespace hw::ui {

namespace {

// Well-formed UTF-8, as RFC 3629 has it.
bool is_utf8(std::string_view text) {
  const auto at = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  for (std::size_t i = 0; i < text.size();) {
    const unsigned c = at(i);
    if (c < 0x80) {
      ++i;
      continue;
    }
    const int more = c >= 0xc2 && c <= 0xdf ? 1 : ((c & 0xf0U) == 0xe0U ? 2 : (c >= 0xf0 && c <= 0xf4 ? 3 : 0));
    if (more == 0) {
      return false;
    }
    for (int k = 1; k <= more; ++k) {
      if ((at(i + static_cast<std::size_t>(k)) & 0xc0U) != 0x80U) {
        return false;
      }
    }
    const unsigned second = at(i + 1);
    if ((c == 0xe0 && second < 0xa0) || (c == 0xed && second > 0x9f) || (c == 0xf0 && second < 0x90) || (c == 0xf4 && second > 0x8f)) {
      return false;
    }
    i += static_cast<std::size_t>(more) + 1;
  }
  return true;
}

std::string base64(std::string_view bytes) {
  return QByteArray::fromRawData(bytes.data(), static_cast<qsizetype>(bytes.size())).toBase64().toStdString();
}

void append_json(std::string& out, std::string_view text) {
  static constexpr char kHex[] = "0123456789abcdef";
  out += '"';
  for (const char c : text) {
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          out += "\\u00";
          out += kHex[static_cast<unsigned char>(c) >> 4];
          out += kHex[static_cast<unsigned char>(c) & 15U];
        } else {
          out += c;
        }
    }
  }
  out += '"';
}

void append_json(std::string& out, const std::optional<Bytes>& bytes) {
  if (!bytes) {
    out += "null";
  } else if (is_utf8(bytes->text())) {
    append_json(out, bytes->text());
  } else {
    out += "{\"base64\":\"" + base64(bytes->text()) + "\"}";
  }
}

void append_csv(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    if (c == '"') {
      out += '"';
    }
    out += c;
  }
  out += '"';
}

void append_csv(std::string& out, const std::optional<Bytes>& bytes) {
  if (!bytes) {
    return;  // null is nothing at all, the empty string is ""
  }
  append_csv(out, is_utf8(bytes->text()) ? std::string(bytes->text()) : "base64:" + base64(bytes->text()));
}

std::string iso(std::int64_t ms) {
  return ms < 0 ? std::string() : QDateTime::fromMSecsSinceEpoch(ms, Qt::UTC).toString(Qt::ISODateWithMs).toStdString();
}

}  // namespace

std::string csv_header() { return "partition,offset,timestamp,key,value,headers"; }

std::string csv_line(const RecordRow& row) {
  std::string out = std::to_string(row.partition) + ',' + std::to_string(row.offset) + ',' + iso(row.timestamp_ms) + ',';
  append_csv(out, row.key);
  out += ',';
  append_csv(out, row.value);
  out += ',';
  std::string headers;
  for (const auto& [name, value] : row.headers) {
    headers += headers.empty() ? "[" : ",";
    headers += '[';
    append_json(headers, std::string_view(name));
    headers += ',';
    append_json(headers, value);
    headers += ']';
  }
  if (!headers.empty()) {
    append_csv(out, headers + ']');
  }
  return out;
}

std::string ndjson_line(const std::string& topic, const RecordRow& row) {
  std::string out = "{\"topic\":";
  append_json(out, std::string_view(topic));
  out += ",\"partition\":" + std::to_string(row.partition) + ",\"offset\":" + std::to_string(row.offset) +
         ",\"timestamp_ms\":" + std::to_string(row.timestamp_ms) + ",\"time\":\"" + iso(row.timestamp_ms) + "\",\"key\":";
  append_json(out, row.key);
  out += ",\"value\":";
  append_json(out, row.value);
  out += ",\"headers\":[";
  bool first = true;
  for (const auto& [name, value] : row.headers) {
    out += first ? "{\"name\":" : ",{\"name\":";
    first = false;
    append_json(out, std::string_view(name));
    out += ",\"value\":";
    append_json(out, value);
    out += '}';
  }
  out += "]}";
  return out;
}

// Belongs to the scan's thread once the scan has begun.
struct RecordExport::Writer {
  QSaveFile file;
  Format format = Format::csv;
  std::string topic;
  std::atomic<bool> failed{false};
  std::atomic<std::int64_t> written{0};
  std::mutex mutex;
  QString error;

  bool put(const std::string& text) { return file.write(text.data(), static_cast<qint64>(text.size())) == static_cast<qint64>(text.size()); }
  void fail() {
    const std::lock_guard lock(mutex);
    error = file.errorString();
    failed = true;
  }
};

RecordExport::RecordExport(QObject* parent) : QObject(parent), scan_(this) {
  connect(&scan_, &RecordScan::progressed, this, &RecordExport::progressed);
  connect(&scan_, &RecordScan::finished, this, [this] {
    QString error = scan_.progress().error;
    std::int64_t records = 0;
    if (writer_ != nullptr) {
      const std::lock_guard lock(writer_->mutex);
      error = writer_->failed ? writer_->error : error;
      records = writer_->written;
    }
    writer_.reset();
    Q_EMIT finished(error, records);
  });
}

void RecordExport::start(const std::shared_ptr<BatchReader>& reader, ScanRequest request, const QString& path, Format format) {
  cancel();
  path_ = path;
  writer_ = std::make_shared<Writer>();
  writer_->format = format;
  writer_->topic = request.topic;
  writer_->file.setFileName(path);
  if (!writer_->file.open(QIODevice::WriteOnly) || (format == Format::csv && !writer_->put(csv_header() + "\n"))) {
    const QString error = writer_->file.errorString();
    writer_.reset();
    Q_EMIT finished(error, 0);
    return;
  }
  request.value_head = 0;
  request.max_rows = INT64_MAX;
  request.newest_first = false;
  request.sink = [writer = writer_](std::vector<RecordRow>& rows, bool end) {
    std::string out;
    for (const RecordRow& row : rows) {
      out += writer->format == Format::csv ? csv_line(row) : ndjson_line(writer->topic, row);
      out += '\n';
      if (out.size() > (1U << 20)) {
        if (!writer->put(out)) {
          writer->fail();
          return false;
        }
        out.clear();
      }
    }
    if (!writer->put(out)) {
      writer->fail();
      return false;
    }
    writer->written += static_cast<std::int64_t>(rows.size());
    if (end && !writer->file.commit()) {
      writer->fail();
      return false;
    }
    return true;
  };
  scan_.start(reader, std::move(request));
}

void RecordExport::cancel() {
  scan_.cancel();
  writer_.reset();  // a QSaveFile that was not committed leaves nothing behind
}

}  // namespace hw::ui
