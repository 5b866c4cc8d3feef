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
    QCOMPARE(options->listen.controller_port, std::uint16_t{9093});
    QCOMPARE(*options->node_id, 7);
    QCOMPARE(options->directory, std::string("/tmp/logs"));
    QVERIFY(!options->memory);
    QCOMPARE(options->configs.size(), std::size_t{1});
    QCOMPARE(options->configs["num.partitions"], std::string("5"));
    arguments.port = 0;
    QCOMPARE(app::cluster_options(arguments)->listen.port, std::uint16_t{0});
  }
  void controllerListenersMayHaveAnyName() {
    app::ClusterArguments arguments;
    arguments.configs = {"controller.listener.names=QUORUM", "listeners=QUORUM://127.0.0.1:1,CONTROLLER://127.0.0.1:2"};
    const Result<node::ClusterOptions> options = app::cluster_options(arguments);
    QVERIFY(options);
    QCOMPARE(options->listen.port, std::uint16_t{2});
    QCOMPARE(options->listen.controller_port, std::uint16_t{1});
  }
  void whatWouldProtectIsRefused_data() {
    QTest::addColumn<QString>("setting");
    QTest::addColumn<QString>("said");  // of the message, beside the key
    const auto add = [](const char* setting, const char* said = "") { QTest::newRow(setting) << setting << said; };
    add("authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer", "access control");
    add("super.users=User:admin", "access control");
    add("allow.everyone.if.no.acl.found=false", "access control");
    add("listeners=SSL://:9093", "SSL");
    add("listeners=PLAINTEXT://:9092,SASL_SSL://:9094", "SASL_SSL");
    add("security.inter.broker.protocol=SASL_PLAINTEXT", "SASL");
    add("sasl.enabled.mechanisms=PLAIN", "SASL");
    add("listener.name.external.plain.sasl.jaas.config=secret word", "SASL");
    add("listener.name.external.ssl.client.auth=required", "SSL");
    add("ssl.keystore.location=/keys", "SSL");
    add("ssl.key.password=secret word", "SSL");
    add("password.encoder.secret=secret word", "secrets");
    add("config.providers=file", "secrets");
    add("delegation.token.secret.key=secret word", "delegation tokens");
    add("create.topic.policy.class.name=P", "plug-in");
    add("client.quota.callback.class=P", "plug-in");
    add("remote.log.storage.system.enable=true", "tiered storage");
  }
  void whatWouldProtectIsRefused() {
    QFETCH(QString, setting);
    QFETCH(QString, said);
    app::ClusterArguments arguments;
    arguments.configs = {setting.toStdString()};
    const Result<node::ClusterOptions> options = app::cluster_options(arguments);
    QVERIFY(!options);
    QCOMPARE(app::exit_code_of(options.error()), app::ExitCode::usage);
    const std::string& why = options.error().detail;
    QVERIFY2(why.find(setting.section('=', 0, 0).toStdString()) != std::string::npos, why.c_str());
    QVERIFY2(why.find(said.toStdString()) != std::string::npos, why.c_str());
    QVERIFY2(why.find("not supported") != std::string::npos, why.c_str());
    QVERIFY2(why.find("secret word") == std::string::npos, why.c_str());
  }
  void aMappedListenerCountsByItsProtocol() {
    app::ClusterArguments arguments;
    const std::string map = "listener.security.protocol.map=CONTROLLER:PLAINTEXT, OUT:SSL ,PLAINTEXT:PLAINTEXT,SSL:SSL";
    arguments.configs = {map, "listeners=PLAINTEXT://:9092,CONTROLLER://:9093"};
    QVERIFY(app::cluster_options(arguments));  // Kafka's example files name every protocol
    arguments.configs = {map, "listeners=PLAINTEXT://:9092,OUT://:9095"};
    QVERIFY(!app::cluster_options(arguments));
  }
  void valuesThatProtectNothingAreNoReason() {
    app::ClusterArguments arguments;
    arguments.configs = {"authorizer.class.name=", "ssl.client.auth=none", "security.inter.broker.protocol=PLAINTEXT",
                         "sasl.enabled.mechanisms=GSSAPI", "remote.log.storage.system.enable=false", "super.users=",
                         "allow.everyone.if.no.acl.found=true"};
    const Result<node::ClusterOptions> options = app::cluster_options(arguments);
    QVERIFY2(options.has_value(), options ? "" : options.error().detail.c_str());
  }
  void whatNothingHeedsIsNamed() {
    app::ClusterArguments arguments;
    arguments.configs = {"num.io.threads=16", "num.partitions=3", "log.cleaner.threads=1", "num.network.threads=3",
                         "no.such.key=1", "process.roles=broker,controller", "log.retention.ms=5"};
    const Result<std::vector<std::string>> idle = app::configs_without_effect(arguments);
    QVERIFY(idle);
    QCOMPARE(*idle, (std::vector<std::string>{"no.such.key", "num.io.threads"}));
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
    for (const int nodes : {0, -1, 33}) {
      arguments.nodes = nodes;
      QVERIFY(!app::cluster_options(arguments));
    }
    QVERIFY(app::cluster_options({})->memory);
  }

  void aNodeAmongOthers() {
    app::ClusterArguments arguments;
    arguments.nodes = 3;
    auto options = app::cluster_options(arguments);
    QVERIFY(options.has_value());
    QCOMPARE(options->nodes, 3);
    QVERIFY(!options->member);  // a whole cluster in this process

    arguments = {};
    arguments.node = 2;
    arguments.controller_port = 9193;
    arguments.cluster_id = "m_MPXb8NRm-tT152Du7N6g";
    arguments.initial_controllers =
        "1@127.0.0.1:9093:PSH03etOSAOAvBPeOjdg2A,2@127.0.0.1:9193:qXnqGfXpTKGqvzCrtCIplA,3@[::1]:9293:W8mW4meqR8K0fe6uSIDOcQ";
    options = app::cluster_options(arguments);
    QVERIFY(options.has_value());
    QCOMPARE(options->node_id, std::optional<std::int32_t>(2));
    QCOMPARE(options->listen.controller_port, std::uint16_t{9193});
    QVERIFY(options->member.has_value());
    QVERIFY(options->member->broker && options->member->controller);
    QCOMPARE(options->member->initial_voters.size(), std::size_t{3});
    QCOMPARE(options->member->initial_voters[2].host, std::string("::1"));
    QCOMPARE(options->member->initial_voters[2].port, std::uint16_t{9293});
    QCOMPARE(options->member->initial_voters[1].directory.text(), std::string("qXnqGfXpTKGqvzCrtCIplA"));

    arguments = {};
    arguments.node = 4;
    arguments.roles = "broker";
    arguments.join = "127.0.0.1:9093,127.0.0.1:9193";
    options = app::cluster_options(arguments);
    QVERIFY(options.has_value() && options->member && !options->member->controller);
    QCOMPARE(options->member->controllers.size(), std::size_t{2});
    QVERIFY(options->member->controllers[0].node == kNoBroker);
    QVERIFY(options->member->initial_voters.empty());

    arguments = {};
    arguments.configs = {"process.roles=controller", "node.id=3000", "controller.quorum.voters=3000@localhost:9093,3001@localhost:9094"};
    options = app::cluster_options(arguments);
    QVERIFY(options.has_value() && options->member && !options->member->broker);
    QCOMPARE(options->member->initial_voters.size(), std::size_t{2});
    // The file of a lone combined node.
    arguments.configs = {"process.roles=broker,controller", "node.id=1", "controller.quorum.voters=1@localhost:9093"};
    options = app::cluster_options(arguments);
    QVERIFY(options.has_value() && !options->member);
    // The only controller of a cluster whose brokers know its id and come later.
    arguments = {};
    arguments.node = 1;
    arguments.cluster_id = "m_MPXb8NRm-tT152Du7N6g";
    arguments.initial_controllers = "1@127.0.0.1:9093:PSH03etOSAOAvBPeOjdg2A";
    options = app::cluster_options(arguments);
    QVERIFY(options.has_value() && options->member);
    QCOMPARE(options->member->cluster_id, arguments.cluster_id);
    QCOMPARE(options->member->initial_voters.size(), std::size_t{1});
  }

  void mistakesInANodeAmongOthers_data() {
    QTest::addColumn<QString>("roles");
    QTest::addColumn<QString>("join");
    QTest::addColumn<QString>("initial");
    QTest::addColumn<QString>("says");
    QTest::newRow("role") << "brokr" << "h:1" << "" << "'brokr' is no role";
    QTest::newRow("nobody to join") << "broker" << "" << "" << "--join HOST:PORT";
    QTest::newRow("no port") << "" << "localhost" << "" << "write HOST:PORT";
    QTest::newRow("port") << "" << "localhost:70000" << "" << "no port between";
    QTest::newRow("no directory") << "" << "" << "1@localhost:9093" << "ID@HOST:PORT:DIRECTORY_ID";
    QTest::newRow("bad directory") << "" << "" << "1@localhost:9093:xyz" << "no directory id";
    QTest::newRow("bad id") << "" << "" << "x@localhost:9093:PSH03etOSAOAvBPeOjdg2A" << "must be a whole number";
  }
  void mistakesInANodeAmongOthers() {
    QFETCH(QString, roles);
    QFETCH(QString, join);
    QFETCH(QString, initial);
    QFETCH(QString, says);
    app::ClusterArguments arguments;
    arguments.roles = roles.toStdString();
    arguments.join = join.toStdString();
    arguments.initial_controllers = initial.toStdString();
    const auto options = app::cluster_options(arguments);
    QVERIFY(!options.has_value());
    QVERIFY2(QString::fromStdString(options.error().detail).contains(says), options.error().detail.c_str());
  }
};

QTEST_APPLESS_MAIN(TestArguments)
#include "tst_arguments.moc"
