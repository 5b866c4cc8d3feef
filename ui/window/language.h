// SPDX-License-Identifier: Apache-2.0
// The language of the window: the system's where there is a translation, else English, whose file holds plural forms.
#pragma once

class QCoreApplication;

namespace hw::ui {

void install_language(QCoreApplication& application);

}  // namespace hw::ui
