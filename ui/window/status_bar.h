// SPDX-License-Identifier: Apache-2.0
// Status bar: clients, records per second, where data lives, and what the window itself costs.
#pragma once

#include <QWidget>
#include <vector>

#include "ui/session/session.h"
#include "ui/theme/glyphs.h"

namespace hw::ui {

class StatusBar : public QWidget {
  Q_OBJECT

 public:
  explicit StatusBar(QWidget* parent = nullptr);
  struct Values {
    QString port;  // "9092"
    std::int64_t clients = 0;
    double records_in = 0;   // per second
    double records_out = 0;
    double frame_ms = 0;     // the worst frame of the last second; 0: none was needed
    std::uint64_t lost = 0;  // events
    QString hint;            // at the right
    QString message;         // in place of the hint for a while
    bool message_bad = false;
  };
  // Repaints only when a word changes.
  void setValues(const Values& values);
  [[nodiscard]] const QString& spoken() const { return spoken_; }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  struct Part {
    QString words;
    QString data;
    QString after;
    Glyph glyph = Glyph::none;
    friend bool operator==(const Part&, const Part&) = default;
  };
  std::vector<Part> parts_;
  QString right_;
  bool right_bad_ = false;
  QString spoken_;
};

}  // namespace hw::ui
