// SPDX-License-Identifier: Apache-2.0
#include "ui/views/clients_connect.h"

#include <QClipboard>
#include <QDateTime>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QPlainTextEdit>
#include <QScrollArea>
#include <QVBoxLayout>
#include <algorithm>

#include "ui/models/connect_snippets.h"
#include "ui/painting/text.h"
#include "ui/session/session_nodes.h"
#include "ui/views/pane.h"
#include "ui/window/command_box.h"
#include "ui/window/controls.h"

namespace hw::ui {

namespace {

// A glyph of the verdict, 14 wide.
class VerdictMark : public QWidget {
 public:
  VerdictMark(DoctorRow::Verdict verdict, QWidget* parent) : QWidget(parent), verdict_(verdict) {
    setFixedSize(Theme::current().px(16), Theme::current().px(18));
  }

 protected:
  void paintEvent(QPaintEvent*) override {
    QPainter p(this);
    const Theme& t = Theme::current();
    const Glyph glyph = verdict_ == DoctorRow::Verdict::works   ? Glyph::check
                        : verdict_ == DoctorRow::Verdict::fails ? Glyph::cross
                        : verdict_ == DoctorRow::Verdict::unsure ? Glyph::quarter
                                                                 : Glyph::ring;
    paint_glyph(p, glyph, QPointF(t.pxf(7), t.pxf(9)), t.pxf(12));
  }

