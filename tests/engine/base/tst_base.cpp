// SPDX-License-Identifier: Apache-2.0
#include <QTest>
#include <thread>

#include "engine/base/bytes.h"
#include "engine/base/ids.h"
#include "engine/base/mailbox.h"
#include "engine/base/prng.h"
#include "engine/base/result.h"
#include "engine/base/spsc_ring.h"
#include "engine/base/time.h"
#include "engine/base/trial.h"
#include "engine/base/uuid.h"

using namespace hw;  // NOLINT(google-build-using-namespace): a test

namespace {
Result<int> half(int n) {
  if (n % 2 != 0) {
    return fail(Errc::invalid, "odd");
  }
  return n / 2;
}
Result<int> quarter(int n) {
  HW_TRY(const int h, half(n));
  HW_TRY(const int q, half(h));
  return q;
}
}  // namespace

class TestBase : public QObject {
  Q_OBJECT
 private slots:
  void resultPassesErrorsOn() {
    QCOMPARE(*quarter(12), 3);
    QCOMPARE(quarter(6).error().detail, std::string("odd"));
  }
  void sliceSharesTheBlock() {
    Bytes whole = Bytes::copy_of("hello world");
    Bytes word = whole.slice(6, 5);
    QCOMPARE(word.text(), std::string_view("world"));
    QCOMPARE(whole.owners(), 2L);
    QVERIFY(whole.unique_data() == nullptr);
    whole = Bytes();
    QVERIFY(word.unique_data() != nullptr);
    QCOMPARE(word.text(), std::string_view("world"));
  }
  void chainFlattensInOrder() {
    BytesChain chain(Bytes::copy_of("a"));
    chain.append(Bytes());
    chain.append(Bytes::copy_of("bc"));
    QCOMPARE(chain.size(), std::size_t{3});
    QCOMPARE(chain.flatten().text(), std::string_view("abc"));
  }
  void builderGrows() {
    ByteBuilder builder(1);
    std::string expected;
    for (int i = 0; i < 1000; ++i) {
      builder.append(as_bytes("0123456789"));
      expected += "0123456789";
    }
    QCOMPARE(builder.finish().text(), std::string_view(expected));
    QCOMPARE(builder.size(), std::size_t{0});
  }
  void uuidText() {
    Prng prng(7);
    for (int i = 0; i < 1000; ++i) {
      const Uuid id = Uuid::random(prng);
      QCOMPARE(Uuid::parse(id.text()).value(), id);
    }
    QCOMPARE(Uuid{}.text(), std::string("AAAAAAAAAAAAAAAAAAAAAA"));
    QVERIFY(!Uuid::parse("short").has_value());
    QVERIFY(!Uuid::parse("AAAAAAAAAAAAAAAAAAAAA!").has_value());
  }
  void offsetsAreNotNumbers() {
    static_assert(!std::is_convertible_v<std::int64_t, Offset>);
    static_assert(!std::is_convertible_v<Offset, std::int64_t>);
    QCOMPARE(Offset(5) - Offset(3), OffsetDelta{2});
    QVERIFY(milliseconds(std::numeric_limits<std::int64_t>::max()).ns > 0);
  }
  void ringKeepsOrderAcrossThreads() {
    SpscRing<int> ring(64);
    constexpr int total = 200'000;
    std::thread producer([&] {
      for (int i = 0; i < total;) {
        if (ring.push(i)) {
          ++i;
        } else {
          std::this_thread::yield();
        }
      }
    });
    int expected = 0;
    while (expected < total) {
      if (const std::optional<int> got = ring.pop()) {
        if (*got != expected) {
          break;
        }
        ++expected;
      } else {
        std::this_thread::yield();
      }
    }
    producer.join();
    QCOMPARE(expected, total);
  }
  void ringSaysWhenItIsFull() {
    SpscRing<int> ring(2);
    QVERIFY(ring.push(1));
    QVERIFY(ring.push(2));
    QVERIFY(!ring.push(3));
    QCOMPARE(ring.pop().value(), 1);
    QVERIFY(ring.push(3));
  }
  void mailboxKeepsTheNewest() {
    Mailbox<int> box;
    QVERIFY(box.put(std::make_unique<int>(1)));
    QVERIFY(!box.put(std::make_unique<int>(2)));
    QCOMPARE(*box.take(), 2);
    QVERIFY(box.take() == nullptr);
  }
  void trialsAreInForceWhileTheyLive() {
    using trial::Canary;
    using trial::Oddity;
    QVERIFY(!trial::has_bug(Canary::none));  // no trial at all
    QVERIFY(!trial::happens(Oddity::short_fetch));
    {
      trial::Trial outer(Canary::votes_twice);
      QVERIFY(trial::has_bug(Canary::votes_twice));
      {
        trial::Trial inner;
        QVERIFY(!trial::has_bug(Canary::votes_twice));
        trial::mark(trial::Mark::isr_shrinks);
        QCOMPARE(inner.marks()[static_cast<std::size_t>(trial::Mark::isr_shrinks)], std::uint64_t{1});
      }
      QVERIFY(trial::has_bug(Canary::votes_twice));
      QCOMPARE(outer.marks(), trial::MarkCounts{});
      std::thread([] { QVERIFY(!trial::has_bug(Canary::votes_twice)); }).join();
    }
    QVERIFY(!trial::has_bug(Canary::votes_twice));
    QCOMPARE(trial::canary_of("votes-twice").value(), Canary::votes_twice);
    QVERIFY(!trial::canary_of("sings"));
  }
  void someOdditiesHappenOften() {
    using trial::Oddity;
    int on = 0;
    int happened = 0;
    constexpr int kRuns = 400;
    constexpr int kAsked = 100;
    for (std::uint64_t seed = 1; seed <= kRuns; ++seed) {
      trial::Trial one;
      QVERIFY(!trial::happens(Oddity::early_roll));  // none before they are drawn
      one.draw_oddities(Prng(seed));
      on += one.is_on(Oddity::early_roll) ? 1 : 0;
      for (int i = 0; i < kAsked; ++i) {
        const bool now = trial::happens(Oddity::early_roll);
        QVERIFY(!now || one.is_on(Oddity::early_roll));
        happened += now ? 1 : 0;
      }
    }
    QVERIFY(on > kRuns / 5 && on < kRuns / 3);
    QVERIFY(happened > on * kAsked / 5 && happened < on * kAsked / 3);
  }
};

QTEST_APPLESS_MAIN(TestBase)
#include "tst_base.moc"
