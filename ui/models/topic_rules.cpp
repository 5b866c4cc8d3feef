// SPDX-License-Identifier: Apache-2.0
#include "ui/models/topic_rules.h"

#include <QCoreApplication>

namespace hw::ui {

namespace {

QString tr(const char* text) { return QCoreApplication::translate("TopicRules", text); }

constexpr int kNameMax = 249;

}  // namespace

QString collision_form(const QString& name) {
  QString form = name;
  return form.replace(QLatin1Char('.'), QLatin1Char('_'));
}

RuleAnswer check_topic_name(const QString& name, const observe::ClusterView& view) {
  using Level = RuleAnswer::Level;
  if (name.isEmpty()) {
    return {Level::error, {}};
  }
  if (name == QLatin1String(".") || name == QLatin1String("..")) {
    return {Level::error, tr(QT_TRANSLATE_NOOP("TopicRules", "A topic cannot be called “.” or “..”"))};
  }
  if (name.size() > kNameMax) {
    return {Level::error, tr(QT_TRANSLATE_NOOP("TopicRules", "At most %1 characters; this has %2"))
                              .arg(kNameMax)
                              .arg(name.size())};
  }
  for (const QChar c : name) {
    const bool ok = (c >= u'a' && c <= u'z') || (c >= u'A' && c <= u'Z') || (c >= u'0' && c <= u'9') || c == u'.' ||
                    c == u'_' || c == u'-';
    if (!ok) {
      return {Level::error,
              c.isSpace() ? tr(QT_TRANSLATE_NOOP("TopicRules", "No spaces: only letters a to z, digits, “.”, “_” and “-”"))
                          : tr(QT_TRANSLATE_NOOP("TopicRules", "“%1” is not allowed: only letters a to z, digits, “.”, “_” and “-”"))
                                .arg(c)};
    }
  }
  if (name == QLatin1String("__cluster_metadata")) {
    return {Level::error, tr(QT_TRANSLATE_NOOP("TopicRules", "This name belongs to the controllers' own log"))};
  }
  const std::string wanted = name.toStdString();
  if (view.topics->find(wanted) != view.topics->end()) {
    return {Level::error, tr(QT_TRANSLATE_NOOP("TopicRules", "A topic of this name exists"))};
  }
  const QString form = collision_form(name);
  for (const auto& [other, topic] : *view.topics) {
    const QString text = QString::fromStdString(other);
    if (collision_form(text) == form) {
      return {Level::error, tr(QT_TRANSLATE_NOOP("TopicRules",
                                                 "Collides with %1: “.” and “_” are the same in metric names"))
                                .arg(text)};
    }
  }
  if (name == QLatin1String("__consumer_offsets") || name == QLatin1String("__transaction_state") ||
      name == QLatin1String("__share_group_state")) {
    return {Level::warning, tr(QT_TRANSLATE_NOOP("TopicRules", "Kafka makes this topic itself when it needs it"))};
  }
  if (name.contains(QLatin1Char('.')) && name.contains(QLatin1Char('_'))) {
    return {Level::warning,
            tr(QT_TRANSLATE_NOOP("TopicRules", "Works, but use either “.” or “_”: both look the same in metric names"))};
  }
  return {};
}

RuleAnswer check_replication_factor(int factor, const observe::ClusterView& view) {
  int brokers = 0;
  for (const auto& [id, node] : view.nodes) {
    brokers += node->broker && node->state == observe::NodeView::State::running ? 1 : 0;
  }
  if (factor > brokers) {
    return {RuleAnswer::Level::error,
            QCoreApplication::translate("TopicRules", "Only %Ln broker(s) are running, so at most as many replicas", nullptr,
                                        brokers)};
  }
  return {};
}

}  // namespace hw::ui
