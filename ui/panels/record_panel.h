// SPDX-License-Identifier: Apache-2.0
// RecordPanel: the produce panel (P). One record, or the same one at a rate; null is not empty; why it goes where it goes.
// Checks while typing; nothing is sent that is not valid. At most kMaxInFlight sends wait for an answer.
// Thread rule: UI thread only.
#pragma once

#include <QElapsedTimer>
#include <QTimer>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ui/window/page.h"

class QComboBox;
class QLabel;
class QLineEdit;
class QPlainTextEdit;
class QSpinBox;

namespace hw::ui {

class Button;
class SegmentedControl;
class TextLabel;

// What was typed as headers: "name=value; other=; gone" is a value, an empty value and a null.
struct HeadersText {
  std::vector<std::pair<std::string, std::optional<Bytes>>> headers;
  QString error;  // translated; empty: fine
  [[nodiscard]] static HeadersText parse(const QString& text);
};
// Why a topic name is not one; empty: it is. Kafka's rule: 1 to 249 of letters, digits, '.', '_', '-'; not "." or "..".
[[nodiscard]] QString topic_name_error(const QString& name);

class RecordPanel : public ProducePanel {
  Q_OBJECT

 public:
  explicit RecordPanel(QWidget* parent = nullptr);
  void attach(Session* session) override;
  void openFor(const Selection& selection) override;
  void openWith(const QString& topic, const RecordRow& record, bool choose_topic) override;

  static constexpr int kMaxInFlight = 200;
  [[nodiscard]] bool valid() const { return valid_; }
  [[nodiscard]] int sent() const { return sent_; }
  [[nodiscard]] bool repeating() const { return repeat_.isActive(); }
  [[nodiscard]] QString whyText() const;
  [[nodiscard]] QString resultText() const;

 public slots:
  void send();
  void setRepeating(bool on);

 protected:
  void showEvent(QShowEvent* event) override;
  bool eventFilter(QObject* object, QEvent* event) override;
  void paintEvent(QPaintEvent* event) override;

 private:
  void refreshTopics();
  void refreshPartitions();
  void validate();
  void sendOne();
  void onRepeat();
  void showResult(const QString& text, bool error);
  [[nodiscard]] std::optional<Bytes> bytesOf(const SegmentedControl* kind, const QString& text) const;
  [[nodiscard]] QString filled(const QString& text) const;
  [[nodiscard]] std::int32_t partitionCount() const;

  QPointer<Session> session_;
  QComboBox* topic_;
  QComboBox* partition_;
  SegmentedControl* key_kind_;
  QLineEdit* key_;
  QLineEdit* headers_;
  SegmentedControl* value_kind_;
  QPlainTextEdit* value_;
  TextLabel* value_note_;
  QLabel* formula_;
  TextLabel* why_;
  TextLabel* problem_;
  Button* send_;
  QSpinBox* rate_;
  Button* repeat_button_;
  Button* result_;
  TextLabel* counts_;
  QTimer repeat_;
  QElapsedTimer clock_;
  QElapsedTimer repeating_since_;
  qint64 repeat_owed_ = 0;
  std::shared_ptr<const void> topics_seen_;
  int in_flight_ = 0;
  int sent_ = 0;
  int failed_ = 0;
  int number_ = 0;
  bool valid_ = false;
  // What text fields cannot show: sent as it is until the field is edited.
  std::optional<Bytes> kept_key_;
  std::optional<Bytes> kept_value_;
  std::optional<std::vector<std::pair<std::string, std::optional<Bytes>>>> kept_headers_;
  bool filling_ = false;
  Selection last_;
};

}  // namespace hw::ui
