// SPDX-License-Identifier: Apache-2.0
// FilterBox: the filter of a page. A line that is coloured and judged while typing, suggestions, status in words and
// colour, Stop, history, named filters, and chips for those who do not type.
//
// It knows texts and programs, not what they are applied to: a page takes applied(), judges its own objects, and reports
// back with setCounts(). Thread rule: UI thread only.
#pragma once

#include <QPointer>
#include <QTimer>
#include <QWidget>

#include "ui/filter/filter_language.h"

class QCompleter;
class QLineEdit;
class QStandardItemModel;

namespace hw::ui {

class Button;
class FilterChips;

class FilterBox : public QWidget {
  Q_OBJECT

 public:
  enum class State : std::uint8_t { empty, incomplete, valid, hides_all, error, scanning };
  struct Counts {
    std::int64_t shown = -1;   // -1: not known
    std::int64_t total = -1;
    int percent = -1;          // 0…100 while scanning, -1: not scanning
    std::int64_t scanned_ms = -1;  // how long a finished scan took; -1: nothing was scanned
  };

  // `store`: where history and named filters are kept in the settings ("messages"); empty: not kept.
  FilterBox(filter::VocabularyPtr vocabulary, const QString& store, QWidget* parent = nullptr);

  [[nodiscard]] QString text() const;
  // Applies at once where the text is valid.
  void setText(const QString& text);
  // What applied() said last; an empty program where there is no filter. Never null.
  [[nodiscard]] const filter::ProgramPtr& program() const { return program_; }
  [[nodiscard]] QString appliedText() const { return applied_; }
  [[nodiscard]] bool filtering() const { return !applied_.isEmpty(); }
  // `join`: "&&", "||", or empty to replace what is there.
  void addCondition(const QString& condition, const QString& join = QStringLiteral("&&"));
  // Values to be suggested for a field; for headers, the field's name with "[]" asks for the names.
  void setValues(filter::ValueProvider values) { values_ = std::move(values); }
  void setCounts(const Counts& counts);
  // The language by example, in the menu: text and what it lets through.
  void setExamples(QList<std::pair<QString, QString>> examples) { examples_ = std::move(examples); }
  void setUtc(bool utc);
  void setHint(const QString& hint);
  void setChipsShown(bool shown);
  [[nodiscard]] bool chipsShown() const;
  // Lower, for the head of a dock.
  void setCompact();
  void focusText();

  [[nodiscard]] State state() const { return state_; }
  [[nodiscard]] QString statusText() const;
  [[nodiscard]] const filter::Parsed& parsed() const { return parsed_; }
  [[nodiscard]] QLineEdit* edit() const { return edit_; }
  [[nodiscard]] QStringList history() const { return history_; }
  [[nodiscard]] QList<std::pair<QString, QString>> named() const { return named_; }
  void saveNamed(const QString& name, const QString& text);
  void removeNamed(const QString& name);
  [[nodiscard]] const filter::Vocabulary& vocabulary() const { return *vocabulary_; }
  static constexpr int kHistory = 20;
  static constexpr int kDelayMs = 250;

 signals:
  // The filter is another one: valid, after a pause in typing or on Return; empty where there is none.
  void applied();
  void stopRequested();
  // Down or Return: the keyboard goes on to the list.
  void leaveRequested();

 protected:
  bool eventFilter(QObject* object, QEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  class Frame;
  void onText();
  void judge();
  void apply(bool now);
  void colour();
  void refreshStatus();
  void showSuggestions();
  void takeSuggestion(int row);
  void showMenu();
  void load();
  void save() const;
  void remember();

  filter::VocabularyPtr vocabulary_;
  QString store_;
  filter::ValueProvider values_;
  filter::Parsed parsed_;
  filter::ProgramPtr program_;
  QString applied_;
  Counts counts_;
  State state_ = State::empty;
  bool utc_ = false;
  Frame* frame_;
  QLineEdit* edit_;
  Button* menu_button_;
  Button* clear_;
  Button* stop_;
  FilterChips* chips_;
  QCompleter* completer_;
  QStandardItemModel* suggestions_;
  filter::Suggestions offered_;
  QTimer delay_;
  QStringList history_;
  QList<std::pair<QString, QString>> named_;
  QList<std::pair<QString, QString>> examples_;
  QString hint_;
  QString status_;
};

}  // namespace hw::ui