 private:
  DoctorRow::Verdict verdict_;
};

QString verdict_word(DoctorRow::Verdict verdict) {
  switch (verdict) {
    case DoctorRow::Verdict::works:
      return DoctorPanel::tr("works");
    case DoctorRow::Verdict::fails:
      return DoctorPanel::tr("does not work");
    case DoctorRow::Verdict::unsure:
      return DoctorPanel::tr("cannot be told from here");
    case DoctorRow::Verdict::checking:
      break;
  }
  return DoctorPanel::tr("trying");
}

}  // namespace

ConnectPanel::ConnectPanel(QWidget* parent) : QWidget(parent) {
  const Theme& t = Theme::current();
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(t.px(16), t.px(10), t.px(16), t.px(12));
  column->setSpacing(t.px(8));
  QStringList titles;
  for (const ConnectSnippet& s : connect_snippets({}, {})) {
    titles << s.title;
  }
  auto* first = new QHBoxLayout;
  first->setSpacing(t.px(8));
  languages_ = new SegmentedControl(titles, this);
  languages_->setAccessibleDescription(tr("Language or tool"));
  connect(languages_, &SegmentedControl::activated, this, &ConnectPanel::choose);
  first->addWidget(languages_);
  first->addStretch(1);
  auto* copy = new Button(Button::Kind::normal, QStringLiteral("copy"), tr("Copy code"), this);
  connect(copy, &Button::clicked, this, [this] { QGuiApplication::clipboard()->setText(code()); });
  first->addWidget(copy);
  column->addLayout(first);
  auto* second = new QHBoxLayout;
  second->setSpacing(t.px(8));
  library_ = new TextLabel({}, FontRole::control, TextLabel::Tone::text3, this);
  address_ = new CommandBox({}, QStringLiteral("bootstrap.servers"), this);
  install_ = new CommandBox({}, {}, this);
  second->addWidget(address_, 2);
  second->addWidget(install_, 3);
  second->addWidget(library_);
  column->addLayout(second);
  code_ = new QPlainTextEdit(this);
  code_->setReadOnly(true);
  code_->setTabChangesFocus(true);
  code_->setLineWrapMode(QPlainTextEdit::NoWrap);
  code_->setAccessibleName(tr("Code to connect with"));
  code_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  const auto restyle = [this] { code_->setFont(Theme::current().font(FontRole::data)); };
  restyle();
  connect(&t, &Theme::changed, this, restyle);
  column->addWidget(code_, 1);
}

void ConnectPanel::setTarget(const QString& bootstrap, const QString& topic) {
  if (bootstrap == bootstrap_ && topic == topic_) {
    return;
  }
  bootstrap_ = bootstrap;
  topic_ = topic;
  fill();
}

void ConnectPanel::choose(int language) {
  language_ = language;
  languages_->setCurrent(language);
  fill();
}

void ConnectPanel::fill() {
  const std::vector<ConnectSnippet> all = connect_snippets(bootstrap_, topic_);
  const ConnectSnippet& s = all[static_cast<std::size_t>(std::clamp(language_, 0, static_cast<int>(all.size()) - 1))];
  address_->setCommand(bootstrap_);
  install_->setCommand(s.install);
  install_->setVisible(!s.install.isEmpty());
  library_->setText(s.library);
  code_->setPlainText(s.code);
}

QString ConnectPanel::code() const { return code_->toPlainText(); }

QString ConnectPanel::shownLanguage() const {
  return connect_snippets({}, {})[static_cast<std::size_t>(language_)].id;
}

DoctorPanel::DoctorPanel(QWidget* parent) : QWidget(parent) {
  const Theme& t = Theme::current();
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  auto* scroll = new QScrollArea(this);
  scroll->setFrameShape(QFrame::NoFrame);
  scroll->setWidgetResizable(true);
  scroll->setFocusPolicy(Qt::NoFocus);
  scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  body_ = new Pane(scroll);
  auto* inner = new QVBoxLayout(body_);
  inner->setContentsMargins(t.px(16), t.px(10), t.px(16), t.px(12));
  inner->setSpacing(t.px(10));
  auto* head = new QHBoxLayout;
  head->setSpacing(t.px(10));
  auto* about = new TextLabel(tr("A client connects twice: to the address you give it, and then to the one that the broker "
                                 "advertises. Both have to work from where it runs."),
                              FontRole::control, TextLabel::Tone::text2, body_);
  about->setWordWrap(true);
  head->addWidget(about, 1);
  when_ = new TextLabel({}, FontRole::small_data, TextLabel::Tone::text3, body_);
  head->addWidget(when_);
  again_ = new Button(Button::Kind::normal, QStringLiteral("refresh"), tr("Try again"), body_);
  connect(again_, &Button::clicked, this, &DoctorPanel::examine);
  head->addWidget(again_);
  inner->addLayout(head);
  list_ = new QVBoxLayout;
  list_->setSpacing(t.px(10));
  inner->addLayout(list_);
  control_ = new QWidget(body_);
  auto* control = new QVBoxLayout(control_);
  control->setContentsMargins(0, t.px(4), 0, 0);
  control->setSpacing(t.px(6));
  control_about_ = new TextLabel({}, FontRole::control, TextLabel::Tone::text2, control_);
  control_about_->setWordWrap(true);
  control->addWidget(control_about_);
  control_line_ = new CommandBox({}, {}, control_);
  control->addWidget(control_line_);
  inner->addWidget(control_);
  inner->addStretch(1);
  scroll->setWidget(body_);
  column->addWidget(scroll);
}

void DoctorPanel::attach(Session* session) { session_ = session; }

void DoctorPanel::fillControl() {
  const SessionNodes::ControlPort port = SessionNodes::of(session_).controlPort();
  control_->setVisible(port != SessionNodes::ControlPort{});
  control_line_->setVisible(!port.address.isEmpty());
  if (port.address.isEmpty()) {
    control_about_->setText(tr("Other programs cannot control the nodes: %1").arg(port.problem));
    return;
  }
  control_about_->setText(tr("The nodes are also controlled at %1, by hw and over HTTP: http://%1/openapi.json says how.").arg(port.address));
  control_line_->setCommand(QStringLiteral("hw --control %1 cluster status").arg(port.address));
}

void DoctorPanel::examineIfNew() {
  if (session_ == nullptr) {
    return;
  }
  const std::vector<ListenerInfo> listeners = session_->listeners();
  const QString cluster = QString::fromStdString(session_->view()->cluster_id);
  // Before the node runs there is nothing to try.
  const bool ready = !listeners.empty() && !cluster.isEmpty();
  if (ready && (round_ == 0 || !(listeners.front() == input_.listener) || cluster != input_.cluster_id)) {
    examine();
  }
}

void DoctorPanel::examine() {
  if (session_ == nullptr) {
    return;
  }
  const std::vector<ListenerInfo> listeners = session_->listeners();
  if (listeners.empty()) {
    when_->setText(tr("not available here"));
    return;
  }
  const std::uint64_t round = ++round_;
  input_ = {};
  input_.listener = listeners.front();
  input_.cluster_id = QString::fromStdString(session_->view()->cluster_id);
  input_.machine = session_->machineAddresses();
  const std::vector<DoctorAddress> addresses = to_ask(input_);
  waiting_ = static_cast<int>(addresses.size());
  again_->setEnabled(false);
  when_->setText(tr("trying"));
  fill();
  for (const DoctorAddress& address : addresses) {
    const QPointer<DoctorPanel> self(this);
    session_->checkListener(address.host, address.port, [self, round, address](const ListenerCheck& check) {
      if (self == nullptr || self->round_ != round) {
        return;
      }
      self->input_.checks[host_port(address.host, address.port)] = check;
      --self->waiting_;
      if (self->waiting_ == 0) {
        self->again_->setEnabled(true);
        self->when_->setText(tr("tried at %1").arg(QDateTime::currentDateTime().toString(QStringLiteral("HH:mm:ss"))));
      }
      self->fill();
      if (self->waiting_ == 0) {
        Q_EMIT self->diagnosed();
      }
    });
  }
}

void DoctorPanel::fill() {
  const Theme& t = Theme::current();
  fillControl();
  rows_ = diagnose(input_);
  while (QLayoutItem* item = list_->takeAt(0)) {
    if (item->widget() != nullptr) {
      item->widget()->deleteLater();
    }
    delete item;
  }
  for (const DoctorRow& row : rows_) {
    auto* box = new QWidget(body_);
    box->setAccessibleName(tr("%1: %2. %3 %4").arg(row.who, verdict_word(row.verdict), row.sentence, row.advice).trimmed());
    auto* lines = new QHBoxLayout(box);
    lines->setContentsMargins(0, 0, 0, 0);
    lines->setSpacing(t.px(8));
    auto* mark = new VerdictMark(row.verdict, box);
    lines->addWidget(mark, 0, Qt::AlignTop);
    auto* text = new QVBoxLayout;
    text->setSpacing(t.px(3));
    auto* head = new QHBoxLayout;
    head->setSpacing(t.px(10));
    head->addWidget(new TextLabel(row.who, FontRole::body_strong, TextLabel::Tone::text, box));
    const TextLabel::Tone tone = row.verdict == DoctorRow::Verdict::works    ? TextLabel::Tone::ok
                                 : row.verdict == DoctorRow::Verdict::fails  ? TextLabel::Tone::err
                                 : row.verdict == DoctorRow::Verdict::unsure ? TextLabel::Tone::warn
                                                                             : TextLabel::Tone::text3;
    head->addWidget(new TextLabel(verdict_word(row.verdict), FontRole::control, tone, box));
    head->addStretch(1);
    if (!row.bootstrap.isEmpty()) {
      head->addWidget(new TextLabel(QStringLiteral("%1 → %2").arg(row.bootstrap, row.told), FontRole::data,
                                    TextLabel::Tone::text2, box));
    }
    text->addLayout(head);
    const QString words = row.advice.isEmpty() ? row.sentence : row.sentence + QLatin1Char(' ') + row.advice;
    auto* sentence = new TextLabel(words, FontRole::body, TextLabel::Tone::text2, box);
    sentence->setWordWrap(true);
    text->addWidget(sentence);
    if (!row.options.isEmpty()) {
      text->addSpacing(t.px(3));
      text->addWidget(new CommandBox(row.options, QStringLiteral("highwater"), box));
    }
    lines->addLayout(text, 1);
    list_->addWidget(box);
  }
}

}  // namespace hw::ui
