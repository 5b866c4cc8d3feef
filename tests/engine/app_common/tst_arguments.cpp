// SPDX-License-Identifier: Apache-2.0
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include "app/common/cluster_arguments.h"
#include "app/common/properties.h"

using namespace hw;  // NOLINT(google-build-using-namespace): a test

class TestArguments : public QObject {
  Q_OBJECT
 private slots:
  void propertiesFollowJava() {
    const Result<app::Properties> parsed = app::parse_properties(
        "# comment\n! also\n\n  a = 1 \nb:2\nc 3\nd=x\\\n   y\nk\\=ey=v\nu=\\u00e4\\t.\nempty\nlast=\\\\\n");
    QVERIFY(parsed);
    const app::Properties expected{{"a", "1 "},      {"b", "2"},     {"c", "3"},    {"d", "xy"},
                                   {"k=ey", "v"},    {"u", "\xc3\xa4\t."}, {"empty", ""}, {"last", "\\"}};
    QVERIFY(*parsed == expected);
    QVERIFY(app::parse_properties("a=\\u12").error().detail.find("line 1") != std::string::npos);
  }
  void listeners() {
    QCOMPARE(app::parse_listener("PLAINTEXT://0.0.0.0:9092")->port, std::uint16_t{9092});
    QCOMPARE(app::parse_listener("EXTERNAL://[::1]:1")->host, std::string("::1"));
    QVERIFY(!app::parse_listener("localhost:9092"));
    QVERIFY(!app::parse_listener("A://b:99999"));
    QVERIFY(!app::parse_listener("A://b:"));
  }
  void argumentsWinOverTheFile() {
    const QTemporaryDir folder;
    const QString path = folder.filePath(QStringLiteral("server.properties"));
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write("process.roles=broker,controller\nnode.id=7\nlisteners=CONTROLLER://:9093,PLAINTEXT://127.0.0.1:19092\n"
               "advertised.listeners=PLAINTEXT://example:29092\nlog.dirs=/tmp/logs/\nnum.partitions=3\n");
    file.close();
    app::ClusterArguments arguments;
    arguments.properties_file = path.toStdString();
    arguments.configs = {"num.partitions=5"};
    Result<node::ClusterOptions> options = app::cluster_options(arguments);
    QVERIFY(options);
    QCOMPARE(options->listen.port, std::uint16_t{19092});
    QCOMPARE(options->listen.advertised_host, std::string("example"));
    QCOMPARE(options->listen.advertised_port, std::uint16_t{29092});
    QCOMPARE(*options->node_id, 7);
    QCOMPARE(options->directory, std::string("/tmp/logs"));
    QVERIFY(!options->memory);
    QCOMPARE(options->configs.size(), std::size_t{1});
    QCOMPARE(options->configs["num.partitions"], std::string("5"));
    arguments.port = 0;
    QCOMPARE(app::cluster_options(arguments)->listen.port, std::uint16_t{0});
  }
  void mistakesSayWhatToWrite() {
    app::ClusterArguments arguments;
    arguments.configs = {"novalue"};
    QVERIFY(app::cluster_options(arguments).error().detail.find("key=value") != std::string::npos);
    arguments = {};
    arguments.port = 70000;
    QVERIFY(!app::cluster_options(arguments));
    arguments = {};
    arguments.memory = true;
    arguments.directory = "/x";
    QVERIFY(!app::cluster_options(arguments));
    arguments = {};
    arguments.advertise = "nohost";
    QVERIFY(!app::cluster_options(arguments));
    arguments = {};
    arguments.nodes = 3;
    QVERIFY(!app::cluster_options(arguments));
    QVERIFY(app::cluster_options({})->memory);
  }
};

QTEST_APPLESS_MAIN(TestArguments)
#include "tst_arguments.moc"
