// SPDX-License-Identifier: Apache-2.0
// MainWindow: top bar, rail, pages, inspector, dock and status bar, and the commands that join them.
//
// It is the only one who knows all parts. State reaches them by push: Session::frameReady() → the visible page, the
// inspector, the dock, the bars, each of which repaints only what differs. Nothing here polls; two single-shot timers
// follow the last frame, so that rates fall to zero.
// Thread rule: UI thread only.
#pragma once

#include <QElapsedTimer>
#include <QMainWindow>
#include <QPointer>
#include <map>
#include <vector>

#include "ui/models/fault_facts.h"
#include "ui/models/leader_story.h"
#include "ui/models/rate_meter.h"
#include "ui/session/selection.h"
#include "ui/session/session.h"
#include "ui/session/session_nodes.h"
#include "ui/window/command_registry.h"
#include "ui/window/frame_meter.h"
#include "ui/window/status_bar.h"

class QHBoxLayout;
class QStackedWidget;
class QTimer;

namespace hw::ui {

class BottomDock;
class FaultBar;
class CoachMark;
class EventCaption;
class Inspector;
class InspectorStrip;
class Page;
class ProducePanel;
class Rail;
class TopBar;

class MainWindow : public QMainWindow {
  Q_OBJECT

 public:
  struct Options {
    bool persist = true;  // remember size, theme, folded parts
    bool hints = true;    // the coach mark of the first run
  };
  // `session` outlives the window.
  MainWindow(Session* session, const Options& options, QWidget* parent = nullptr);
  ~MainWindow() override;

  [[nodiscard]] CommandRegistry& commands() { return *commands_; }
  [[nodiscard]] const Selection& selection() const { return selection_; }
  [[nodiscard]] Page* currentPage() const;
  [[nodiscard]] Page* page(const QString& id) const;
  [[nodiscard]] const QList<Page*>& pages() const { return pages_; }
  [[nodiscard]] Inspector* inspector() const { return inspector_; }
  [[nodiscard]] BottomDock* dock() const { return dock_; }
  [[nodiscard]] const FrameMeter& meter() const { return meter_; }
  [[nodiscard]] bool paused() const { return paused_; }
  [[nodiscard]] CoachMark* coachMark() const;
  [[nodiscard]] bool presenting() const { return presenting_; }
  // "learn", "debug", "operate": which parts are open, kept for each.
  [[nodiscard]] const QString& profile() const { return profile_; }

 public slots:
  void showPage(const QString& id);
  // Selects everywhere; the history remembers it.
  void select(const hw::ui::Selection& selection);
  // Selects, and goes to the page where such an object is at home.
  void open(const hw::ui::Selection& selection);
  void setPaused(bool paused);
  // At the right of the status bar, for some seconds.
  void say(const QString& message, bool bad = false);

 protected:
  bool event(QEvent* event) override;
  bool eventFilter(QObject* object, QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void closeEvent(QCloseEvent* event) override;
  void showEvent(QShowEvent* event) override;

 private:
  struct Place {
    QString page;
    Selection selection;
    friend bool operator==(const Place&, const Place&) = default;
  };
  void addCommands();
  void addLookCommands();
  void addPageCommands();
  void build();
  void frame();
  void sampleRates();
  void showFaults(const observe::ViewPtr& view);
  void applyWidth();
  void applyRail();
  void placeInspector();
  void setInspectorOpen(bool open);
  void remember();
  void travel(int steps);
  void go(const Place& place);
  void clusterMenu(const QPoint& global);
  void themeMenu(const QPoint& global);
  void objectMenu(const Selection& selection, const QPoint& global);
  void chooseTheme(const QString& name);
  void setUserScale(double scale);
  void setPresenting(bool on);
  void setProfile(const QString& name);
  void resetLayout();
  void applyProfile();
  void storeProfile() const;
  void disconnectClient(const QVariantMap& args);
  void caption();
  void undo();
  void keepCluster();
  void openProduce();
  void focusPage();
  void updateHint();
  void placeHint();
  void showHint(int step);
  void hintDone(int step);
  void endHints();
  [[nodiscard]] bool textHasFocus() const;
  [[nodiscard]] std::int64_t recordsIn() const;
  void restore();
  void store();

  QPointer<Session> session_;
  Options options_;
  CommandRegistry* commands_;
  TopBar* top_ = nullptr;
  Rail* rail_ = nullptr;
  QStackedWidget* stack_ = nullptr;
  FaultBar* fault_bar_ = nullptr;
  Inspector* inspector_ = nullptr;
  InspectorStrip* strip_ = nullptr;
  BottomDock* dock_ = nullptr;
  StatusBar* status_ = nullptr;
  ProducePanel* produce_ = nullptr;
  QPointer<CoachMark> coach_;
  QList<Page*> pages_;

  Selection selection_;
  std::vector<Place> history_;
  std::size_t history_at_ = 0;
  bool travelling_ = false;
  bool paused_ = false;
  std::int64_t paused_records_ = 0;
  int width_class_ = 0;
  bool rail_wanted_collapsed_ = false;
  bool inspector_open_ = true;       // in a normal window
  bool inspector_open_narrow_ = false;
  bool inspector_floats_ = false;    // over the page, which would have too little room beside it
  QHBoxLayout* upper_ = nullptr;     // page, inspector and its strip
  bool presenting_ = false;
  bool hints_on_ = false;
  // Of the first minute: 0 the broker is there, 1 a record has landed, 2 where to go from here, 3 all said.
  int hint_step_ = 0;
  bool hint_waits_ = false;  // the current step has not happened yet
  Selection hint_about_;
  QString profile_ = QStringLiteral("learn");
  QPointer<EventCaption> caption_;
  std::uint64_t captioned_ = 0;  // number of the newest event that was told in large
  std::shared_ptr<const void> clients_seen_;
  std::shared_ptr<const void> groups_seen_;
  LeaderStory story_;            // only for what was lost
  FaultMemory fault_memory_;
  observe::ViewPtr faults_of_;   // what the fault bar tells of
  std::vector<NodeCondition> conditions_;
  FaultFacts faults_;
  bool greeted_ = false;  // the demo's first partition has been selected

  FrameMeter meter_;
  QElapsedTimer steady_;
  RateMeter in_;
  RateMeter out_;
  std::map<BrokerId, Rise> came_;    // by node
  std::map<BrokerId, Rise> handed_;
  QElapsedTimer foreign_since_;  // records of other clients have been there since then
  QTimer* rates_;    // runs out 1 s after the last frame
  QTimer* message_;
  StatusBar::Values values_;
};

}  // namespace hw::ui
