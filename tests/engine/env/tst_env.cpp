// SPDX-License-Identifier: Apache-2.0
// One suite over memory, real and faulty disks; then what is particular to each.
#include <QTemporaryDir>
#include <QTest>
#include <array>
#include <memory>
#include <thread>

#include "engine/env/fault_disk.h"
#include "engine/env/memory_disk.h"
#include "engine/env/posix_disk.h"
#include "engine/env/power_disk.h"

using namespace hw;       // NOLINT(google-build-using-namespace): a test
using namespace hw::env;  // NOLINT(google-build-using-namespace)

namespace {

struct Place {
  explicit Place(const QString& kind) {
    if (kind == "posix") {
      disk = std::make_unique<PosixDisk>(4);
      root = folder.path().toStdString() + "/d";
      return;
    }
    root = "/d";
    if (kind == "memory") {
      disk = std::make_unique<MemoryDisk>(1U << 24U);
      return;
    }
    if (kind == "power") {
      disk = std::make_unique<PowerDisk>(std::make_shared<MemoryDisk>(1U << 24U));
      return;
    }
    base = std::make_unique<MemoryDisk>(1U << 24U);
    disk = std::make_unique<FaultDisk>(*base, Prng(1));
  }
  QTemporaryDir folder;
  std::unique_ptr<MemoryDisk> base;
  std::unique_ptr<Disk> disk;
  std::string root;
};

Result<void> put(File& file, std::string_view text) {
  const ByteSpan piece = as_bytes(text);
  return file.append({&piece, 1});
}

std::string contents(const File& file, std::uint64_t position = 0, std::size_t size = 1 << 20) {
  std::string text(size, '?');
  const std::ptrdiff_t got = file.read_at(position, {reinterpret_cast<std::byte*>(text.data()), size});
  text.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
  return text;
}

Bytes filled(std::size_t size, char c) {
  ByteBuilder builder(size);
  std::memset(builder.extend(size), c, size);
  return builder.finish();
}

}  // namespace

class TestEnv : public QObject {
  Q_OBJECT

 private:
  static void disks() {
    QTest::addColumn<QString>("kind");
    QTest::newRow("memory") << "memory";
    QTest::newRow("posix") << "posix";
    QTest::newRow("fault") << "fault";
    QTest::newRow("power") << "power";
  }

 private slots:
  void files_data() { disks(); }
  void files();
  void directories_data() { disks(); }
  void directories();
  void rename_under_open_files_data() { disks(); }
  void rename_under_open_files();
  void whole_files_data() { disks(); }
  void whole_files();
  void locks_data() { disks(); }
  void locks();
  void random_operations_data() { disks(); }
  void random_operations();
  void memory_keeps_the_bytes_themselves();
  void memory_is_bounded();
  void memory_slices_survive_truncation();
  void descriptors_are_bounded();
  void many_threads_read();
  void errors_say_why();
  void crash_loses_only_what_was_not_synced();
  void faults_strike_once();
  void a_power_cut_takes_what_was_not_synced_data();
  void a_power_cut_takes_what_was_not_synced();
  void a_power_cut_by_a_twin();
  void syncs_beside_appends();
};

void TestEnv::files() {
  QFETCH(QString, kind);
  Place place(kind);
  QVERIFY(place.disk->make_directories(place.root));
  const std::string path = place.root + "/a";
  QCOMPARE(place.disk->open(path, OpenMode::read).error().code, Errc::not_found);
  auto opened = place.disk->open(path, OpenMode::create_new);
  QVERIFY(opened);
  File& file = **opened;
  QCOMPARE(place.disk->open(path, OpenMode::create_new).error().code, Errc::exists);
  const std::array<ByteSpan, 3> pieces{as_bytes("one "), ByteSpan{}, as_bytes("two ")};
  QVERIFY(file.append(pieces));
  QVERIFY(file.append_shared(Bytes::copy_of("three")));
  QCOMPARE(contents(file), std::string("one two three"));
  QCOMPARE(contents(file, 4, 3), std::string("two"));
  QCOMPARE(contents(file, 100, 3), std::string());
  QVERIFY(file.write_at(0, as_bytes("ONE")));
  QVERIFY(file.write_at(11, as_bytes("EEsome")));
  QCOMPARE(contents(file), std::string("ONE two thrEEsome"));
  QVERIFY(file.truncate(7));
  QVERIFY(put(file, "!"));
  QCOMPARE(file.size(), std::uint64_t{8});
  QVERIFY(file.sync());
  QCOMPARE(contents(**place.disk->open(path, OpenMode::read)), std::string("ONE two!"));
  QCOMPARE(*place.disk->file_size(path), std::uint64_t{8});
  const std::string many(100, 'x');
  std::vector<ByteSpan> parts(40, as_bytes(many));  // more than one writev takes
  QVERIFY(file.append(parts));
  QCOMPARE(file.size(), std::uint64_t{4008});
}

