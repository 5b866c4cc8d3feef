// SPDX-License-Identifier: Apache-2.0
// Several log directories: where logs go, how they move, and what happens when the disk of one fails.
#include <QTest>

#include "engine/env/fault_disk.h"
#include "engine/log/log_directory.h"
#include "log_fixture.h"

using namespace hw;        // NOLINT(google-build-using-namespace): a test
using namespace hw::test;  // NOLINT(google-build-using-namespace)
using log::DirectoryState;
using log::DirectoryStatus;
using log::LogManager;
using log::LogManagerOptions;
using log::PartitionLog;
using wire::ErrorCode;

namespace {

constexpr WallTime kNow{1'000};

// A node with log directories a, b and c.
struct Node {
  explicit Node(env::Disk& the_disk, const std::string& the_root) : disk(the_disk), root(the_root) {
    Prng prng(3);
    for (const char* name : {"a", "b", "c"}) {
      if (auto made = LogManager::format(disk, root + "/" + name, "c", BrokerId(1), prng); !made) {
        qFatal("format: %s", made.error().detail.c_str());
      }
    }
  }
  [[nodiscard]] std::string path(const char* name) const { return root + "/" + name; }
  void open() {
    LogManagerOptions options;
    options.directories = {path("a"), path("b"), path("c")};
    options.node_id = BrokerId(1);
    auto opened = LogManager::open(disk, options, &events, Prng(5));
    if (!opened) {
      qFatal("open: %s", opened.error().detail.c_str());
    }
    manager = std::move(*opened);
  }
  PartitionLog* make(int partition) {
    auto log = manager->create_log({"t", PartitionIndex(partition), kTopicId}, {}, kNow);
    return log ? *log : nullptr;
  }
  PartitionLog* find(int partition) const { return manager->find("t", PartitionIndex(partition)); }
  [[nodiscard]] std::string place_of(int partition) const {
    for (const DirectoryStatus& directory : manager->directories()) {
      for (const log::ReplicaPlace& replica : directory.replicas) {
        if (replica.log->identity().partition == PartitionIndex(partition) && !replica.future) {
          return directory.path;
        }
      }
    }
    return "nowhere";
  }
  // Turns until nothing is to be done.
  void turn() {
    for (int i = 0; i < 300 && (manager->next_deadline() <= now || !manager->jobs().empty()); ++i) {
      manager->tick(now, kNow);
      for (const log::Moved& one : manager->take_moved()) {
        moved.push_back(one.partition.value());
      }
      for (log::DiskJob& job : manager->jobs().take()) {
        manager->job_done(job, job.work(), kNow);
      }
    }
  }
  env::Disk& disk;
  std::string root;
  Events events;
  Instant now{1'000};
  std::unique_ptr<LogManager> manager;
  std::vector<int> moved;
};

std::vector<std::int64_t> numbers(std::int64_t from, std::int64_t to) {
  std::vector<std::int64_t> all;
  for (; from < to; ++from) {
    all.push_back(from);
  }
  return all;
}

}  // namespace

class TstLogDirs : public QObject {
  Q_OBJECT

 private:
  static void disks() {
    QTest::addColumn<QString>("kind");
    QTest::newRow("memory") << "memory";
    QTest::newRow("posix") << "posix";
  }

 private slots:
  void new_logs_go_where_the_fewest_are() {
    Place place("memory");
    Node node(*place.disk, place.root);
    node.open();
    QVERIFY(node.manager->create_log({"__cluster_metadata", PartitionIndex(0), Uuid{0, 1}}, {}, kNow));
    for (int i = 0; i < 7; ++i) {
      QVERIFY(node.make(i) != nullptr);
    }
    const std::vector<DirectoryStatus> all = node.manager->directories();
    QCOMPARE(all.size(), std::size_t{3});
    QCOMPARE(all[0].replicas.size(), std::size_t{3});  // the metadata log does not count
    QCOMPARE(all[1].replicas.size(), std::size_t{2});
    QCOMPARE(all[2].replicas.size(), std::size_t{2});
    QVERIFY(all[0].total_bytes > 0 && all[0].usable_bytes > 0);
    QVERIFY(all[0].id != all[1].id);
    // After deletions the emptier one is next; a wish counts more; a cordoned one is not used.
    QVERIFY(node.manager->delete_log(kTopicId, PartitionIndex(1)));
    QVERIFY(node.make(8) != nullptr);
    QCOMPARE(node.place_of(8), node.path("b"));
    node.manager->prefer_directory("t", PartitionIndex(9), node.path("a"));
    QVERIFY(node.make(9) != nullptr);
    QCOMPARE(node.place_of(9), node.path("a"));
    node.manager->set_cordoned({node.path("b"), node.path("c")});
    QVERIFY(node.make(10) != nullptr);
    QCOMPARE(node.place_of(10), node.path("a"));
  }

  void a_restart_finds_every_log_again_data() { disks(); }
  void a_restart_finds_every_log_again() {
    QFETCH(QString, kind);
    Place place(kind);
    Node node(*place.disk, place.root);
    node.open();
    for (int i = 0; i < 6; ++i) {
      PartitionLog* log = node.make(i);
      for (int n = 0; n <= i; ++n) {
        append(*log, make_batch({}));
      }
      log->maybe_advance_high_watermark(Offset(i));
    }
    QVERIFY(node.find(5)->advance_log_start_offset(Offset(2)));
    const std::string was = node.place_of(4);
    QVERIFY(node.manager->shut_down(kNow, 9));
    node.open();
    QVERIFY(node.manager->was_clean());
    QVERIFY(node.manager->load_all([](const log::LogIdentity&) { return std::optional<log::LogConfig>(log::LogConfig{}); }, kNow));
    QCOMPARE(node.manager->logs().size(), std::size_t{6});
    QCOMPARE(node.place_of(4), was);
    for (int i = 0; i < 6; ++i) {
      QCOMPARE(node.find(i)->log_end_offset(), Offset(i + 1));
      QCOMPARE(node.find(i)->high_watermark(), Offset(i));
    }
    QCOMPARE(node.find(5)->log_start_offset(), Offset(2));
  }

  void a_log_moves_while_it_grows_data() { disks(); }
  void a_log_moves_while_it_grows() {
    QFETCH(QString, kind);
    Place place(kind);
    Node node(*place.disk, place.root);
    node.open();
    PartitionLog* log = node.make(0);
    QCOMPARE(node.place_of(0), node.path("a"));
    for (int i = 0; i < 40; ++i) {
      append(*log, make_batch({.records = 5, .value_size = 20'000, .producer_id = 3, .sequence = i * 5}));
    }
    log->maybe_advance_high_watermark(Offset(200));
    QVERIFY(log->advance_log_start_offset(Offset(7)));  // in the middle of a batch
    QVERIFY(node.manager->move_log("t", PartitionIndex(0), node.path("b"), kNow));
    node.manager->tick(node.now, kNow);
    // Under way: both are told of.
    const std::vector<DirectoryStatus> way = node.manager->directories();
    QCOMPARE(way[0].replicas.size(), std::size_t{1});
    QCOMPARE(way[1].replicas.size(), std::size_t{1});
    QVERIFY(way[1].replicas[0].future && !way[0].replicas[0].future);
    QVERIFY(way[1].replicas[0].lag > 0);
    QCOMPARE(node.find(0), log);
    append(*log, make_batch({.records = 5, .producer_id = 3, .sequence = 200}));
    log->maybe_advance_high_watermark(Offset(205));
    const Bytes before = read(*log, 7, 64 << 20);
    node.turn();
    QCOMPARE(node.moved, std::vector<int>{0});
    PartitionLog* after = node.find(0);
    QVERIFY(after != log);
    QCOMPARE(node.manager->find(kTopicId, PartitionIndex(0)), after);
    QCOMPARE(node.place_of(0), node.path("b"));
    QCOMPARE(after->directory(), node.path("b") + "/t-0");
    QCOMPARE(after->log_start_offset(), Offset(7));
    QCOMPARE(after->log_end_offset(), Offset(205));
    QCOMPARE(after->high_watermark(), Offset(205));
    QCOMPARE(read(*after, 7, 64 << 20), before);
    QCOMPARE(offsets_of(read(*after, 7, 64 << 20)), numbers(5, 205));
    // Its producers came with it, and it goes on growing.
    QVERIFY(append(*after, make_batch({.records = 5, .producer_id = 3, .sequence = 200})).duplicate);
    QCOMPARE(append(*after, make_batch({.producer_id = 3, .sequence = 205})).base_offset, Offset(205));
    QCOMPARE(node.events.of<event::ReplicaMoved>().size(), std::size_t{1});
    QVERIFY(!place.disk->exists(node.path("a") + "/t-0"));
    // A restart, as after a kill, finds it where it is now, once.
    node.manager.reset();
    node.open();
    QVERIFY(node.manager->load_all([](const log::LogIdentity&) { return std::optional<log::LogConfig>(log::LogConfig{}); }, kNow));
    QCOMPARE(node.manager->logs().size(), std::size_t{1});
    QCOMPARE(node.place_of(0), node.path("b"));
    QCOMPARE(node.find(0)->log_end_offset(), Offset(206));
  }

  void a_move_changes_its_mind() {
    Place place("memory");
    Node node(*place.disk, place.root);
    node.open();
    PartitionLog* log = node.make(0);
    append(*log, make_batch({}));
    QVERIFY(node.manager->move_log("t", PartitionIndex(0), node.path("b"), kNow));
    QVERIFY(node.manager->move_log("t", PartitionIndex(0), node.path("b"), kNow));  // on its way already
    QVERIFY(node.manager->move_log("t", PartitionIndex(0), node.path("c"), kNow));
    node.turn();
    QCOMPARE(node.place_of(0), node.path("c"));
    QVERIFY(node.manager->move_log("t", PartitionIndex(0), node.path("a"), kNow));
    QVERIFY(node.manager->move_log("t", PartitionIndex(0), node.path("c"), kNow));  // where it is: stays
    node.turn();
    QCOMPARE(node.place_of(0), node.path("c"));
    for (const char* name : {"a", "b"}) {
      const Result<std::vector<std::string>> names = place.disk->list(node.path(name));
      QVERIFY(std::none_of(names->begin(), names->end(), [](const std::string& n) { return n.find("future") != std::string::npos; }));
    }
    // Deleted on its way: nothing is left of either.
    QVERIFY(node.manager->move_log("t", PartitionIndex(0), node.path("a"), kNow));
    QVERIFY(node.manager->delete_log(kTopicId, PartitionIndex(0)));
    node.turn();
    QVERIFY(node.find(0) == nullptr);
    QVERIFY(node.manager->take_problems().empty());
  }

  void a_stop_on_the_way_loses_nothing() {
    Place place("posix");
    Node node(*place.disk, place.root);
    node.open();
    PartitionLog* log = node.make(0);
    for (int i = 0; i < 5; ++i) {
      append(*log, make_batch({.value_size = 900'000}));
    }
    QVERIFY(node.manager->move_log("t", PartitionIndex(0), node.path("b"), kNow));
    node.manager->tick(node.now, kNow);
    node.manager.reset();  // killed
    node.open();
    QVERIFY(node.manager->load_all([](const log::LogIdentity&) { return std::optional<log::LogConfig>(log::LogConfig{}); }, kNow));
    node.turn();
    QCOMPARE(node.place_of(0), node.path("a"));
    QCOMPARE(node.find(0)->log_end_offset(), Offset(5));
    const Result<std::vector<std::string>> names = place.disk->list(node.path("b"));
    QVERIFY(std::none_of(names->begin(), names->end(), [](const std::string& n) { return n.find("future") != std::string::npos; }));
    // Killed between the two renames: two copies are there, one is used, the other set aside.
    QVERIFY(place.disk->make_directories(node.path("c") + "/t-0"));
    node.manager.reset();
    node.open();
    QVERIFY(node.manager->load_all([](const log::LogIdentity&) { return std::optional<log::LogConfig>(log::LogConfig{}); }, kNow));
    QCOMPARE(node.place_of(0), node.path("a"));
    QVERIFY(!place.disk->exists(node.path("c") + "/t-0"));
  }

  void a_failing_disk_takes_its_directory_only() {
    Place place("memory");
    env::FaultDisk disk(*place.disk, Prng(4));
    Node node(disk, place.root);
    node.open();
    for (int i = 0; i < 3; ++i) {
      append(*node.make(i), make_batch({}));
    }
    PartitionLog* victim = node.find(1);
    QCOMPARE(node.place_of(1), node.path("b"));
    disk.fail_after(0);
    QCOMPARE(append(*victim, make_batch({})).error, ErrorCode::kafka_storage_error);
    disk.stop_failing();
    node.manager->check_directories();
    QVERIFY(node.manager->directory_state(node.path("b")) == DirectoryState::failed);
    QVERIFY(node.manager->directory_state(node.path("a")) == DirectoryState::online);
    QVERIFY(node.manager->directory_state(node.path("x")) == DirectoryState::unknown);
    QCOMPARE(node.events.of<event::LogDirFailed>().size(), std::size_t{1});
    QVERIFY(victim->offline());
    QCOMPARE(append(*victim, make_batch({})).error, ErrorCode::kafka_storage_error);
    QCOMPARE(victim->read({Offset(0), 100, true, log::ReadIsolation::log_end}).error, ErrorCode::kafka_storage_error);
    // The others serve on, and new logs go there; one that may lie in the lost directory is not made anew.
    QCOMPARE(append(*node.find(0), make_batch({})).error, ErrorCode::none);
    for (int i = 3; i < 6; ++i) {
      QVERIFY(node.make(i) != nullptr);
      QVERIFY(node.place_of(i) != node.path("b"));
    }
    QCOMPARE(node.manager->create_log({"old", PartitionIndex(0), Uuid{4, 4}}, {}, kNow, false).error().code, Errc::io);
    // The last one is never given up.
    for (const int partition : {2, 0}) {
      disk.fail_after(0);
      QCOMPARE(append(*node.find(partition), make_batch({})).error, ErrorCode::kafka_storage_error);
      disk.stop_failing();
      node.manager->check_directories();
    }
    QVERIFY(node.manager->directory_state(node.path("c")) == DirectoryState::failed);
    QVERIFY(node.manager->directory_state(node.path("a")) == DirectoryState::online);
    QCOMPARE(append(*node.find(0), make_batch({})).error, ErrorCode::none);
    QVERIFY(node.manager->shut_down(kNow, 1));
  }

  // Truncation and starting anew are many steps on the disk. Wherever it fails, the log is whole or offline, and a node that stops after
  // that does not claim that all is well.
  void a_cut_that_the_disk_breaks_off_ends_the_log() {
    int broken = 0;
    for (const bool anew : {false, true}) {
      for (std::uint64_t at = 0; at < 20; ++at) {
        Place place("memory");
        env::FaultDisk disk(*place.disk, Prng(at));
        Node node(disk, place.root);
        node.open();
        PartitionLog& log = *node.make(0);
        for (int i = 0; i < 4; ++i) {
          append(log, make_batch({}), 1'000, i);
          QVERIFY(log.roll(kNow));
        }
        disk.fail_after(at);
        const Result<void> done = anew ? log.truncate_fully_and_start_at(Offset(9)) : log.truncate_to(Offset(1));
        disk.stop_failing();
        const ErrorCode after = append(log, make_batch({}), 1'000, 4).error;
        if (done) {
          QVERIFY(!log.offline());
          QCOMPARE(after, ErrorCode::none);
          continue;
        }
        ++broken;
        QVERIFY(log.offline());
        QCOMPARE(after, ErrorCode::kafka_storage_error);
        QVERIFY(!log.truncate_to(Offset(0)));
        QVERIFY(!log.flush(kNow));
        QVERIFY(node.manager->shut_down(kNow, 1));
        node.open();
        QVERIFY(!node.manager->was_clean());
      }
    }
    QVERIFY(broken >= 10);
  }

  void a_directory_that_is_not_there_is_offline_from_the_start() {
    Place place("posix");
    Node node(*place.disk, place.root);
    QVERIFY(place.disk->remove_tree(node.path("c")));
    node.open();
    QVERIFY(node.manager->directory_state(node.path("c")) == DirectoryState::failed);
    QVERIFY(node.make(0) != nullptr && node.make(1) != nullptr && node.make(2) != nullptr);
    const std::vector<DirectoryStatus> all = node.manager->directories();
    QVERIFY(all[2].failed && all[2].replicas.empty());
    // Of another cluster: a mistake that nobody should work on with.
    Prng prng(8);
    QVERIFY(LogManager::format(*place.disk, node.path("c"), "another", BrokerId(1), prng));
    node.manager.reset();
    LogManagerOptions options;
    options.directories = {node.path("a"), node.path("b"), node.path("c")};
    options.node_id = BrokerId(1);
    QCOMPARE(LogManager::open(*place.disk, options, nullptr, Prng(5)).error().code, Errc::invalid);
    options.directories = {node.path("a"), node.path("a")};
    QCOMPARE(LogManager::open(*place.disk, options, nullptr, Prng(5)).error().code, Errc::invalid);
  }
};

QTEST_APPLESS_MAIN(TstLogDirs)
#include "tst_log_dirs.moc"
