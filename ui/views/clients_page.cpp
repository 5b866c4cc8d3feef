// SPDX-License-Identifier: Apache-2.0
#include "ui/views/clients_page.h"

#include <algorithm>

#include <QCheckBox>
#include <QHeaderView>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QSplitter>
#include <QStackedWidget>
#include <QTableView>
#include <QTimer>
#include <QVBoxLayout>

#include "ui/filter/filter_box.h"
#include "ui/models/client_facts.h"
#include "ui/models/connect_snippets.h"
#include "ui/painting/text.h"
#include "ui/views/clients_connect.h"
#include "ui/views/clients_filter.h"
#include "ui/views/clients_model.h"
#include "ui/views/pane.h"
#include "ui/views/table_setup.h"
#include "ui/window/controls.h"
#include "ui/window/hover_row.h"
#include "ui/window/inspector.h"
#include "ui/window/row_delegate.h"
#include "ui/window/seen_width.h"

namespace hw::ui {

namespace {

constexpr int kNameLeft = 12;  // px at scale 1.0, before the mark that unfolds a client
constexpr int kFoldWidth = 20;

class ClientDelegate : public RowDelegate {
 public:
  explicit ClientDelegate(QObject* parent) : RowDelegate(true, parent) {}

 protected:
  RowCell cell(const QModelIndex& index, bool selected) const override {
    const Colors& c = Theme::current().colors();
    RowCell out;
    out.alignment = static_cast<Qt::Alignment>(index.data(Qt::TextAlignmentRole).toInt());
    const auto fold = static_cast<ClientsModel::Fold>(index.data(ClientsModel::fold_role).toInt());
    const bool name = index.column() == ClientsModel::client;
    const bool inside = fold == ClientsModel::Fold::inside;
    out.left = !name ? 8 : (inside ? 32 : kNameLeft);
    out.glyph_room = name;
    if (fold == ClientsModel::Fold::closed || fold == ClientsModel::Fold::open) {
      out.icon = fold == ClientsModel::Fold::open ? QStringLiteral("chevron-down") : QStringLiteral("chevron-right");
    }
    out.role = name ? (selected ? FontRole::data_strong : FontRole::data)
                    : (index.column() == ClientsModel::apis || index.column() == ClientsModel::software ? FontRole::control
                                                                                                        : FontRole::data);
    out.color = name && !inside ? c.text : c.text2;
    out.elide = name || index.column() == ClientsModel::from ? Qt::ElideMiddle : Qt::ElideRight;
    out.glyph = static_cast<Glyph>(index.data(ClientsModel::glyph_role).toInt());
    return out;
  }
};

// Two programs and a broker between them: what will appear.
void draw_clients(QPainter& p, const QRectF& r) {
  const Colors& c = Theme::current().colors();
  const double y = r.center().y();
  const double x = r.center().x();
  p.setPen(QPen(c.edge, 1.0, Qt::DashLine));
  p.setBrush(Qt::NoBrush);
  for (const double dy : {-26.0, 26.0}) {
    p.drawRoundedRect(QRectF(x - 170, y + dy - 16, 90, 32), 4, 4);
    p.drawLine(QPointF(x - 80, y + dy), QPointF(x + 60, y + dy * 0.3));
  }
  p.setPen(QPen(c.leader, 2));
  p.drawRoundedRect(QRectF(x + 60, y - 30, 110, 60), 6, 6);
  p.fillRect(QRectF(x + 74, y - 12, 60, 8), c.leader_fill);
  p.fillRect(QRectF(x + 74, y + 4, 44, 8), c.leader_fill);
}

}  // namespace

ClientsPage::ClientsPage(QWidget* parent)
    : Page({QStringLiteral("clients"), tr("Clients"), QStringLiteral("clients"), QKeySequence(Qt::Key_C), tr("Operate")}, parent) {
  const Theme& t = Theme::current();
  filter_ = new FilterBox(client_vocabulary(), id(), this);
  filter_->setChipsShown(false);
  filter_->setHint(QStringLiteral("errors > 0"));
  filter_->edit()->setAccessibleName(tr("Filter clients"));
  filter_->setMinimumWidth(t.px(160));
  filter_->setMaximumWidth(t.px(520));
  filter_->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
  filter_->setValues([this](const filter::Field& field) { return valuesOf(field.name); });
  filter_->setExamples({{QStringLiteral("errors > 0"), tr("clients that get errors")},
                        {QStringLiteral("software ~ \"librdkafka\" && version ~ \"^1\""), tr("old libraries")},
                        {QStringLiteral("api == Produce && not built_in"), tr("your own producers")},
                        {QStringLiteral("connections > 1"), tr("clients with several connections")}});
  connect(filter_, &FilterBox::applied, this, [this] {
    model_->setFilter(filter_->filtering() ? filter_->program() : nullptr);
    refresh(false);
  });
  header()->addLeft(filter_);
  built_in_ = new QCheckBox(tr("built-in"), this);
  built_in_->setToolTip(tr("Also the clients of this window: demo traffic and the produce panel"));
  built_in_->setChecked(true);
  connect(built_in_, &QCheckBox::toggled, this, [this](bool on) {
    model_->setBuiltInShown(on);
    refresh(false);
  });
  header()->addLeft(built_in_);
  peers_ = new QCheckBox(tr("between nodes"), this);
  peers_->setToolTip(tr("Also what the cluster's nodes say to each other: followers that fetch, votes, requests passed on"));
  connect(peers_, &QCheckBox::toggled, this, [this](bool on) {
    model_->setPeersShown(on);
    refresh(false);
  });
  peers_->hide();
  header()->addLeft(peers_);
  auto* disconnect = new Button(Button::Kind::normal, QStringLiteral("close"), tr("Disconnect"), this);
  connect(disconnect, &Button::clicked, this, &ClientsPage::disconnectChosen);
  header()->addRight(disconnect);
  disconnect_ = disconnect;
  disconnect_->setToolTip(tr("Close the connections of the selected client; most clients connect again at once"));
  disconnect_->setEnabled(false);

  model_ = new ClientsModel([this](const observe::ConnectionView& c) { return session() != nullptr && session()->builtIn(c); }, this);
  auto* content = new Pane(this);
  auto* column = new QVBoxLayout(content);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  split_ = new QSplitter(Qt::Vertical, content);
  split_->setChildrenCollapsible(false);
  split_->setHandleWidth(1);
  upper_ = new QStackedWidget(split_);
  table_ = new QTableView(upper_);
  setup_table(table_, tr("Clients"));
  table_->setModel(model_);
  table_->setItemDelegate(new ClientDelegate(table_));
  table_->setStyleSheet(QStringLiteral("QTableView::item:hover { background: transparent; }"));
  new HoverRow(table_);
  table_->installEventFilter(this);
  table_->viewport()->installEventFilter(this);
  connect(table_, &QTableView::doubleClicked, this,
          [this](const QModelIndex& at) { setOpen(at.row(), model_->fold(at.row()) == ClientsModel::Fold::closed); });
  table_->horizontalHeader()->setSectionsClickable(false);
  upper_->addWidget(table_);
  auto* lower = new Pane(split_);
  auto* rows = new QVBoxLayout(lower);
  rows->setContentsMargins(0, 0, 0, 0);
  rows->setSpacing(0);
  tabs_ = new TabStrip({tr("Connect your app"), tr("Who can reach it")}, lower);
  tabs_->setAccessibleName(tr("Connecting"));
  tabs_->setFixedHeight(t.px(Metrics::kDockHeader));
  connect(tabs_, &TabStrip::activated, this, [this](int index) { showTab(static_cast<Tab>(index)); });
  rows->addWidget(tabs_);
  rows->addWidget(new Line(Qt::Horizontal, false, lower));
  lower_ = new QStackedWidget(lower);
  connect_ = new ConnectPanel(lower_);
  doctor_ = new DoctorPanel(lower_);
  lower_->addWidget(connect_);
  lower_->addWidget(doctor_);
  rows->addWidget(lower_, 1);
  split_->addWidget(upper_);
  split_->addWidget(lower);
  split_->setStretchFactor(0, 1);
  split_->setStretchFactor(1, 1);
  column->addWidget(split_);
  setContent(content);
  setFocusProxy(table_);
  connect(filter_, &FilterBox::leaveRequested, this, [this] { table_->setFocus(); });

  connect(doctor_, &DoctorPanel::diagnosed, this, [this] {
    const auto& verdicts = doctor_->rows();
    const bool bad = !verdicts.empty() && verdicts.front().verdict == DoctorRow::Verdict::fails;
    tabs_->setCount(static_cast<int>(Tab::doctor), bad ? QStringLiteral("!") : QString());
  });
  const auto choose = [this] {
    const QModelIndexList chosen = table_->selectionModel()->selectedRows();
    const std::uint64_t id = chosen.isEmpty() ? 0 : model_->connectionAt(chosen.front().row());
    disconnect_->setEnabled(id != 0);
    if (id != 0 && !following_ && selection() != Selection::ofConnection(id)) {
      Q_EMIT selectionRequested(Selection::ofConnection(id));
    }
  };
  // Not the current row: a table that gets the focus has one, and nothing is chosen by that. And a click on a row that is selected
  // already, while the window has gone on to something else, chooses it again.
  connect(table_->selectionModel(), &QItemSelectionModel::selectionChanged, this, choose);
  connect(table_, &QTableView::clicked, this, choose);
  connect(this, &Page::commandRequested, this, [this](const QString& id) {
    if (id == QLatin1String("clients.clear_filter")) {
      filter_->setText({});
    }
  });
  settle_ = new QTimer(this);
  settle_->setSingleShot(true);
  settle_->setInterval(1'050);
  connect(settle_, &QTimer::timeout, this, [this] {
    if (isVisible()) {
      refresh(true);
    }
  });
}

void ClientsPage::attach(Session* session) {
  Page::attach(session);
  fitColumns();
  doctor_->attach(session);
}

void ClientsPage::showEvent(QShowEvent* event) {
  Page::showEvent(event);
  since_rates_.invalidate();
  if (session() != nullptr) {
    refresh(true);
    doctor_->examineIfNew();
  }
}

void ClientsPage::frame() {
  if (!isVisible()) {
    return;
  }
  const bool several = session()->view()->nodes.size() > 1;
  if (several != peers_->isVisibleTo(this)) {
    peers_->setVisible(several);
    fitColumns();
  }
  if (!since_rates_.isValid() || since_rates_.elapsed() >= 1'000) {
    refresh(true);
  } else if (session()->view()->connections != seen_) {
    refresh(false);
  } else if (!settle_->isActive()) {
    settle_->start();
  }
  doctor_->examineIfNew();
}

void ClientsPage::refresh(bool rates) {
  if (session() == nullptr) {
    return;
  }
  double seconds = 0;
  if (rates) {
    seconds = since_rates_.isValid() ? static_cast<double>(since_rates_.restart()) / 1000.0 : -1;
    if (!since_rates_.isValid()) {
      since_rates_.start();
    }
  }
  const observe::ViewPtr now = session()->view();
  seen_ = now->connections;
  // A row that goes takes the current one along; the selection stays what it was.
  following_ = true;
  model_->update(*now, seconds);
  following_ = false;
  if (selection().kind == Selection::Kind::connection) {
    followSelection();
  }
  connect_->setTarget(session()->bootstrapList(), selection().topic.isEmpty() ? example_topic(*now) : selection().topic);
  const int clients = static_cast<int>(count_clients(*now));
  const int connections = model_->total() + model_->hiddenBuiltIn();
  QString count = QStringLiteral("%1 · %2").arg(tr("%Ln client(s)", nullptr, clients), tr("%Ln connection(s)", nullptr, connections));
  if (model_->shown() != connections) {
    count += QStringLiteral(" · ") + tr("%1 shown").arg(format_count(model_->shown()));
  }
  header()->setCount(count);
  filter_->setCounts({.shown = model_->shown(), .total = model_->total()});
  updateNotice();
  if (model_->moving()) {
    settle_->start();  // rates fall to nothing once nothing moves
  }
}

void ClientsPage::updateNotice() {
  // 0: rows, 1: nobody, 2: the filter hides all, 3: only built-in ones, 4: no node yet
  const int kind = model_->rowCount() > 0                       ? 0
                   : session()->view()->nodes.empty()           ? 4
                   : model_->total() > 0                        ? 2
                   : model_->hiddenBuiltIn() > 0                ? 3
                                                                : 1;
  if (kind == notice_kind_ && kind != 2) {
    return;
  }
  notice_kind_ = kind;
  if (notice_ != nullptr) {
    upper_->removeWidget(notice_);
    notice_->deleteLater();
    notice_ = nullptr;
  }
  if (kind == 0) {
    upper_->setCurrentWidget(table_);
    return;
  }
  PageNotice notice;
  notice.drawing = draw_clients;
  switch (kind) {
    case 2:
      notice.kind = PageNotice::Kind::filtered;
      notice.title = tr("0 of %1 connections").arg(format_count(model_->total()));
      notice.text = tr("The filter “%1” hides all of them.").arg(filter_->appliedText());
      notice.action_text = tr("Clear filter");
      notice.action_command = QStringLiteral("clients.clear_filter");
      notice.drawing = {};
      break;
    case 3:
      notice.title = tr("Only the window's own clients are connected");
      notice.text = tr("Your application appears here with its first request. The code below connects it.");
      break;
    case 4:
      notice.kind = PageNotice::Kind::not_available;
      notice.title = tr("The cluster is not running");
      notice.text = tr("Clients appear here as soon as a node listens.");
      break;
    default:
      notice.title = tr("No client is connected");
      notice.text = tr("Whoever connects appears here, with its software, what it asks for and what fails. The code below "
                       "connects your application.");
      notice.action_text = tr("Copy address");
      notice.action_command = QStringLiteral("connect.copy");
      notice.second_text = tr("Start demo traffic");
      notice.second_command = QStringLiteral("demo.toggle");
      break;
  }
  if (height() < Theme::current().px(640)) {
    notice.drawing = {};
  }
  notice_ = make_notice(notice, upper_, [this](const QString& command) { Q_EMIT commandRequested(command, {}); });
  upper_->addWidget(notice_);
  upper_->setCurrentWidget(notice_);
}

void ClientsPage::setSelection(const Selection& selection) {
  Page::setSelection(selection);
  if (session() != nullptr && isVisible()) {
    refresh(false);
  }
  followSelection();
}

void ClientsPage::followSelection() {
  const bool connection = selection().kind == Selection::Kind::connection;
  const int row = connection ? model_->rowOf(selection().connection) : -1;
  // The row of the client stands for its first connection, also where that has a row of its own.
  const bool there = connection && model_->connectionAt(table_->currentIndex().row()) == selection().connection;
  if (!there && table_->currentIndex().row() != row) {
    following_ = true;
    if (row < 0) {
      table_->selectionModel()->clear();
    } else {
      table_->setCurrentIndex(model_->index(row, 0));
    }
    following_ = false;
  }
  disconnect_->setEnabled(row >= 0);
}

void ClientsPage::setOpen(int row, bool open) {
  const ClientsModel::Fold fold = model_->fold(row);
  if (fold == ClientsModel::Fold::none || (fold == ClientsModel::Fold::inside && open)) {
    return;
  }
  model_->setOpen(row, open);
  refresh(false);
}

bool ClientsPage::eventFilter(QObject* object, QEvent* event) {
  if (object == table_->viewport() && event->type() == QEvent::Resize) {
    fitColumns();
  }
  const int row = table_->currentIndex().row();
  if (object == table_ && event->type() == QEvent::KeyPress && model_->fold(row) != ClientsModel::Fold::none) {
    const auto* key = static_cast<QKeyEvent*>(event);
    if (key->modifiers() == Qt::NoModifier && (key->key() == Qt::Key_Right || key->key() == Qt::Key_Left)) {
      setOpen(row, key->key() == Qt::Key_Right);
      return true;
    }
  }
  if (object == table_->viewport() && event->type() == QEvent::MouseButtonPress) {
    const QPoint at = static_cast<QMouseEvent*>(event)->pos();
    const QModelIndex index = table_->indexAt(at);
    const ClientsModel::Fold fold = model_->fold(index.row());
    const int right = Theme::current().px(kNameLeft + kFoldWidth);
    if (index.isValid() && index.column() == ClientsModel::client && at.x() < table_->columnViewportPosition(ClientsModel::client) + right &&
        (fold == ClientsModel::Fold::closed || fold == ClientsModel::Fold::open)) {
      setOpen(index.row(), fold == ClientsModel::Fold::closed);
      return true;
    }
  }
  return Page::eventFilter(object, event);
}

// All connections of the row, so that a client with several is gone, and not only a part of it.
void ClientsPage::disconnectChosen() {
  for (const std::uint64_t connection : model_->connectionsAt(table_->currentIndex().row())) {
    Q_EMIT commandRequested(QStringLiteral("client.disconnect"), {{QStringLiteral("connection"), QVariant::fromValue<qulonglong>(connection)}});
  }
}

void ClientsPage::fitColumns() {
  // The APIs say more than since when it is there. One node alone needs no column.
  const Theme& t = Theme::current();
  const int room = seen_width(table_);
  table_->setColumnHidden(ClientsModel::node, session() == nullptr || session()->view()->nodes.size() < 2);
  table_->setColumnHidden(ClientsModel::since, room < t.px(1'100));
  for (const int column : {ClientsModel::software, ClientsModel::bytes_in, ClientsModel::bytes_out}) {
    table_->setColumnHidden(column, room < t.px(820));
  }
  const int widths[] = {0, 104, room < t.px(1'400) ? 116 : 168, 80, 76, 72, 82, 82, 58};  // an address with its port, where there is room
  int used = 0;
  for (int i = ClientsModel::software; i < ClientsModel::apis; ++i) {
    if (!table_->isColumnHidden(i)) {
      table_->horizontalHeader()->resizeSection(i, t.px(widths[i]));
      used += t.px(widths[i]);
    }
  }
  const int rest = std::max(t.px(250), room - used);
  const int name = std::clamp(rest * 45 / 100, t.px(158), t.px(320));
  table_->horizontalHeader()->resizeSection(ClientsModel::client, name);
  table_->horizontalHeader()->resizeSection(ClientsModel::apis, rest - name);
}

void ClientsPage::setWidthClass(int /*width_class*/) { fitColumns(); }

void ClientsPage::resizeEvent(QResizeEvent* event) {
  Page::resizeEvent(event);
  fitColumns();
}

bool ClientsPage::focusFilter() {
  filter_->focusText();
  return true;
}

bool ClientsPage::applyFilter(const QString& text) {
  filter_->setText(text);
  return true;
}

// What is connected now, each once, a screenful at most.
QStringList ClientsPage::valuesOf(const std::string& field) const {
  constexpr int kMost = 50;
  QStringList out;
  if (session() == nullptr) {
    return out;
  }
  const observe::ViewPtr view = session()->view();
  for (const auto& [id, connection] : *view->connections) {
    const QString value = field == "id"         ? QString::fromStdString(connection->client_id)
                          : field == "software" ? QString::fromStdString(connection->software_name)
                          : field == "version"  ? QString::fromStdString(connection->software_version)
                          : field == "host"     ? peer_host(connection->peer)
                                                : QString();
    if (!value.isEmpty() && !out.contains(value)) {
      out << value;
    }
    if (out.size() >= kMost) {
      break;
    }
  }
  return out;
}

Glyph ClientsPage::attention(const FaultFacts& /*faults*/) const {
  const auto& verdicts = doctor_->rows();
  return !verdicts.empty() && verdicts.front().verdict == DoctorRow::Verdict::fails ? Glyph::quarter : Glyph::none;
}

void ClientsPage::showTab(Tab tab) {
  tabs_->setCurrent(static_cast<int>(tab));
  lower_->setCurrentIndex(static_cast<int>(tab));
  if (tab == Tab::doctor) {
    doctor_->examineIfNew();
  }
}

}  // namespace hw::ui
