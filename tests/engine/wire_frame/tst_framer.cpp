// SPDX-License-Identifier: Apache-2.0
#include <QTest>
#include <string>
#include <vector>

#include "engine/base/prng.h"
#include "engine/wire/frame/framer.h"

using namespace hw;  // NOLINT(google-build-using-namespace): a test

namespace {

std::string framed(const std::string& body) {
  std::string out(4, '\0');
  for (std::size_t i = 0; i < 4; ++i) {
    out[i] = static_cast<char>(body.size() >> (24 - 8 * i));
  }
  return out + body;
}

// Feeds `stream` in pieces of at most `piece` bytes and returns the frames.
std::vector<Bytes> feed(wire::Framer& framer, std::string_view stream, std::size_t piece) {
  std::vector<Bytes> frames;
  while (!stream.empty()) {
    const MutableByteSpan room = framer.prepare();
    const std::size_t size = std::min({piece, room.size(), stream.size()});
    std::memcpy(room.data(), stream.data(), size);
    framer.commit(size);
    stream.remove_prefix(size);
    for (;;) {
      Result<std::optional<Bytes>> next = framer.next();
      if (!next || !next->has_value()) {
        break;
      }
      frames.push_back(**next);
    }
  }
  return frames;
}

}  // namespace

class TestFramer : public QObject {
  Q_OBJECT
 private slots:
  void framesSurviveAnyCut() {
    Prng prng(11);
    for (int round = 0; round < 200; ++round) {
      std::vector<std::string> bodies;
      std::string stream;
      const std::size_t count = 1 + prng.below(20);
      for (std::size_t i = 0; i < count; ++i) {
        const std::size_t size = prng.chance({1, 6}) ? prng.below(300'000) : prng.below(200);
        std::string body(size, '\0');
        for (char& c : body) {
          c = static_cast<char>(prng.next());
        }
        stream += framed(body);
        bodies.push_back(std::move(body));
      }
      wire::Framer framer(1 << 20);
      const std::vector<Bytes> frames = feed(framer, stream, 1 + prng.below(round % 2 == 0 ? 7'000 : 200'000));
      QCOMPARE(frames.size(), bodies.size());
      for (std::size_t i = 0; i < bodies.size(); ++i) {
        QVERIFY(frames[i].text() == bodies[i]);
      }
      QCOMPARE(framer.buffered(), std::size_t{0});
    }
  }
  void largeFrameIsTheOnlyOwnerOfItsBlock() {
    wire::Framer framer(1 << 20);
    const std::vector<Bytes> frames = feed(framer, framed(std::string(100'000, 'x')), 10'000);
    QCOMPARE(frames.size(), std::size_t{1});
    QCOMPARE(frames[0].owners(), 1L);
  }
  void negativeLengthIsRefused() {
    wire::Framer framer(100);
    const MutableByteSpan room = framer.prepare();
    std::memset(room.data(), 0xff, 4);
    framer.commit(4);
    QCOMPARE(framer.next().error().code, Errc::invalid);
  }
  void oversizedLengthIsRefusedBeforeMemoryIsTaken() {
    wire::Framer framer(100);
    const std::string bytes = framed(std::string(101, 'x')).substr(0, 4);
    const MutableByteSpan room = framer.prepare();
    std::memcpy(room.data(), bytes.data(), 4);
    framer.commit(4);
    QCOMPARE(framer.next().error().code, Errc::too_large);
    QVERIFY(framer.prepare().size() <= 64U * 1024U);
  }
  void emptyFrame() {
    wire::Framer framer(100);
    const std::vector<Bytes> frames = feed(framer, framed("") + framed("a"), 100);
    QCOMPARE(frames.size(), std::size_t{2});
    QVERIFY(frames[0].empty());
  }
};

QTEST_APPLESS_MAIN(TestFramer)
#include "tst_framer.moc"
