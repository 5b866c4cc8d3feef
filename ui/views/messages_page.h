// SPDX-License-Identifier: Apache-2.0
// MessagesPage (P4): the log as a consumer would read it. A filter, the volume over time, a list that never re-sorts, and one
// record in full with the bytes of its batch.
//
// Without a filter the list is read page by page (RecordFeed); with one, or for the newest record per key, the topic is scanned
// off the UI thread (RecordScan), and what arrives later is scanned behind it.
#pragma once

#include <QElapsedTimer>
#include <QTimer>
#include <map>
#include <optional>

#include "ui/session/record_scan.h"
#include "ui/session/volume.h"
#include "ui/views/record_export.h"
#include "ui/views/record_feed.h"
#include "ui/views/record_model.h"
#include "ui/window/page.h"

class QComboBox;
class QDateTimeEdit;
class QLineEdit;
class QMenu;
class QSplitter;
class QTableView;

namespace hw::ui {

class Button;
class FilterBox;
class RecordDetail;
class SegmentedControl;
class TableNotice;
class TextLabel;
class VolumeStrip;

class MessagesPage : public Page {
  Q_OBJECT

 public:
  explicit MessagesPage(QWidget* parent = nullptr);
  void attach(Session* session) override;
  void setSelection(const Selection& selection) override;
  void setWidthClass(int width_class) override;
  bool focusFilter() override;
  bool applyFilter(const QString& text) override;
  bool exportView() override;
  [[nodiscard]] RecordModel* records() const { return model_; }
  [[nodiscard]] RecordDetail* detail() const { return detail_; }
  [[nodiscard]] QTableView* table() const { return table_; }
  [[nodiscard]] RecordFeed* feed() const { return feed_; }
  [[nodiscard]] FilterBox* filterBox() const { return filter_; }
  [[nodiscard]] VolumeStrip* volumeStrip() const { return volume_; }
  [[nodiscard]] TableNotice* notice() const { return notice_; }
  [[nodiscard]] RecordScan* scan() const { return &const_cast<MessagesPage*>(this)->scan_; }
  void setTail(bool on);
  [[nodiscard]] bool tail() const { return tail_; }
  void setFrom(RecordFeed::From from);
  void setIsolation(Isolation isolation);
  void setLatestPerKey(bool on);
  void setOrder(RecordModel::Order order);
  void setUtc(bool utc);
  // Writes what the page shows, all of it and not only the rows that are in the list. False: nothing to export, or one is
  // under way.
  bool exportTo(const QString& path, RecordExport::Format format);
  [[nodiscard]] RecordExport* exporter() const { return &const_cast<MessagesPage*>(this)->export_; }
  [[nodiscard]] QString noteText() const;
  // Entries of the context menu of the current record.
  void fillRecordMenu(QMenu& menu);

