// SPDX-License-Identifier: Apache-2.0
#include "ui/views/config_dialog.h"

#include <QHBoxLayout>
#include <QShortcut>
#include <QTableView>
#include <QVBoxLayout>
#include <algorithm>

#include "ui/session/undo_list.h"
#include "ui/theme/theme.h"
#include "ui/views/config_panel.h"
#include "ui/views/undo_bar.h"
#include "ui/window/controls.h"

namespace hw::ui {

ConfigDialog::ConfigDialog(Session* session, const ConfigResource& resource, QWidget* parent)
    : QDialog(parent), session_(session), resource_(resource) {
  const Theme& t = Theme::current();
  const bool broker = resource.kind == ConfigResource::Kind::broker;
  const bool all = broker && resource.name.empty();
  if (all) {
    // Somebody has to be asked what all of them have in common.
    const observe::ViewPtr view = session->view();
    resource_.name = view->nodes.empty() ? "0" : std::to_string(view->nodes.begin()->first.value());
  }
  setObjectName(QStringLiteral("configDialog"));
  setWindowTitle(tr("Configuration of %1").arg(ConfigPanel::nameOf(resource_)));
  const QSize room = parent == nullptr ? QSize(t.px(1100), t.px(700)) : parent->window()->size();
  resize(std::min(t.px(1000), room.width() - t.px(60)), std::min(t.px(600), room.height() - t.px(214)));
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, t.px(14), 0, 0);
  column->setSpacing(t.px(6));
  auto* head = new QHBoxLayout;
  head->setContentsMargins(t.px(16), 0, t.px(16), 0);
  head->setSpacing(t.px(10));
  head->addWidget(new TextLabel(broker ? tr("Brokers") : QString::fromStdString(resource_.name), FontRole::page_title, TextLabel::Tone::text, this));
  if (broker) {
    // All of a usual cluster; of a large one, the one that was asked for.
    constexpr std::size_t kBrokersMost = 6;
    const observe::ViewPtr view = session->view();
    const std::int32_t asked = QString::fromStdString(resource_.name).toInt();
    for (const auto& [id, node] : view->nodes) {
      if (view->nodes.size() <= kBrokersMost || id.value() == asked) {
        brokers_.push_back(id.value());
      }
    }
    if (std::find(brokers_.begin(), brokers_.end(), asked) == brokers_.end()) {
      brokers_.push_back(asked);
    }
    QStringList names;
    for (const std::int32_t id : brokers_) {
      names << tr("Broker %1").arg(id);
    }
    scope_ = new SegmentedControl(names << tr("All brokers"), this);
    scope_->setAccessibleDescription(tr("Whose configuration is changed"));
    connect(scope_, &SegmentedControl::activated, this, [this](int index) {
      const auto at = static_cast<std::size_t>(index);
      if (at < brokers_.size()) {
        showBroker(brokers_[at]);
      } else {
        showAllBrokers(true);
      }
    });
    head->addWidget(scope_);
  }
  words_ = new TextLabel({}, FontRole::body, TextLabel::Tone::text2, this);
  words_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  head->addWidget(words_, 1);
  auto* close = new Button(Button::Kind::normal, {}, tr("Close"), this);
  connect(close, &Button::clicked, this, &QDialog::reject);
  head->addWidget(close);
  column->addLayout(head);
  panel_ = new ConfigPanel(this);
  panel_->attach(session);
  column->addWidget(panel_, 1);
  undo_ = new UndoBar(this);
  undo_->attach(UndoList::of(session));
  connect(undo_, &UndoBar::undoRequested, this, &ConfigDialog::undo);
  connect(panel_, &ConfigPanel::applied, this, [this] { undo_->say({}, false); });
  column->addWidget(undo_);
  // The window's own is not heard while a dialog is open.
  connect(new QShortcut(QKeySequence(Qt::CTRL | Qt::Key_Z), this), &QShortcut::activated, this, &ConfigDialog::undo);
  new FocusRing(this);
  if (broker) {
    showAllBrokers(all);
  } else {
    words_->setText(tr("Counts for members of the consumer, share and streams protocols; classic members bring their own."));
    panel_->show(resource_);
  }
  words_->setToolTip(words_->text());
  panel_->table()->setFocus();
}

void ConfigDialog::showBroker(std::int32_t id) {
  resource_.name = std::to_string(id);
  showAllBrokers(false);
}

void ConfigDialog::showAllBrokers(bool all) {
  const auto broker = std::find(brokers_.begin(), brokers_.end(), QString::fromStdString(resource_.name).toInt());
  scope_->setCurrent(static_cast<int>((all ? brokers_.end() : broker) - brokers_.begin()));
  words_->setText(all ? tr("Counts where a broker has no value of its own, and before its start file.") : tr("Counts for this one broker, before what all have in common."));
  words_->setToolTip(words_->text());
  panel_->show(all ? ConfigResource{ConfigResource::Kind::broker, {}} : resource_, resource_.name);
}

void ConfigDialog::undo() {
  if (session_ == nullptr) {
    return;
  }
  const QPointer<ConfigDialog> self(this);
  UndoList::of(session_)->undo({}, [self](const QString& text, const QString& error) {
    if (self != nullptr) {
      self->undo_->say(error.isEmpty() ? tr("Taken back: %1").arg(text) : tr("Not taken back: %1. %2").arg(text, error), !error.isEmpty());
    }
  });
}

}  // namespace hw::ui
