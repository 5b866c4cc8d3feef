// SPDX-License-Identifier: Apache-2.0
// The source tree is tested like code. The rules are in tree_rules.h; they have tests of their own below.
#include <QDir>
#include <QDirIterator>
#include <QFile>
#include <QRegularExpression>
#include <QTest>

#include "tests/tools/tree_rules.h"

using namespace hw::tidy;  // NOLINT(google-build-using-namespace): a test

namespace {

const QDir kRoot(QStringLiteral(HIGHWATER_SOURCE_DIR));

std::string content(const QString& path) {
  QFile file(path);
  return file.open(QIODevice::ReadOnly) ? file.readAll().toStdString() : std::string();
}

// Files of the tree, relative, with one of these endings.
QStringList files(const QStringList& endings) {
  QStringList out;
  for (const char* top : {"engine", "ui", "app", "tests", "resources", "translations", "installer"}) {
    QDirIterator it(kRoot.filePath(QString::fromLatin1(top)), QDir::Files, QDirIterator::Subdirectories);
    while (it.hasNext()) {
      const QString path = kRoot.relativeFilePath(it.next());
      for (const QString& ending : endings) {
        if (path.endsWith(ending)) {
          out << path;
        }
      }
    }
  }
  out.sort();
  return out;
}

void report(QStringList& problems, const QString& path, const std::vector<Finding>& findings) {
  for (const Finding& finding : findings) {
    problems << QStringLiteral("%1:%2: %3").arg(path).arg(finding.line).arg(QString::fromStdString(finding.what));
  }
}

void show(const QStringList& problems) {
  QVERIFY2(problems.isEmpty(), qPrintable(QStringLiteral("\n") + problems.join(QLatin1Char('\n'))));
}

}  // namespace

class TestTidy : public QObject {
  Q_OBJECT
 private slots:
  void texts() {
    QStringList problems;
    for (const QString& path : files({".h", ".cpp", "CMakeLists.txt", ".cmake", ".sh", ".py"})) {
      report(problems, path, check_text(path.toStdString(), content(kRoot.filePath(path))));
    }
    show(problems);
  }
  void words() {
    QStringList problems;
    for (const QString& path : files({".h", ".cpp"})) {
      if (!path.startsWith(QLatin1String("tests/tools/"))) {
        report(problems, path, check_words(path.toStdString(), content(kRoot.filePath(path))));
      }
    }
    show(problems);
  }
  void counts() {
    QStringList problems;
    for (const QString& path : files({".h", ".cpp", ".ts"})) {
      report(problems, path, check_counts(path.toStdString(), content(kRoot.filePath(path))));
    }
    show(problems);
  }
  // A text with a count has every plural form in every language; English has a file for that alone.
  void pluralForms() {
    static const QRegularExpression kMessage(QStringLiteral("<message numerus=\"yes\">.*?<source>(.*?)</source>(.*?)</message>"),
                                             QRegularExpression::DotMatchesEverythingOption);
    static const QRegularExpression kLiteral(QStringLiteral("\"((?:[^\"\\\\\\n]|\\\\.)*)\""));
    QString sources;
    QStringList problems;
    for (const QString& path : files({".ts"})) {
      const QString text = QString::fromStdString(content(kRoot.filePath(path)));
      for (auto it = kMessage.globalMatch(text); it.hasNext();) {
        const QRegularExpressionMatch m = it.next();
        sources += m.captured(1) + QLatin1Char('\n');
        if (m.captured(2).contains(QLatin1String("unfinished")) || m.captured(2).contains(QLatin1String("<numerusform></numerusform>")) ||
            !m.captured(2).contains(QLatin1String("</numerusform>"))) {
          problems << path + QStringLiteral(": no plural forms of: ") + m.captured(1);
        }
      }
    }
    QVERIFY(!sources.isEmpty());
    for (const QString& path : files({".h", ".cpp"})) {
      if (!path.startsWith(QLatin1String("ui/")) && !path.startsWith(QLatin1String("app/highwater/"))) {
        continue;
      }
      const QString text = QString::fromStdString(content(kRoot.filePath(path)));
      for (auto it = kLiteral.globalMatch(text); it.hasNext();) {
        const QString literal = it.next().captured(1);
        if (literal.contains(QLatin1String("%Ln")) && !sources.contains(literal.toHtmlEscaped())) {
          problems << path + QStringLiteral(": not in the .ts files (target update_translations): ") + literal;
        }
      }
    }
    show(problems);
  }
  void arrows() {
    const Arrows arrows = parse_arrows(content(kRoot.filePath(QStringLiteral("engine/module.cmake"))));
    QVERIFY(arrows.size() > 10);
    QStringList problems;
    for (const QString& path : files({".h", ".cpp"})) {
      report(problems, path, check_includes(path.toStdString(), content(kRoot.filePath(path)), arrows));
    }
    show(problems);
  }
  void readmes() {
    QStringList problems;
    QSet<QString> folders;
    for (const QString& path : files({".h", ".cpp"})) {
      const QStringList parts = path.split(QLatin1Char('/'));
      // engine/x, ui/x, app/x and tests/x have a README each; deeper folders may.
      if (parts.size() > 2) {
        folders.insert(parts[0] + QLatin1Char('/') + parts[1]);
      }
    }
    for (const QString& folder : std::as_const(folders)) {
      const QString path = folder + QStringLiteral("/README.md");
      if (!kRoot.exists(path)) {
        problems << folder + QStringLiteral(": no README.md");
      } else {
        report(problems, path, check_readme(content(kRoot.filePath(path))));
      }
    }
    problems.sort();
    show(problems);
  }
  void everySourceIsBuilt() {
    QHash<QString, QString> lists;  // folder → text of the build files in it and above it
    QStringList problems;
    for (const QString& path : files({".cpp"})) {
      const QString name = path.section(QLatin1Char('/'), -1);
      bool named = false;
      for (QString folder = path.section(QLatin1Char('/'), 0, -2); !folder.isEmpty() && !named;
           folder = folder.section(QLatin1Char('/'), 0, -2)) {
        if (!lists.contains(folder)) {
          QString text;
          for (const char* list : {"CMakeLists.txt", "sources.cmake"}) {
            text += QString::fromStdString(content(kRoot.filePath(folder + QLatin1Char('/') + QLatin1String(list))));
          }
          lists.insert(folder, text);
        }
        named = lists[folder].contains(name) || lists[folder].contains(name.chopped(4));
      }
      if (!named) {
        problems << path + QStringLiteral(": in no CMakeLists.txt");
      }
    }
    show(problems);
  }

