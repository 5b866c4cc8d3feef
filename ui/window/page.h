// SPDX-License-Identifier: Apache-2.0
// Page: one entry of the rail and what stands in the centre of the window for it.
//
// A page gets a session once (attach), then frame() after every change while it is visible and the view is not paused,
// and once when it becomes visible. In frame() it takes `view()`, samples the counters it shows, and calls update() only
// on what differs; nothing is painted otherwise. Pages never call each other: they Q_EMIT selectionRequested (plain `emit` is a name of the engine),
// openRequested or commandRequested, and the window answers with setSelection() on every page.
//
// Pages are made in ui/panels/pages.h:
//     QList<Page*> create_pages(QWidget* parent);   // in the order of the rail
//     ProducePanel* create_produce_panel(QWidget* parent);
// Thread rule: UI thread only.
#pragma once

#include <QKeySequence>
#include <QPointer>
#include <QString>
#include <QVariantMap>
#include <QWidget>
#include <functional>
#include <optional>

#include "engine/observe/cluster_view.h"
#include "ui/models/fault_facts.h"
#include "ui/session/selection.h"
#include "ui/session/session.h"
#include "ui/theme/glyphs.h"

class QAbstractButton;
class QHBoxLayout;
class QLabel;
class QStackedLayout;
class QPainter;
class QRectF;

namespace hw::ui {

// The 44 px head of a page: title, a quiet count, filters at the left, actions at the right.
class PageHeader : public QWidget {
  Q_OBJECT

 public:
  explicit PageHeader(const QString& title, QWidget* parent = nullptr);
  void setTitle(const QString& title);
  // "3 nodes · 2 topics": body text in text2; numbers in it are fine, it changes rarely.
  void setCount(const QString& text);
  void addLeft(QWidget* widget);
  void addRight(QWidget* widget);
  // A button of the guide that runs a command: icon name (may be empty), text, shortcut cap.
  QAbstractButton* addAction(const QString& icon, const QString& text, const QString& command_id,
                                   const QString& shortcut = {});

 signals:
  void commandRequested(const QString& id, const QVariantMap& args);

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  QLabel* title_;
  QLabel* count_;
  QHBoxLayout* left_;
  QHBoxLayout* right_;
};

// One of the four states in which a page has nothing to show, each with a sentence and a way on.
struct PageNotice {
  enum class Kind : std::uint8_t { empty, filtered, not_available, failed } kind = Kind::empty;
  QString title;  // "No topics yet"
  QString text;   // one or two sentences: what will appear here; for failed: what, why, what to try
  // Paints a line drawing of what will appear into a rectangle 118 high; may be null.
  std::function<void(QPainter&, const QRectF&)> drawing;
  QString action_text;     // "Create topic"; empty: none
  QString action_command;  // command id that makes it appear
  QString action_shortcut;
  QString second_text;
  QString second_command;
  QString command_hint;  // "or connect your own"
  QString command_line;  // shown in a copyable box, without the "$ "
};

// The same as a widget of its own, for a part of a page. `run` gets the ids of commands.
[[nodiscard]] QWidget* make_notice(const PageNotice& notice, QWidget* parent,
                                   const std::function<void(const QString& command)>& run);

class Page : public QWidget {
  Q_OBJECT

 public:
  // `id` is stable ("cluster"); `icon` a name of resources/icons; `section` OBSERVE, OPERATE … (translated).
  struct Info {
    QString id;
    QString title;
    QString icon;
    QKeySequence shortcut;  // "1", "T"
    QString section;
  };
  explicit Page(Info info, QWidget* parent = nullptr);

  [[nodiscard]] const QString& id() const { return info_.id; }
  [[nodiscard]] const QString& title() const { return info_.title; }
  [[nodiscard]] const QString& icon() const { return info_.icon; }
  [[nodiscard]] const QKeySequence& shortcut() const { return info_.shortcut; }
  [[nodiscard]] const QString& section() const { return info_.section; }