 protected:
  void frame() override;
  void showEvent(QShowEvent* event) override;
  void hideEvent(QHideEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  bool eventFilter(QObject* object, QEvent* event) override;

 private:
  // messages_page.cpp
  void buildHeader();
  void buildFilterRow(QWidget* column);
  void buildTable(QWidget* column);
  void connectAll();
  void refreshTopics();
  void refreshPartitions();
  void refreshGroups();
  void restart();
  void restartFeed();
  void jumpTo(const Selection& selection);
  [[nodiscard]] bool arrivesByItself(const Selection& selection) const;
  void onRows(const std::vector<RecordRow>& rows, bool above);
  void onScroll(int value);
  void onCurrent();
  void refreshHistory();
  void onPageDone();
  void refreshState();
  void sayPartial();
  void placePill();
  void showEmpty();
  [[nodiscard]] bool atEnd() const;
  [[nodiscard]] bool roomAbove() const;
  [[nodiscard]] bool roomBelow() const;
  [[nodiscard]] bool newerWait() const;
  void readOn();
  [[nodiscard]] QString topic() const;
  [[nodiscard]] std::int32_t partition() const;  // -1: all
  [[nodiscard]] std::int32_t partitionsOfTopic() const;
  [[nodiscard]] std::int64_t held() const;
  // messages_scan.cpp
  [[nodiscard]] bool scanning() const;  // rows come from scans
  [[nodiscard]] std::vector<ScanPart> parts() const;
  [[nodiscard]] std::int64_t offsetsOf(const std::vector<ScanPart>& parts) const;
  void restartScan();
  void pollScan();
  void onScanned();
  void onFilter();
  void sampleVolume();
  void onSpan(std::optional<std::pair<std::int64_t, std::int64_t>> span);
  [[nodiscard]] std::optional<std::pair<std::int64_t, std::int64_t>> spanOfFilter() const;
  [[nodiscard]] QString filterWithoutSpan() const;
  // messages_actions.cpp
  void recordMenu(const QPoint& global);
  void columnsMenu(QMenu& menu);
  void optionsMenu();
  void orderMenu(QMenu& menu);
  void onSection(int section);
  void removeDeleted();
  void insertOrdered(const std::vector<RecordRow>& rows, bool above, bool first);
  void copy(const QString& text);
  void exportDialog();
  void onExported(const QString& error, std::int64_t records);
  void addFilterMenu(QMenu& menu, const QString& title, const QString& condition);
  void saveView() const;
  void loadView();

  QComboBox* topics_ = nullptr;
  QComboBox* partitions_ = nullptr;
  TextLabel* from_label_ = nullptr;
  SegmentedControl* from_ = nullptr;
  TextLabel* isolation_label_ = nullptr;
  SegmentedControl* isolation_control_ = nullptr;
  QLineEdit* offset_ = nullptr;
  QDateTimeEdit* time_ = nullptr;
  QComboBox* groups_ = nullptr;
  FilterBox* filter_ = nullptr;
  TextLabel* note_ = nullptr;
  TextLabel* partial_ = nullptr;  // which partitions are listed, where it is not all
  Button* export_button_ = nullptr;
  Button* tail_button_ = nullptr;
  Button* options_ = nullptr;
  VolumeStrip* volume_ = nullptr;
  QSplitter* split_ = nullptr;
  QTableView* table_ = nullptr;
  RecordModel* model_ = nullptr;
  RecordDetail* detail_ = nullptr;
  RecordFeed* feed_ = nullptr;
  Button* pill_ = nullptr;  // "+ 12 new"
  TableNotice* notice_ = nullptr;
  RecordScan scan_;
  RecordScan behind_;       // what was appended after the scan began
  VolumeSampler sampler_;
  RecordExport export_;
  std::vector<ScanPart> scan_began_;  // what the scan goes through
  std::vector<ScanPart> scanned_to_;  // and to where it went on since
  std::vector<ScanPart> sampled_;
  std::pair<QString, std::int32_t> sampled_place_{{}, -1};  // topic, partition or -1
  QElapsedTimer sampled_at_;
  QTimer waiting_;  // so long an empty list needs no word: what is read comes at once
  QElapsedTimer history_at_;
  std::map<std::int32_t, std::int64_t> lowest_;  // no record of the partition below it is listed
  std::shared_ptr<const void> topics_seen_;
  std::shared_ptr<const void> groups_seen_;
  std::optional<Selection> pending_;  // to be shown when the page is, or when its rows have come
  std::optional<Selection> expected_;  // comes with the tail
  std::int64_t unseen_ = 0;
  QElapsedTimer export_told_;  // the note says what came of an export, for some seconds
  bool newer_ = false;  // it is said that newer ones wait
  std::int64_t behind_hits_ = 0;
  std::int64_t behind_records_ = 0;
  std::int64_t not_listed_ = 0;
  Isolation isolation_ = Isolation::all;
  QString failure_;
  bool tail_ = true;
  bool latest_per_key_ = false;
  bool pointer_inside_ = false;
  bool started_ = false;
  bool selecting_ = false;  // the selection comes from outside
  bool utc_ = false;
  int width_class_ = 0;
};

}  // namespace hw::ui