  // --- the rules themselves
  void rulesFind() {
    QCOMPARE(check_text("a.cpp", "// SPDX-License-Identifier: Apache-2.0\nint a;\n").size(), std::size_t{0});
    QCOMPARE(check_text("a.cpp", "int a; \n\tint b;").size(), std::size_t{4});
    QCOMPARE(check_words("engine/log/a.cpp", "std::mutex m;\n").size(), std::size_t{1});
    QCOMPARE(check_words("engine/node/a.cpp", "std::mutex m;\n").size(), std::size_t{0});
    QCOMPARE(check_words("engine/log/a.cpp", "// std::mutex in a comment\nint my_getenv_count;\n").size(), std::size_t{0});
    QCOMPARE(check_words("ui/a.cpp", "co_await x;\n").size(), std::size_t{1});
    QCOMPARE(check_counts("ui/a.cpp", "tr(\"%n nodes\", nullptr, n) + tr(\"%Ln nodes, 50 %nodes\", nullptr, n);  // %n\n").size(), std::size_t{1});
    QCOMPARE(check_counts("app/hw/a.cpp", "\"%n\"\n").size(), std::size_t{0});
    const Arrows arrows = parse_arrows("set(HW_ARROWS_base \"\")\nset(HW_ARROWS_wire_record \"base\")\nset(HW_ARROWS_log \"base;wire_record\")\n");
    QCOMPARE(arrows.size(), std::size_t{3});
    QCOMPARE(*module_of("engine/wire/record/batch.h", arrows), std::string("wire_record"));
    QCOMPARE(check_includes("engine/log/a.cpp", "#include \"engine/wire/record/batch.h\"\n", arrows).size(), std::size_t{0});
    QCOMPARE(check_includes("engine/base/a.h", "#include \"engine/log/log.h\"\n", arrows).size(), std::size_t{1});
    QCOMPARE(check_includes("engine/base/a.h", "#include \"ui/x.h\"\n", arrows).size(), std::size_t{1});
    QCOMPARE(check_readme("## Start here\n").size(), std::size_t{4});
  }
};

QTEST_APPLESS_MAIN(TestTidy)
#include "tst_tidy.moc"