void TestEnv::directories() {
  QFETCH(QString, kind);
  Place place(kind);
  Disk& disk = *place.disk;
  QVERIFY(!disk.exists(place.root));
  QVERIFY(disk.make_directories(place.root + "/x/y"));
  QVERIFY(disk.make_directories(place.root + "/x/y"));
  QVERIFY(disk.is_directory(place.root + "/x"));
  QVERIFY(disk.open(place.root + "/x/y/f", OpenMode::create_or_open));
  QVERIFY(disk.open(place.root + "/x/e", OpenMode::create_or_open));
  QVERIFY(!disk.is_directory(place.root + "/x/e"));
  QCOMPARE(*disk.list(place.root + "/x"), (std::vector<std::string>{"e", "y"}));
  QCOMPARE(*disk.list(place.root), (std::vector<std::string>{"x"}));
  QCOMPARE(disk.list(place.root + "/nowhere").error().code, Errc::not_found);
  QVERIFY(!disk.open(place.root + "/nowhere/f", OpenMode::create_or_open));
  QCOMPARE(disk.make_directories(place.root + "/x/e").error().code, Errc::exists);
  QVERIFY(disk.sync_directory(place.root + "/x"));
  QVERIFY(disk.remove(place.root + "/x/e"));
  QCOMPARE(disk.remove(place.root + "/x/e").error().code, Errc::not_found);
  QVERIFY(disk.remove_tree(place.root + "/x"));
  QVERIFY(!disk.exists(place.root + "/x/y/f"));
  QVERIFY(disk.free_bytes(place.root).value_or(0) > 0);
}

void TestEnv::rename_under_open_files() {
  QFETCH(QString, kind);
  Place place(kind);
  Disk& disk = *place.disk;
  QVERIFY(disk.make_directories(place.root + "/t-0"));
  QVERIFY(disk.make_directories(place.root + "/t-01"));
  std::vector<std::shared_ptr<File>> files;
  for (int i = 0; i < 10; ++i) {  // more than the real disk keeps open
    files.push_back(*disk.open(place.root + "/t-0/" + std::to_string(i), OpenMode::create_new));
    QVERIFY(put(*files.back(), "file " + std::to_string(i)));
  }
  auto neighbour = *disk.open(place.root + "/t-01/n", OpenMode::create_new);
  QVERIFY(put(*neighbour, "neighbour"));
  QVERIFY(disk.rename(place.root + "/t-0", place.root + "/t-0.deleted"));
  QVERIFY(!disk.exists(place.root + "/t-0"));
  for (int i = 0; i < 10; ++i) {
    QCOMPARE(contents(*files[static_cast<std::size_t>(i)]), "file " + std::to_string(i));
    if (kind != "fault") {
      QVERIFY(put(*files[static_cast<std::size_t>(i)], "+"));
    }
  }
  QCOMPARE(contents(*neighbour), std::string("neighbour"));
  QVERIFY(disk.exists(place.root + "/t-01/n"));
  QVERIFY(disk.make_directories(place.root + "/t-0"));
  QVERIFY(disk.list(place.root + "/t-0")->empty());
}

