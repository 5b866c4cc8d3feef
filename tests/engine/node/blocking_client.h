// SPDX-License-Identifier: Apache-2.0
// A client as plain as can be: one blocking socket, one request after the other, encoded with the generated codec.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "engine/base/bytes.h"
#include "engine/wire/msg/apis.h"
#include "engine/wire/runtime/reader.h"
#include "engine/wire/runtime/writer.h"

namespace hw::test {

class BlockingClient {
 public:
  explicit BlockingClient(std::uint16_t port);  // throws std::runtime_error
  ~BlockingClient();
  BlockingClient(const BlockingClient&) = delete;
  BlockingClient& operator=(const BlockingClient&) = delete;

  void send_raw(ByteSpan bytes);
  // Everything until the peer closes; for frames that are not answered.
  std::size_t drain();
  Bytes receive_frame();  // without the length; throws when the peer closes

  template <class Request>
  void send(const Request& request, std::int16_t version) {
    wire::Writer body;
    if (!encode(body, request, version)) {
      throw std::runtime_error("encode");
    }
    send_framed(Request::kApiKey, version, body.finish().flatten());
  }
  template <class Response>
  Response receive(std::int16_t version) {
    const Bytes frame = receive_frame();
    const std::size_t header = header_size(frame, Response::kApiKey, version);
    wire::Reader reader(frame.slice(header, frame.size() - header));
    Response response;
    if (!decode(reader, response, version) || reader.remaining() != 0) {
      throw std::runtime_error("decode");
    }
    return response;
  }
  template <class Response, class Request>
  Response ask(const Request& request, std::int16_t version) {
    send(request, version);
    return receive<Response>(version);
  }
  [[nodiscard]] std::int32_t last_correlation() const noexcept { return correlation_; }
  [[nodiscard]] const std::string& last_frame() const noexcept { return frame_; }  // with its length
  [[nodiscard]] int descriptor() const noexcept { return socket_; }

 private:
  void send_framed(std::int16_t key, std::int16_t version, const Bytes& body);
  static std::size_t header_size(const Bytes& frame, std::int16_t key, std::int16_t version);
  int socket_ = -1;
  std::int32_t correlation_ = 0;
  std::string frame_;
};

}  // namespace hw::test
