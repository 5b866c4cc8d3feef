// SPDX-License-Identifier: Apache-2.0
#include "ui/views/record_text.h"

#include <QByteArray>
#include <QCoreApplication>
#include <QDateTime>
#include <QJsonDocument>
#include <QJsonObject>
#include <QStringDecoder>
#include <algorithm>

#include "ui/painting/shapes.h"
#include "ui/painting/text.h"

namespace hw::ui {

namespace {

constexpr std::size_t kJudged = 4'096;
constexpr std::size_t kCopied = 1U << 20;

QByteArrayView head_of(const Bytes& bytes, std::size_t max) {
  const std::string_view text = bytes.text().substr(0, max);
  return {text.data(), static_cast<qsizetype>(text.size())};
}

// Decodes a head; a character cut off at its end does not count as an error.
std::optional<QString> decoded(const Bytes& bytes, std::size_t max) {
  QStringDecoder decode(QStringDecoder::Utf8);
  QString text = decode(head_of(bytes, max));
  if (decode.hasError()) {
    return std::nullopt;
  }
  return text;
}

bool looks_like_text(QStringView text) {
  return std::none_of(text.begin(), text.end(), [](QChar c) {
    return c.unicode() < 0x20 && c != QLatin1Char('\n') && c != QLatin1Char('\r') && c != QLatin1Char('\t');
  });
}

// Indents JSON without understanding more than strings and brackets, so that numbers keep every digit.
QString indented(QStringView json, int max_chars) {
  QString out;
  out.reserve(json.size() * 2);
  int depth = 0;
  bool in_string = false;
  bool escaped = false;
  const auto new_line = [&] { out += QLatin1Char('\n') + QString(std::max(0, depth) * 2, QLatin1Char(' ')); };
  for (qsizetype i = 0; i < json.size() && out.size() < max_chars; ++i) {
    const QChar c = json[i];
    if (in_string) {
      out += c;
      if (escaped) {
        escaped = false;
      } else if (c == QLatin1Char('\\')) {
        escaped = true;
      } else if (c == QLatin1Char('"')) {
        in_string = false;
      }
      continue;
    }
    if (c == QLatin1Char('"')) {
      in_string = true;
      out += c;
    } else if (c == QLatin1Char('{') || c == QLatin1Char('[')) {
      out += c;
      qsizetype next = i + 1;
      while (next < json.size() && json[next].isSpace()) {
        ++next;
      }
      if (next < json.size() && (json[next] == QLatin1Char('}') || json[next] == QLatin1Char(']'))) {
        out += json[next];
        i = next;
        continue;
      }
      depth = std::min(depth + 1, 64);
      new_line();
    } else if (c == QLatin1Char('}') || c == QLatin1Char(']')) {
      depth = std::max(0, depth - 1);
      new_line();
      out += c;
    } else if (c == QLatin1Char(',')) {
      out += c;
      new_line();
    } else if (c == QLatin1Char(':')) {
      out += QStringLiteral(": ");
    } else if (!c.isSpace()) {
      out += c;
    }
  }
  return out;
}

QString quoted(const QString& text) {
  QString out = QStringLiteral("\"");
  for (const QChar c : text) {
    switch (c.unicode()) {
      case '"':
        out += QStringLiteral("\\\"");
        break;
      case '\\':
        out += QStringLiteral("\\\\");
        break;
      case '\n':
        out += QStringLiteral("\\n");
        break;
      case '\r':
        out += QStringLiteral("\\r");
        break;
      case '\t':
        out += QStringLiteral("\\t");
        break;
      default:
        if (c.unicode() < 0x20) {
          out += QStringLiteral("\\u%1").arg(c.unicode(), 4, 16, QLatin1Char('0'));
        } else {
          out += c;
        }
    }
  }
  return out + QLatin1Char('"');
}

}  // namespace

ValueKind value_kind(const std::optional<Bytes>& value) {
  if (!value) {
    return ValueKind::null;
  }
  if (value->empty()) {
    return ValueKind::empty;
  }
  const std::optional<QString> text = decoded(*value, kJudged);
  if (!text || !looks_like_text(*text)) {
    return ValueKind::binary;
  }
  const QString trimmed = text->trimmed();
  if (trimmed.startsWith(QLatin1Char('{')) || trimmed.startsWith(QLatin1Char('['))) {
    // A whole small value is checked; of a large one only the beginning is known.
    if (value->size() > kJudged || !QJsonDocument::fromJson(trimmed.toUtf8()).isNull()) {
      return ValueKind::json;
    }
  }
  return ValueKind::text;
}

QString value_kind_name(ValueKind kind) {
  const auto tr = [](const char* text) { return QCoreApplication::translate("RecordText", text); };
  switch (kind) {
    case ValueKind::null:
      return tr("null");
    case ValueKind::empty:
      return tr("empty");
    case ValueKind::json:
      return QStringLiteral("JSON");
    case ValueKind::text:
      return tr("text");
    case ValueKind::binary:
      return tr("binary");
  }
  return {};
}

QString value_line(const std::optional<Bytes>& value, int max) {
  if (!value || value->empty()) {
    return {};
  }
  const std::size_t looked = static_cast<std::size_t>(max) * 2;
  std::optional<QString> text = decoded(*value, looked);
  if (!text || !looks_like_text(*text)) {
    const std::size_t shown = std::min<std::size_t>(value->size(), static_cast<std::size_t>(max) / 3);
    const QByteArray hex = head_of(*value, shown).toByteArray().toHex(' ');
    return QString::fromLatin1(hex) + (shown < value->size() ? QString(QChar(0x2026)) : QString());
  }
  for (QChar& c : *text) {
    if (c.unicode() < 0x20) {
      c = QLatin1Char(' ');
    }
  }
  return text->size() > max ? text->left(max) + QChar(0x2026) : *text;
}

QString value_block(const std::optional<Bytes>& value, std::size_t max_bytes, bool& cut) {
  cut = false;
  if (!value || value->empty()) {
    return {};
  }
  cut = value->size() > max_bytes;
  const std::optional<QString> text = decoded(*value, max_bytes);
  if (!text || !looks_like_text(*text)) {
    const std::size_t shown = std::min<std::size_t>(std::min(value->size(), max_bytes), 2'048);
    cut = shown < value->size();
    return QString::fromLatin1(head_of(*value, shown).toByteArray().toHex(' '));
  }
  if (value_kind(value) == ValueKind::json) {
    return indented(*text, static_cast<int>(max_bytes) * 4);
  }
  return *text;
}

QString json_of(const std::optional<Bytes>& bytes) {
  if (!bytes) {
    return QStringLiteral("null");
  }
  const std::optional<QString> text = decoded(*bytes, kCopied);
  if (text) {
    return quoted(*text);
  }
  return QStringLiteral("{\"base64\": \"%1\"}").arg(QString::fromLatin1(head_of(*bytes, kCopied).toByteArray().toBase64()));
}

QString record_json(const QString& topic, const RecordRow& row) {
  QStringList headers;
  for (const auto& [name, value] : row.headers) {
    headers << QStringLiteral("    {%1: %2}").arg(quoted(QString::fromStdString(name)), json_of(value));
  }
  QStringList lines;
  lines << QStringLiteral("  \"topic\": %1").arg(quoted(topic));
  lines << QStringLiteral("  \"partition\": %1").arg(row.partition);
  lines << QStringLiteral("  \"offset\": %1").arg(row.offset);
  lines << QStringLiteral("  \"timestamp\": %1").arg(row.timestamp_ms);
  lines << QStringLiteral("  \"timestampType\": \"%1\"")
               .arg(row.log_append_time ? QStringLiteral("LogAppendTime") : QStringLiteral("CreateTime"));
  lines << QStringLiteral("  \"key\": %1").arg(json_of(row.key));
  lines << QStringLiteral("  \"value\": %1").arg(json_of(row.value));
  if (row.value && row.value->size() > kCopied) {
    lines << QStringLiteral("  \"valueCutAt\": %1").arg(kCopied);
  }
  lines << (headers.isEmpty() ? QStringLiteral("  \"headers\": []")
                              : QStringLiteral("  \"headers\": [\n%1\n  ]").arg(headers.join(QStringLiteral(",\n"))));
  return QStringLiteral("{\n%1\n}\n").arg(lines.join(QStringLiteral(",\n")));
}

QString kcat_line(const QString& bootstrap, const QString& topic, const RecordRow& row) {
  return QStringLiteral("kcat -b %1 -C -t %2 -p %3 -o %4 -c 1 -f '%k: %s\\n'")
      .arg(bootstrap, topic)
      .arg(row.partition)
      .arg(row.offset);
}

// The key of a control record is a 16-bit version and a 16-bit type (KIP-98).
QString marker_text(const RecordRow& row) {
  const auto tr = [](const char* text) { return QCoreApplication::translate("RecordText", text); };
  int type = -1;
  if (row.key && row.key->size() >= 4) {
    type = (static_cast<int>(row.key->data()[2]) << 8) | static_cast<int>(row.key->data()[3]);
  }
  const QString name = type == 0 ? QStringLiteral("ABORT") : (type == 1 ? QStringLiteral("COMMIT") : QString());
  if (name.isEmpty()) {
    return tr("control record of type %1").arg(type);
  }
  return tr("%1 marker, pid %2 epoch %3").arg(name).arg(row.producer_id).arg(row.producer_epoch);
}

QString hw_line(const QString& bootstrap, const QString& topic, const RecordRow& row) {
  return QStringLiteral("hw --bootstrap %1 consume %2 --partition %3 --from %4 --max 1")
      .arg(bootstrap, topic)
      .arg(row.partition)
      .arg(row.offset);
}

QString date_time_text(std::int64_t ms, bool utc) {
  if (ms < 0) {
    return {};
  }
  const QDateTime at = utc ? QDateTime::fromMSecsSinceEpoch(ms, Qt::UTC) : QDateTime::fromMSecsSinceEpoch(ms);
  return at.toString(QStringLiteral("yyyy-MM-dd HH:mm:ss.zzz"));
}

QString time_text(std::int64_t ms, bool utc) { return date_time_text(ms, utc).mid(11); }

QString headers_line(const RecordRow& row, int max) {
  QString line;
  for (const auto& [name, value] : row.headers) {
    if (!line.isEmpty()) {
      line += QStringLiteral(" · ");
    }
    line += QString::fromStdString(name) + QLatin1Char('=');
    line += !value ? QString(QChar(0x2205)) : (value->empty() ? QStringLiteral("\"\"") : value_line(value, 60));
    if (line.size() > max) {
      return line.left(max) + QChar(0x2026);
    }
  }
  return line;
}

}  // namespace hw::ui
