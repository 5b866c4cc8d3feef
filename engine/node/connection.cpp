// SPDX-License-Identifier: Apache-2.0
#include "engine/node/connection.h"

#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>
#include <variant>

namespace hw::node {

namespace {

// Per wake-up: enough for a large frame, little enough that one client cannot starve the others.
constexpr int kReadsPerTurn = 8;
constexpr std::size_t kPiecesPerCall = 64;

}  // namespace

Connection::Connection(asio::ip::tcp::socket socket, ConnectionId id, std::string peer, std::int32_t max_frame_bytes,
                       Owner& owner)
    : socket_(std::move(socket)),
      id_(id),
      peer_(std::move(peer)),
      owner_(owner),
      framer_(max_frame_bytes),
      counters_(std::make_shared<event::ConnectionCounters>()),
      unmute_(socket_.get_executor()) {}

void Connection::start() {
  asio::error_code ignored;
  socket_.non_blocking(true, ignored);
  socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
  wait_readable();
}

void Connection::wait_readable() {
  if (reading_ || closed_) {
    return;
  }
  reading_ = true;
  socket_.async_wait(asio::ip::tcp::socket::wait_read, [self = shared_from_this()](const asio::error_code& error) {
    self->reading_ = false;
    if (!error) {
      self->readable();
    }
  });
}

void Connection::wait_writable() {
  socket_.async_wait(asio::ip::tcp::socket::wait_write, [self = shared_from_this()](const asio::error_code& error) {
    if (error || self->closed_) {
      return;
    }
    switch (self->send_pending()) {
      case Sent::all:
        self->written();
        break;
      case Sent::blocked:
        self->wait_writable();
        break;
      case Sent::failed:
        self->close({});
        break;
    }
  });
}

void Connection::readable() {
  for (int turn = 0; turn < kReadsPerTurn && !closed_ && !busy(); ++turn) {
    const MutableByteSpan room = framer_.prepare();
    const ssize_t got = ::recv(socket_.native_handle(), room.data(), room.size(), MSG_DONTWAIT);
    if (got > 0) {
      framer_.commit(static_cast<std::size_t>(got));
      counters_->bytes_in.add(got);
      serve_buffered();
      if (static_cast<std::size_t>(got) < room.size()) {
        break;  // the socket is dry
      }
      continue;
    }
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0 && errno == EAGAIN) {
      break;
    }
    close({});
    return;
  }
  if (!busy()) {
    wait_readable();
  }
}

void Connection::serve_buffered() {
  if (serving_) {
    return;
  }
  serving_ = true;
  while (!closed_ && !busy()) {
    Result<std::optional<Bytes>> frame = framer_.next();
    if (!frame) {
      close(frame.error().detail);
      break;
    }
    if (!frame->has_value()) {
      break;
    }
    in_flight_ = true;
    counters_->requests.add(1);
    owner_.frame_arrived(*this, std::move(**frame));
  }
  serving_ = false;
}

void Connection::reply(BytesChain frame, bool close_after, Duration mute) {
  if (closed_ || !in_flight_) {
    return;
  }
  HW_ASSERT(out_.empty(), "I1");
  out_ = std::move(frame);
  out_piece_ = 0;
  out_offset_ = 0;
  close_after_ = close_after;
  mute_ = mute;
  switch (send_pending()) {
    case Sent::all:
      written();
      break;
    case Sent::blocked:
      wait_writable();
      break;
    case Sent::failed:
      close({});
      break;
  }
}

void Connection::written() {
  counters_->bytes_out.add(static_cast<std::int64_t>(out_.size()));
  out_.clear();
  in_flight_ = false;
  if (close_after_) {
    close({});
    return;
  }
  if (mute_ > Duration{}) {
    muted_ = true;
    unmute_.expires_after(std::chrono::nanoseconds(mute_.ns));
    unmute_.async_wait([self = shared_from_this()](const asio::error_code& error) {
      if (!error && !self->closed_) {
        self->unmuted();
      }
    });
    return;
  }
  if (!serving_) {
    serve_buffered();
    if (!busy()) {
      wait_readable();
    }
  }
}