void TestEnv::whole_files() {
  QFETCH(QString, kind);
  Place place(kind);
  QVERIFY(place.disk->make_directories(place.root));
  const std::string path = place.root + "/w";
  for (const bool sync : {true, false}) {
    QVERIFY(place.disk->write_whole(path, as_bytes("first"), sync));
    QVERIFY(place.disk->write_whole(path, as_bytes("2nd"), sync));
    QCOMPARE(std::string(place.disk->read_whole(path)->text()), std::string("2nd"));
  }
  QVERIFY(place.disk->write_whole(path, ByteSpan{}));
  QVERIFY(place.disk->read_whole(path)->empty());
  QCOMPARE(place.disk->list(place.root)->size(), std::size_t{1});
  QVERIFY(place.disk->write_whole(path, as_bytes("12345")));
  QCOMPARE(place.disk->read_whole(path, 4).error().code, Errc::too_large);
}

void TestEnv::locks() {
  QFETCH(QString, kind);
  Place place(kind);
  QVERIFY(place.disk->make_directories(place.root));
  auto held = place.disk->lock(place.root + "/.lock");
  QVERIFY(held);
  QCOMPARE(place.disk->lock(place.root + "/.lock").error().code, Errc::locked);
  held->reset();
  QVERIFY(place.disk->lock(place.root + "/.lock"));
}

void TestEnv::random_operations() {
  QFETCH(QString, kind);
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Place place(kind);
    QVERIFY(place.disk->make_directories(place.root));
    Prng prng(seed);
    auto file = *place.disk->open(place.root + "/f", OpenMode::create_new);
    std::string twin;
    for (int step = 0; step < 300; ++step) {
      const std::size_t size = prng.below(prng.chance({1, 5}) ? 9'000 : 90) + 1;
      const char letter = static_cast<char>('a' + prng.below(26));
      switch (prng.below(8)) {
        case 0:
        case 1:
        case 2:
          QVERIFY(put(*file, std::string(size, letter)));
          twin += std::string(size, letter);
          break;
        case 3:
        case 4: {
          const Bytes large = filled(size * (1 + prng.below(20)), letter);
          QVERIFY(file->append_shared(large.slice(0, size)));
          twin += std::string(size, letter);
          break;
        }
        case 5:
          if (prng.chance({1, 4})) {
            const std::size_t to = prng.below(twin.size() + 1);
            QVERIFY(file->truncate(to));
            twin.resize(to);
          }
          break;
        case 6:
          if (prng.chance({1, 4})) {
            const std::size_t at = prng.below(twin.size() + 1);
            QVERIFY(file->write_at(at, as_bytes(std::string(size, letter))));
            twin.resize(std::max(twin.size(), at + size));
            twin.replace(at, size, std::string(size, letter));
          }
          break;
        default: {
          const std::size_t at = prng.below(twin.size() + 10);
          const std::string expected = at < twin.size() ? twin.substr(at, size) : std::string();
          QCOMPARE(contents(*file, at, size), expected);
          if (kind != "posix") {
            QCOMPARE(std::string(file->slices(at, size).flatten().text()), expected);
          }
          break;
        }
      }
      QCOMPARE(file->size(), static_cast<std::uint64_t>(twin.size()));
    }
    QCOMPARE(contents(*file, 0, twin.size() + 1), twin);
  }
}

