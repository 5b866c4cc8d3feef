// SPDX-License-Identifier: Apache-2.0
#include "ui/window/top_bar.h"

#include <QDir>
#include <QHBoxLayout>
#include <QPainter>
#include <QPainterPath>

#include "ui/painting/text.h"
#include "ui/theme/theme.h"
#include "ui/window/controls.h"
#include "ui/window/omnibox.h"

namespace hw::ui {

namespace {

// The mark: bars of a log below a high-water line.
class Mark : public QWidget {
 public:
  explicit Mark(QWidget* parent) : QWidget(parent) { setFixedSize(Theme::current().px(18), Theme::current().px(18)); }

 protected:
  void paintEvent(QPaintEvent*) override {
    const Colors& c = Theme::current().colors();
    QPainter p(this);
    p.scale(width() / 18.0, height() / 18.0);
    p.setRenderHint(QPainter::Antialiasing);
    p.setPen(Qt::NoPen);
    p.setBrush(c.leader);
    p.drawRoundedRect(QRectF(0, 0, 18, 18), 4, 4);
    p.setRenderHint(QPainter::Antialiasing, false);
    p.fillRect(QRectF(3, 5, 12, 2), c.on_primary);
    p.fillRect(QRectF(3, 11, 3, 4), c.on_primary);
    p.fillRect(QRectF(7.5, 9, 3, 6), c.on_primary);
    p.fillRect(QRectF(12, 8, 3, 7), c.on_primary);
  }
};

QString short_path(const QString& path) {
  const QString home = QDir::homePath();
  return path.startsWith(home + QLatin1Char('/')) ? QLatin1String("~") + path.mid(home.size()) : path;
}

}  // namespace

TopBar::TopBar(CommandRegistry* commands, std::function<observe::ViewPtr()> view, QWidget* window)
    : QWidget(window), commands_(commands) {
  const Theme& t = Theme::current();
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(t.px(13), 0, t.px(12), 0);
  row->setSpacing(t.px(8));

  auto* left = new QWidget(this);
  auto* left_row = new QHBoxLayout(left);
  left_row->setContentsMargins(0, 0, 0, 0);
  left_row->setSpacing(t.px(8));
  mark_ = new Mark(left);
  left_row->addWidget(mark_);
  name_ = new TextLabel(tr("Highwater"), FontRole::body_strong, TextLabel::Tone::text, left);
  left_row->addWidget(name_);
  cluster_ = new Button(Button::Kind::quiet, {}, {}, left);
  cluster_->setMenuArrow(true);
  cluster_->setAccessibleName(tr("Cluster menu"));
  connect(cluster_, &Button::clicked, this,
          [this] { Q_EMIT menuRequested(cluster_->mapToGlobal(QPoint(0, cluster_->height() + 2))); });
  left_row->addWidget(cluster_);
  mode_ = new Chip(left);
  mode_->setTall(true);
  mode_->setStrong(true);
  mode_->setPassive(true);
  mode_->setContent(Glyph::disc, tr("LIVE"), Chip::Tone::ok);
  mode_->setAccessibleName(tr("Live view"));
  left_row->addWidget(mode_);
  pause_ = new Button(Button::Kind::quiet, QStringLiteral("pause"), {}, left);
  runOn(pause_, QStringLiteral("view.pause"));
  left_row->addWidget(pause_);
  waiting_ = new Chip(left);
  waiting_->setTall(true);
  waiting_->hide();
  connect(waiting_, &Chip::clicked, this, [this] { commands_->run(QStringLiteral("view.pause")); });
  left_row->addWidget(waiting_);
  left_row->addStretch(1);

  auto* right = new QWidget(this);
  auto* right_row = new QHBoxLayout(right);
  right_row->setContentsMargins(0, 0, 0, 0);
  right_row->setSpacing(t.px(8));
  right_row->addStretch(1);
  storage_ = new Chip(right);
  storage_->setTall(true);
  connect(storage_, &Chip::clicked, this, &TopBar::storageClicked);
  right_row->addWidget(storage_);
  health_ = new Chip(right);
  health_->setTall(true);
  connect(health_, &Chip::clicked, this, &TopBar::healthClicked);
  right_row->addWidget(health_);
  right_row->addSpacing(t.px(2));
  theme_ = new Button(Button::Kind::quiet, QStringLiteral("theme"), {}, right);
  theme_->setName(tr("Theme and size"));
  connect(theme_, &Button::clicked, this,
          [this] { Q_EMIT themeMenuRequested(theme_->mapToGlobal(QPoint(0, theme_->height() + 2))); });
  right_row->addWidget(theme_);
  present_ = new Button(Button::Kind::quiet, QStringLiteral("fullscreen"), {}, right);
  runOn(present_, QStringLiteral("view.present"));
  right_row->addWidget(present_);

  omnibox_ = new Omnibox(commands, std::move(view), window);
  omnibox_->setParent(this);
  // Equal stretch at both sides keeps the field in the middle of the window.
  row->addWidget(left, 1);
  row->addWidget(omnibox_);
  row->addWidget(right, 1);
  setNarrow(false);
  setPaused(false, 0);
  const auto resize = [this] { setFixedHeight(Theme::current().px(Metrics::kTopBar)); };
  resize();
  connect(&t, &Theme::changed, this, resize);
}

void TopBar::runOn(Button* button, const QString& command) {
  const Command* c = commands_->find(command);
  button->setShortcutCap(commands_->shortcutText(command));
  button->setName(c == nullptr ? command : c->title);
  connect(button, &Button::clicked, this, [this, command] { commands_->run(command); });
}

void TopBar::setCluster(const QString& name) {
  cluster_->setText(name);
  cluster_->setAccessibleName(tr("Cluster %1, menu").arg(name));
}

void TopBar::setStorage(const StorageInfo& storage) {
  if (storage.in_memory) {
    storage_->setIconName(QStringLiteral("memory"));
    storage_->setContent(Glyph::none, tr("in memory"));
    storage_->setToolTip(tr("Records are gone when the window closes. Click to keep them on disk."));
    storage_->setAccessibleName(tr("Data lives in memory, keep it on disk"));
  } else {
    storage_->setIconName(QStringLiteral("storage"));
    const QString path = short_path(storage.directory);
    storage_->setContent(Glyph::none, elided(path, FontRole::control, 180, Qt::ElideMiddle));
    storage_->setToolTip(storage.directory);
    storage_->setAccessibleName(tr("Data lives in %1").arg(storage.directory));
  }
}

void TopBar::update(const observe::ClusterView& view, const FaultFacts& faults) {
  std::size_t running = 0;
  std::size_t starting = 0;
  for (const auto& [id, node] : view.nodes) {
    running += node->state == observe::NodeView::State::running ? 1U : 0U;
    starting += node->state == observe::NodeView::State::starting ? 1U : 0U;
  }
  const QString nodes = tr("%1/%2 nodes").arg(running).arg(view.nodes.size());
  if (view.nodes.empty() || starting > 0) {
    health_->setContent(Glyph::ring, tr("starting"), Chip::Tone::neutral);
  } else if (!faults.majority) {
    health_->setContent(Glyph::cross, tr("no majority"), Chip::Tone::err);
  } else if (faults.leaderless > 0) {
    health_->setContent(Glyph::cross, tr("%Ln without leader", nullptr, faults.leaderless), Chip::Tone::err);
  } else if (faults.silent > 0) {
    health_->setContent(Glyph::cross, tr("%Ln stand still", nullptr, faults.silent), Chip::Tone::err);
  } else if (running < view.nodes.size()) {
    health_->setContent(Glyph::quarter, nodes, Chip::Tone::warn);
  } else if (faults.behind > 0) {
    health_->setContent(Glyph::quarter, tr("%Ln behind", nullptr, faults.behind), Chip::Tone::warn);
  } else {
    health_->setContent(Glyph::disc, view.nodes.size() == 1 ? tr("1 node") : nodes, Chip::Tone::neutral);
  }
  const QString name = tr("Health: %1").arg(health_->text());
  if (health_->accessibleName() != name) {
    health_->setAccessibleName(name);
    health_->setToolTip(tr("%1 running. Click to see the cluster.").arg(nodes));
  }
}

void TopBar::setPaused(bool paused, std::int64_t waiting) {
  mode_->setContent(paused ? Glyph::ring : Glyph::disc, paused ? tr("PAUSED") : tr("LIVE"),
                    paused ? Chip::Tone::warn : Chip::Tone::ok);
  mode_->setAccessibleName(paused ? tr("View is paused") : tr("Live view"));
  pause_->setIconName(paused ? QStringLiteral("play") : QStringLiteral("pause"));
  pause_->setName(paused ? tr("Resume the view") : tr("Pause the view"));
  waiting_->setVisible(paused && waiting > 0);
  if (waiting > 0) {
    waiting_->setContent(Glyph::none, tr("+ %1 new").arg(format_count(waiting)));
    waiting_->setAccessibleName(tr("%1 new records, resume the view").arg(format_count(waiting)));
  }
}

void TopBar::setNarrow(bool narrow) {
  omnibox_->setFixedWidth(Theme::current().px(narrow ? 260 : 400));
  name_->setVisible(!narrow);
}

void TopBar::paintEvent(QPaintEvent*) {
  const Colors& c = Theme::current().colors();
  QPainter p(this);
  p.fillRect(rect(), c.chrome);
  p.fillRect(0, height() - 1, width(), 1, c.border);
}

}  // namespace hw::ui