void Connection::unmuted() {
  muted_ = false;
  serve_buffered();
  if (!busy()) {
    wait_readable();
  }
}

bool Connection::send_memory(std::size_t& advanced, bool& blocked) {
  std::array<iovec, kPiecesPerCall> pieces{};
  std::size_t count = 0;
  std::size_t wanted = 0;
  const std::vector<BytesChain::Piece>& all = out_.pieces();
  std::size_t at = out_piece_;
  for (; at < all.size() && count < pieces.size(); ++at) {
    const Bytes* bytes = std::get_if<Bytes>(&all[at]);
    if (bytes == nullptr) {
      break;
    }
    const std::size_t skip = at == out_piece_ ? out_offset_ : 0;
    pieces[count].iov_base = const_cast<std::byte*>(bytes->data() + skip);  // NOLINT: sendmsg only reads
    pieces[count].iov_len = bytes->size() - skip;
    wanted += pieces[count].iov_len;
    ++count;
  }
  msghdr message{};
  message.msg_iov = pieces.data();
  message.msg_iovlen = count;
  const int more = at < all.size() ? MSG_MORE : 0;  // header and file bytes in one segment
  const ssize_t sent = ::sendmsg(socket_.native_handle(), &message, MSG_DONTWAIT | MSG_NOSIGNAL | more);
  if (sent < 0) {
    blocked = errno == EAGAIN;
    return blocked || errno == EINTR;
  }
  advanced = static_cast<std::size_t>(sent);
  blocked = advanced < wanted;
  return true;
}

bool Connection::send_region(FileRegion& region, bool& blocked) {
  const std::uint64_t left = region.size - out_offset_;
  const int source = region.source->descriptor();
  ssize_t sent = 0;
  if (source >= 0) {
    auto position = static_cast<off_t>(region.position + out_offset_);
    sent = ::sendfile(socket_.native_handle(), source, &position, static_cast<std::size_t>(left));
  } else {
    std::array<std::byte, 64 * 1024> buffer;
    const std::ptrdiff_t got = region.source->read_at(
        region.position + out_offset_, {buffer.data(), static_cast<std::size_t>(std::min<std::uint64_t>(left, buffer.size()))});
    if (got <= 0) {
      return false;  // the file ended under us: the length prefix is out already, so the connection cannot go on
    }
    sent = ::send(socket_.native_handle(), buffer.data(), static_cast<std::size_t>(got), MSG_DONTWAIT | MSG_NOSIGNAL);
  }
  if (sent < 0) {
    blocked = errno == EAGAIN;
    return blocked || errno == EINTR;
  }
  if (sent == 0) {
    return false;
  }
  out_offset_ += static_cast<std::size_t>(sent);
  if (out_offset_ == region.size) {
    ++out_piece_;
    out_offset_ = 0;
  }
  return true;
}

Connection::Sent Connection::send_pending() {
  std::vector<BytesChain::Piece>& pieces = out_.pieces();
  while (out_piece_ < pieces.size()) {
    bool blocked = false;
    if (FileRegion* region = std::get_if<FileRegion>(&pieces[out_piece_])) {
      if (!send_region(*region, blocked)) {
        return Sent::failed;
      }
    } else {
      std::size_t advanced = 0;
      if (!send_memory(advanced, blocked)) {
        return Sent::failed;
      }
      while (advanced > 0) {
        const std::size_t left = std::get<Bytes>(pieces[out_piece_]).size() - out_offset_;
        if (advanced < left) {
          out_offset_ += advanced;
          break;
        }
        advanced -= left;
        ++out_piece_;
        out_offset_ = 0;
      }
    }
    if (blocked) {
      return Sent::blocked;
    }
  }
  return Sent::all;
}

void Connection::close(const std::string& reason) {
  if (closed_) {
    return;
  }
  closed_ = true;
  const std::shared_ptr<Connection> keep = shared_from_this();
  asio::error_code ignored;
  socket_.shutdown(asio::ip::tcp::socket::shutdown_both, ignored);
  socket_.close(ignored);
  unmute_.cancel();
  out_.clear();
  owner_.connection_ended(*this, reason);
}

}  // namespace hw::node