void TestEnv::memory_keeps_the_bytes_themselves() {
  MemoryDisk disk(1U << 20U);
  auto file = *disk.open("f", OpenMode::create_new);
  const Bytes large = filled(10'000, 'a');
  QVERIFY(put(*file, "head"));
  QVERIFY(file->append_shared(large));
  QVERIFY(put(*file, "tail"));
  const BytesChain chain = file->slices(2, 20'000);
  QCOMPARE(chain.pieces().size(), std::size_t{3});
  QCOMPARE(std::get<Bytes>(chain.pieces()[1]).data(), large.data());
  // A small slice of a large block is copied: it would hold the block.
  const Bytes slice = large.slice(0, 10);
  QVERIFY(file->append_shared(slice));
  const BytesChain end = file->slices(10'008, 10);
  QVERIFY(std::get<Bytes>(end.pieces()[0]).data() != slice.data());
  // Small appends lie together.
  for (int i = 0; i < 200; ++i) {
    QVERIFY(put(*file, "0123456789"));
  }
  QVERIFY(file->slices(10'018, 2'000).pieces().size() <= 3);
}

void TestEnv::memory_is_bounded() {
  MemoryDisk disk(1'000);
  auto file = *disk.open("f", OpenMode::create_new);
  QVERIFY(put(*file, std::string(900, 'x')));
  QCOMPARE(put(*file, std::string(101, 'x')).error().code, Errc::no_space);
  QCOMPARE(file->append_shared(filled(3'000, 'x')).error().code, Errc::no_space);
  QCOMPARE(file->size(), std::uint64_t{900});
  QCOMPARE(disk.used_bytes(), std::uint64_t{900});
  QVERIFY(file->truncate(100));
  QCOMPARE(*disk.free_bytes(""), std::uint64_t{900});
  QVERIFY(put(*file, std::string(900, 'y')));
  QVERIFY(disk.remove("f"));
  QCOMPARE(disk.used_bytes(), std::uint64_t{1'000});  // still open
  file.reset();
  QCOMPARE(disk.used_bytes(), std::uint64_t{0});
}

void TestEnv::memory_slices_survive_truncation() {
  MemoryDisk disk(1U << 20U);
  auto file = *disk.open("f", OpenMode::create_new);
  QVERIFY(put(*file, "abcdef"));
  const BytesChain before = file->slices(0, 6);
  QVERIFY(file->truncate(3));
  QVERIFY(put(*file, "XYZ"));
  QCOMPARE(std::string(before.flatten().text()), std::string("abcdef"));
  QCOMPARE(contents(*file), std::string("abcXYZ"));
}

void TestEnv::descriptors_are_bounded() {
  QTemporaryDir folder;
  PosixDisk disk(8);
  std::vector<std::shared_ptr<File>> files;
  for (int i = 0; i < 200; ++i) {
    files.push_back(*disk.open(folder.path().toStdString() + "/" + std::to_string(i), OpenMode::create_new));
    QVERIFY(put(*files.back(), std::to_string(i)));
  }
  QVERIFY(disk.open_descriptors() <= 8 + PosixDisk::kGrace);
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 200; ++i) {
      QCOMPARE(contents(*files[static_cast<std::size_t>(i)]), std::to_string(i));
      QVERIFY(files[static_cast<std::size_t>(i)]->descriptor() >= 0);
    }
  }
  QVERIFY(disk.open_descriptors() <= 8 + PosixDisk::kGrace);
  files.clear();
  QVERIFY(disk.open_descriptors() <= PosixDisk::kGrace);
}

void TestEnv::many_threads_read() {
  QTemporaryDir folder;
  PosixDisk disk(3);
  MemoryDisk memory(1U << 20U);
  std::vector<std::shared_ptr<File>> files;
  for (int i = 0; i < 12; ++i) {
    files.push_back(*disk.open(folder.path().toStdString() + "/" + std::to_string(i), OpenMode::create_new));
    files.push_back(*memory.open(std::to_string(i), OpenMode::create_new));
    QVERIFY(put(*files[files.size() - 2], std::string(1'000, static_cast<char>('a' + i))));
    QVERIFY(put(*files.back(), std::string(1'000, static_cast<char>('a' + i))));
  }
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 3'000; ++i) {
        const std::size_t which = static_cast<std::size_t>(i * 7 + t) % files.size();
        if (contents(*files[which], 0, 1'000) != std::string(1'000, static_cast<char>('a' + which / 2))) {
          ++wrong;
        }
      }
    });
  }
  for (int i = 0; i < 500; ++i) {
    static_cast<void>(put(*files[static_cast<std::size_t>(i) % files.size()], "more"));
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  QCOMPARE(wrong.load(), 0);
}

void TestEnv::errors_say_why() {
  QTemporaryDir folder;
  PosixDisk disk(4);
  const auto missing = disk.open(folder.path().toStdString() + "/no/such", OpenMode::create_or_open);
  QCOMPARE(missing.error().code, Errc::not_found);
  QVERIFY(missing.error().detail.find("/no/such") != std::string::npos);
  QCOMPARE(disk.open(folder.path().toStdString(), OpenMode::read).error().code, Errc::invalid);
}

void TestEnv::crash_loses_only_what_was_not_synced() {
  int kept_all = 0;
  int cut = 0;
  int zeroed = 0;
  int vanished = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    MemoryDisk base(1U << 20U);
    FaultDisk disk(base, Prng(seed));
    QVERIFY(disk.make_directories("/d"));
    auto file = *disk.open("/d/synced", OpenMode::create_new);
    auto fresh = *disk.open("/d/fresh", OpenMode::create_new);
    QVERIFY(put(*file, std::string(100, 's')));
    QVERIFY(file->sync());
    QVERIFY(put(*file, std::string(50, 'u')));
    QVERIFY(put(*fresh, "x"));
    auto lock = disk.lock("/d/.lock");
    QVERIFY(lock);
    QVERIFY(disk.crash());
    QCOMPARE(put(*file, "x").error().code, Errc::closed);
    QCOMPARE(contents(*file), std::string());
    QVERIFY(disk.lock("/d/.lock"));
    const std::string left = contents(**disk.open("/d/synced", OpenMode::read));
    QVERIFY(left.size() >= 100 && left.size() <= 150);
    QCOMPARE(left.substr(0, 100), std::string(100, 's'));
    const std::string tail = left.substr(100);
    const std::size_t real = tail.find_first_not_of('u');
    kept_all += tail.size() == 50 && real == std::string::npos ? 1 : 0;
    cut += tail.size() < 50 ? 1 : 0;
    zeroed += real != std::string::npos && tail[real] == '\0' ? 1 : 0;
    vanished += disk.exists("/d/fresh") ? 0 : 1;
  }
  QVERIFY(kept_all > 10 && cut > 10 && zeroed > 10 && vanished > 10);
}

void TestEnv::faults_strike_once() {
  MemoryDisk base(1U << 20U);
  FaultDisk disk(base, Prng(1));
  QVERIFY(disk.make_directories("/d"));
  auto file = *disk.open("/d/f", OpenMode::create_new);
  disk.fail_after(1);
  QVERIFY(put(*file, "good"));
  QCOMPARE(put(*file, "bad").error().code, Errc::io);
  QVERIFY(file->size() >= 4 && file->size() < 7);
  QVERIFY(file->truncate(4));
  QVERIFY(put(*file, "again"));
  disk.set_capacity(20);
  QCOMPARE(put(*file, std::string(30, 'x')).error().code, Errc::no_space);
}

void TestEnv::a_power_cut_takes_what_was_not_synced_data() {
  QTest::addColumn<QString>("kind");
  QTest::newRow("memory") << "memory";
  QTest::newRow("posix") << "posix";
}

void TestEnv::a_power_cut_takes_what_was_not_synced() {
  QFETCH(QString, kind);
  QTemporaryDir folder;
  const std::string root = folder.path().toStdString() + "/d";
  std::shared_ptr<Disk> base = std::make_shared<MemoryDisk>(1U << 20U);
  if (kind == "posix") {
    base = std::make_shared<PosixDisk>(4);
  }
  QVERIFY(base->make_directories(root + "/t-0"));
  auto old = *base->open(root + "/old", OpenMode::create_new);
  QVERIFY(put(*old, "was there before"));
  old.reset();

  PowerDisk disk(base);
  QCOMPARE(keeps_in_memory(disk), kind == "memory");
  auto log = *disk.open(root + "/t-0/log", OpenMode::create_new);
  QVERIFY(put(*log, "flushed "));
  QVERIFY(log->sync());
  QCOMPARE(disk.remembered(), std::size_t{0});
  QVERIFY(put(*log, "not flushed"));
  old = *disk.open(root + "/old", OpenMode::create_or_open);
  QVERIFY(old->append_shared(Bytes::copy_of(", more")));
  QVERIFY(disk.write_whole(root + "/whole", as_bytes("old"), true));
  QVERIFY(disk.write_whole(root + "/whole", as_bytes("newer"), false));
  QVERIFY(disk.write_whole(root + "/safe", as_bytes("safe"), true));
  auto cut_off = *disk.open(root + "/cut", OpenMode::create_new);
  QVERIFY(put(*cut_off, "123456"));
  QVERIFY(cut_off->sync());
  QVERIFY(put(*cut_off, "78"));
  QVERIFY(cut_off->truncate(3));
  QVERIFY(put(*cut_off, "x"));
  auto gone = *disk.open(root + "/gone", OpenMode::create_new);
  QVERIFY(put(*gone, "x"));
  QVERIFY(disk.remove(root + "/gone"));
  QVERIFY(disk.rename(root + "/t-0", root + "/t-1"));
  QCOMPARE(disk.remembered(), std::size_t{4});

  const Result<PowerDisk::Loss> loss = disk.cut();
  QVERIFY(loss);
  QCOMPARE(loss->files, std::uint64_t{4});
  QCOMPARE(loss->bytes, std::uint64_t{11 + 6 + 5 + 1});
  const auto left = [&](const char* name) { return std::string(base->read_whole(root + "/" + name)->text()); };
  QCOMPARE(left("t-1/log"), std::string("flushed "));
  QCOMPARE(left("old"), std::string("was there before"));
  QCOMPARE(left("whole"), std::string());
  QCOMPARE(left("safe"), std::string("safe"));
  QCOMPARE(left("cut"), std::string("123"));
  QVERIFY(!base->exists(root + "/gone"));
  QCOMPARE(disk.remembered(), std::size_t{0});
  QCOMPARE(disk.cut()->files, std::uint64_t{0});

  // What is written afterwards is lost with the next one, also through a File of before.
  QVERIFY(put(*old, "!"));
  QCOMPARE(disk.cut()->bytes, std::uint64_t{1});
}

// Whatever is done to a few files, afterwards there is what was there at the last sync, as far as it was not cut off since.
void TestEnv::a_power_cut_by_a_twin() {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const auto base = std::make_shared<MemoryDisk>(1U << 22U);
    PowerDisk disk(base);
    Prng prng(seed);
    struct Twin {
      std::string now;
      std::size_t stable = 0;
    };
    std::array<std::shared_ptr<File>, 3> files;
    std::array<Twin, 3> twins;
    const auto name = [](std::size_t which) { return "f" + std::to_string(which); };
    for (int step = 0; step < 200; ++step) {
      const std::size_t which = prng.below(files.size());
      Twin& twin = twins[which];
      if (files[which] == nullptr) {
        files[which] = *disk.open(name(which), OpenMode::create_or_open);
      }
      const std::string text(prng.below(200) + 1, static_cast<char>('a' + prng.below(26)));
      switch (prng.below(6)) {
        case 0:
        case 1:
          QVERIFY(put(*files[which], text));
          twin.now += text;
          break;
        case 2:
          QVERIFY(files[which]->sync());
          twin.stable = twin.now.size();
          break;
        case 3:
          twin.now.resize(prng.below(twin.now.size() + 1));
          twin.stable = std::min(twin.stable, twin.now.size());
          QVERIFY(files[which]->truncate(twin.now.size()));
          break;
        case 4:
          files[which].reset();
          break;
        default:
          if (prng.chance({1, 10})) {
            std::uint64_t expected = 0;
            for (Twin& each : twins) {
              expected += each.now.size() - each.stable;
              each.now.resize(each.stable);
            }
            QCOMPARE(disk.cut()->bytes, expected);
          }
          break;
      }
      for (std::size_t i = 0; i < files.size(); ++i) {
        if (base->exists(name(i))) {
          QCOMPARE(std::string(base->read_whole(name(i))->text()), twins[i].now);
        }
      }
    }
  }
}

// One thread appends and notes what a finished sync covered; another syncs. Nothing that a sync covered is ever lost.
void TestEnv::syncs_beside_appends() {
  for (int round = 0; round < 20; ++round) {
    PowerDisk disk(std::make_shared<MemoryDisk>(1U << 24U));
    const auto file = *disk.open("f", OpenMode::create_new);
    std::atomic<bool> go_on{true};
    std::uint64_t covered = 0;
    std::thread flusher([&] {
      while (go_on.load()) {
        const std::uint64_t before = file->size();
        static_cast<void>(file->sync());
        covered = before;
      }
    });
    for (int i = 0; i < 2'000; ++i) {
      QVERIFY(put(*file, "0123456789"));
    }
    go_on = false;
    flusher.join();
    QVERIFY(disk.cut());
    QVERIFY(file->size() >= covered);
  }
}

QTEST_APPLESS_MAIN(TestEnv)
#include "tst_env.moc"
