// SPDX-License-Identifier: Apache-2.0
#include "engine/node/client_link.h"

#include <asio/buffer.hpp>
#include <asio/connect.hpp>
#include <asio/write.hpp>
#include <chrono>
#include <utility>

namespace hw::node {
namespace {
// An answer may carry one batch that is larger than every limit; this is Kafka's own limit of a request, doubled.
constexpr std::int32_t kLargestAnswer = 200 * 1024 * 1024;
constexpr std::size_t kPiecesAtOnce = 64;
}  // namespace

std::string connect_problem(const asio::error_code& error) {
  if (error == asio::error::connection_refused) {
    return "connection refused, nothing listens there";
  }
  if (error == asio::error::host_not_found || error == asio::error::host_not_found_try_again) {
    return "the host name is unknown";
  }
  return error.message();
}

ClientLink::ClientLink(asio::io_context& io, client::LinkId id, client::Endpoint endpoint, Told told)
    : id_(id), endpoint_(std::move(endpoint)), told_(std::move(told)), resolver_(io), socket_(io), framer_(kLargestAnswer) {}

void ClientLink::open() {
  const auto self = shared_from_this();
  asio::error_code no_number;
  const asio::ip::address address = asio::ip::make_address(endpoint_.host, no_number);
  if (!no_number) {
    socket_.async_connect({address, endpoint_.port}, [self](const asio::error_code& error) { self->connected(error); });
    return;
  }
  resolver_.async_resolve(
      endpoint_.host, std::to_string(endpoint_.port),
      [self](const asio::error_code& error, const asio::ip::tcp::resolver::results_type& found) {
        if (error && self->told_ && self->endpoint_.host == "localhost") {
          // A minimal system has no hosts file; the name means loopback all the same (RFC 6761).
          self->socket_.async_connect({asio::ip::address_v4::loopback(), self->endpoint_.port},
                                      [self](const asio::error_code& failed) { self->connected(failed); });
          return;
        }
        if (error || !self->told_) {
          self->end(client::Input::Kind::failed, connect_problem(error));
          return;
        }
        asio::async_connect(self->socket_, found, [self](const asio::error_code& failed, const asio::ip::tcp::endpoint&) {
          self->connected(failed);
        });
      });
}

void ClientLink::connected(const asio::error_code& error) {
  if (!told_) {
    return;
  }
  if (error) {
    end(client::Input::Kind::failed, connect_problem(error));
    return;
  }
  asio::error_code ignored;
  socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
  open_ = true;
  read();
  if (!hold_out_ && writing_.empty() && !waiting_.empty()) {
    write();
  }
  tell(client::Input::Kind::opened, {}, {});
}

void ClientLink::read() {
  if (reading_ || hold_in_ || !open_) {
    return;
  }
  reading_ = true;
  const MutableByteSpan room = framer_.prepare();
  socket_.async_read_some(asio::buffer(room.data(), room.size()),
                          [self = shared_from_this()](const asio::error_code& error, std::size_t size) {
                            self->got(error, size);
                          });
}

void ClientLink::got(const asio::error_code& error, std::size_t size) {
  reading_ = false;
  if (!told_) {
    return;
  }
  if (error) {
    end(client::Input::Kind::closed,
        error == asio::error::eof ? "the broker closed the connection" : error.message());
    return;
  }
  framer_.commit(size);
  if (hand_over()) {
    read();
  }
}

// False: the link has ended.
bool ClientLink::hand_over() {
  while (!hold_in_) {
    Result<std::optional<Bytes>> frame = framer_.next();
    if (!frame) {
      end(client::Input::Kind::closed, frame.error().detail);
      return false;
    }
    if (!*frame) {
      break;
    }
    tell(client::Input::Kind::frame, std::move(**frame), {});
    if (!told_) {
      return false;  // closed meanwhile
    }
  }
  return true;
}

void ClientLink::send(BytesChain frame) {
  if (delay_ > Duration{}) {
    const auto timer = std::make_shared<asio::steady_timer>(socket_.get_executor(), std::chrono::nanoseconds(delay_.ns));
    timer->async_wait([self = shared_from_this(), timer, frame = std::move(frame)](const asio::error_code& error) mutable {
      if (!error && self->told_) {
        self->leave(std::move(frame));
      }
    });
    return;
  }
  leave(std::move(frame));
}

void ClientLink::leave(BytesChain frame) {
  waiting_.push_back(std::move(frame));
  if (open_ && writing_.empty() && !hold_out_) {
    write();
  }
}

void ClientLink::hold(bool out, bool in, Duration delay) {
  hold_out_ = out;
  hold_in_ = in;
  delay_ = delay;
  if (!told_ || !open_) {
    return;
  }
  if (!hold_out_ && writing_.empty() && !waiting_.empty()) {
    write();
  }
  if (hand_over()) {
    read();
  }
}

void ClientLink::write() {
  std::vector<asio::const_buffer> buffers;
  while (!waiting_.empty() && buffers.size() < kPiecesAtOnce) {
    writing_.push_back(std::move(waiting_.front()));
    waiting_.pop_front();
    for (const BytesChain::Piece& piece : writing_.back().pieces()) {
      const Bytes* bytes = std::get_if<Bytes>(&piece);
      HW_ASSERT(bytes != nullptr, "requests are in memory");
      buffers.emplace_back(bytes->data(), bytes->size());
    }
  }
  asio::async_write(socket_, buffers, [self = shared_from_this()](const asio::error_code& error, std::size_t) {
    self->writing_.clear();
    if (!self->told_) {
      return;
    }
    if (error) {
      self->end(client::Input::Kind::closed, error.message());
    } else if (!self->waiting_.empty() && !self->hold_out_) {
      self->write();
    }
  });
}

void ClientLink::tell(client::Input::Kind kind, Bytes frame, std::string reason) {
  const Told told = told_;  // it may be taken away by what it does
  told({kind, id_, std::move(frame), std::move(reason)});
}

void ClientLink::end(client::Input::Kind kind, std::string reason) {
  if (!told_) {
    return;
  }
  const Told told = std::exchange(told_, Told{});
  close();
  told({kind, id_, {}, std::move(reason)});
}

void ClientLink::close() {
  told_ = Told{};
  asio::error_code ignored;
  resolver_.cancel();
  socket_.shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
  socket_.close(ignored);
}

}  // namespace hw::node
