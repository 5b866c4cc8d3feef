// SPDX-License-Identifier: Apache-2.0
#include "ui/window/language.h"

#include <QCoreApplication>
#include <QLocale>
#include <QTranslator>

// Resource initialisers are plain functions outside every namespace.
static void load_translations() { Q_INIT_RESOURCE(highwater_i18n); }

namespace hw::ui {

void install_language(QCoreApplication& application) {
  load_translations();
  auto* translator = new QTranslator(&application);
  if (translator->load(QLocale(), QStringLiteral("highwater"), QStringLiteral("_"), QStringLiteral(":/i18n")) ||
      translator->load(QStringLiteral(":/i18n/highwater_en.qm"))) {
    QCoreApplication::installTranslator(translator);
  }
}

}  // namespace hw::ui