  // Called once. An override calls the base first.
  virtual void attach(Session* session);
  // The window's selection changed, or the page was opened for one.
  virtual void setSelection(const Selection& selection);

  // What is wrong with the cluster as a whole, whenever that is something else; comes before the frame.
  virtual void setFaults(const FaultFacts& /*faults*/) {}
  // A glyph at the right of the rail item when something here needs attention.
  // `faults`: what is wrong with the cluster as a whole. Asked with every frame, also while the page is not shown.
  [[nodiscard]] virtual Glyph attention(const FaultFacts& /*faults*/) const { return Glyph::none; }
  // A window narrower than 1200 (-1), normal (0), from 1920 (1).
  virtual void setWidthClass(int width_class);
  // "/" or Ctrl+F on this page. False: the page has no filter.
  virtual bool focusFilter() { return false; }
  // A filter from elsewhere ("messages with this key"), in the language of ui/filter. False: the page has none.
  virtual bool applyFilter(const QString& /*text*/) { return false; }
  // Where an object is painted, in this page's coordinates; empty: not visible. The coach mark points at it.
  [[nodiscard]] virtual QRect anchor(const Selection& selection) const;
  // A place of this size that covers no card, text or object; nullopt: the page does not know one.
  [[nodiscard]] virtual std::optional<QPoint> freeSpot(QSize size) const;
  // Ctrl+T: the same data as an accessible table, or back. False: the page has no other form.
  virtual bool toggleTable() { return false; }
  // Ctrl+E: writes what is shown to a file. False: the page has nothing to export.
  virtual bool exportView() { return false; }

  [[nodiscard]] Session* session() const { return session_; }
  // The view of the last frame delivered; never null after attach().
  [[nodiscard]] const observe::ViewPtr& view() const { return view_; }
  [[nodiscard]] const Selection& selection() const { return selection_; }

  // The window's side: called after a change, only while the page is visible and the view is not paused.
  void deliverFrame();

 signals:
  void selectionRequested(const hw::ui::Selection& selection);
  void openRequested(const hw::ui::Selection& selection);
  void commandRequested(const QString& id, const QVariantMap& args);
  // A record to be edited and sent again; `choose_topic`: to another topic.
  void produceRequested(const QString& topic, const hw::ui::RecordRow& record, bool choose_topic);
  // The menu of the selected object is wanted; sent for every context menu that no child took for itself.
  void contextRequested(const hw::ui::Selection& selection, const QPoint& global);

 protected:
  void contextMenuEvent(QContextMenuEvent* event) override;
  // Something changed: take view(), sample counters, update() what differs.
  virtual void frame() {}

  [[nodiscard]] PageHeader* header() const { return header_; }
  // What fills the page below its header. The page takes ownership.
  void setContent(QWidget* content);
  // Shows a notice in place of the content, or the content again.
  void showNotice(const PageNotice& notice);
  void showContent();
  [[nodiscard]] bool noticeShown() const;

 private:
  Info info_;
  QPointer<Session> session_;
  observe::ViewPtr view_;
  Selection selection_;
  PageHeader* header_;
  QStackedLayout* stack_;
  QWidget* content_ = nullptr;
  QWidget* notice_ = nullptr;
};

// The produce panel (P): a tab of the bottom dock, at least 700 wide and about 230 high.
class ProducePanel : public QWidget {
  Q_OBJECT

 public:
  using QWidget::QWidget;
  virtual void attach(Session* session) = 0;
  // Presets topic, partition and key from the selection and puts the focus into the value.
  virtual void openFor(const Selection& selection) = 0;
  // Presets everything from a record, its bytes kept as they are until they are edited. `choose_topic`: the focus goes to
  // the topic, and the partition is chosen anew.
  virtual void openWith(const QString& topic, const RecordRow& record, bool choose_topic) = 0;

 signals:
  // The record that was just produced, so that the window can show it.
  void selectionRequested(const hw::ui::Selection& selection);
  void closeRequested();
};

}  // namespace hw::ui
