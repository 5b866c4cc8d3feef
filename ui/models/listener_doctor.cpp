// SPDX-License-Identifier: Apache-2.0
#include "ui/models/listener_doctor.h"

#include <QCoreApplication>
#include <algorithm>
#include <optional>

namespace hw::ui {

namespace {

struct Doctor {
  Q_DECLARE_TR_FUNCTIONS(Doctor)
};

const QString kContainerName = QStringLiteral("host.docker.internal");

bool is_loopback_text(const QString& host) {
  return host == QLatin1String("localhost") || host.endsWith(QLatin1String(".localhost")) ||
         host.startsWith(QLatin1String("127.")) || host == QLatin1String("::1");
}

bool is_wildcard(const QString& host) { return host == QLatin1String("0.0.0.0") || host == QLatin1String("::"); }

std::optional<QString> first_address(const DoctorInput& in, MachineAddress::Kind kind) {
  for (const MachineAddress& a : in.machine) {
    if (a.kind == kind && !a.v6) {
      return a.address;
    }
  }
  return std::nullopt;
}

// Where a client of this audience makes its first contact, as far as this machine can try it.
std::optional<QString> entrance(const DoctorInput& in, DoctorRow::Audience audience) {
  const ListenerInfo& l = in.listener;
  const auto network = first_address(in, MachineAddress::Kind::network);
  switch (audience) {
    case DoctorRow::Audience::here:
      return is_wildcard(l.bind_address) || is_loopback_text(l.bind_address) ? QStringLiteral("localhost") : l.bind_address;
    case DoctorRow::Audience::network:
      return network;
    case DoctorRow::Audience::container: {
      const auto bridge = first_address(in, MachineAddress::Kind::container);
      return bridge ? bridge : network;
    }
  }
  return std::nullopt;
}

ListenerCheck check_of(const DoctorInput& in, const QString& host, std::uint16_t port) {
  const auto found = in.checks.find(host_port(host, port));
  return found == in.checks.end() ? ListenerCheck() : found->second;
}

bool another_cluster(const DoctorInput& in, const ListenerCheck& check) {
  return check.ok() && !in.cluster_id.isEmpty() && !check.cluster_id.isEmpty() && check.cluster_id != in.cluster_id;
}

// Why an address does not lead to this cluster, as the rest of "…, where …".
QString failure(const DoctorInput& in, const ListenerCheck& check) {
  switch (check.outcome) {
    case ListenerCheck::Outcome::not_resolved:
      return Doctor::tr("a name that means nothing on this machine");
    case ListenerCheck::Outcome::refused:
      return Doctor::tr("where nothing listens (connection refused)");
    case ListenerCheck::Outcome::timed_out:
      return Doctor::tr("where nobody answers: a firewall, or the wrong address");
    case ListenerCheck::Outcome::unreachable:
      return Doctor::tr("which cannot be reached from here (%1)").arg(check.detail);
    case ListenerCheck::Outcome::other_protocol:
      return Doctor::tr("where another program answers, which does not speak Kafka");
    case ListenerCheck::Outcome::speaks_kafka:
      return another_cluster(in, check) ? Doctor::tr("where another Kafka cluster answers") : QString();
    case ListenerCheck::Outcome::pending:
      break;
  }
  return {};
}

QString options_for_all(const DoctorInput& in) {
  auto address = first_address(in, MachineAddress::Kind::network);
  if (!address) {
    address = first_address(in, MachineAddress::Kind::container);
  }
  return address ? QStringLiteral("--listen 0.0.0.0 --advertise %1").arg(host_port(*address, in.listener.port)) : QString();
}

QString options_for_here(const DoctorInput& in) {
  const bool every = is_wildcard(in.listener.bind_address);
  const QString host = every || is_loopback_text(in.listener.bind_address) ? QStringLiteral("localhost") : in.listener.bind_address;
  return QStringLiteral("%1--advertise %2")
      .arg(every ? QStringLiteral("--listen 0.0.0.0 ") : QString(), host_port(host, in.listener.port));
}

QString name_of(DoctorRow::Audience audience) {
  switch (audience) {
    case DoctorRow::Audience::here:
      return Doctor::tr("Programs on this machine");
    case DoctorRow::Audience::network:
      return Doctor::tr("Other machines, VMs, WSL");
    case DoctorRow::Audience::container:
      return Doctor::tr("Containers on this machine");
  }
  return {};
}

void works(DoctorRow& row, const QString& sentence) {
  row.verdict = DoctorRow::Verdict::works;
  row.sentence = sentence;
}

void fails(DoctorRow& row, const QString& sentence, const QString& advice, const QString& options) {
  row.verdict = DoctorRow::Verdict::fails;
  row.sentence = sentence;
  row.advice = advice;
  row.options = options;
}

// From this machine everything can really be tried.
void judge_here(DoctorRow& row, const DoctorInput& in, const ListenerCheck& first, const ListenerCheck& told) {
  if (const QString why = failure(in, first); !why.isEmpty()) {
    fails(row, Doctor::tr("Clients do not even get to %1, %2.").arg(row.bootstrap, why),
          Doctor::tr("The cluster may be stopped, or another program holds the port."), {});
    return;
  }
  if (told.outcome == ListenerCheck::Outcome::pending) {
    return;
  }
  if (is_wildcard(in.listener.advertised_host)) {
    fails(row, Doctor::tr("Clients are told %1, which is no address to connect to.").arg(row.told),
          Doctor::tr("Advertise an address that clients can use."), options_for_here(in));
    return;
  }
  if (const QString why = failure(in, told); !why.isEmpty()) {
    const bool name = told.outcome == ListenerCheck::Outcome::not_resolved;
    fails(row,
          Doctor::tr("The first contact at %1 works, but then the broker sends clients on to %2, %3. Producing and consuming "
                     "fail, and the client says that the broker is down.")
              .arg(row.bootstrap, row.told, why),
          name ? Doctor::tr("Advertise an address that this machine knows, or give the name an entry in /etc/hosts.")
               : Doctor::tr("Advertise the address at which the broker listens."),
          options_for_here(in));
    return;
  }
  works(row, row.bootstrap == row.told ? Doctor::tr("Clients connect and stay: the broker tells them the same address.")
                                       : Doctor::tr("Clients connect to %1, are sent on to %2, and get there.").arg(row.bootstrap, row.told));
}

void judge_outside(DoctorRow& row, const DoctorInput& in, const QString& tried, const ListenerCheck& first,
                   const ListenerCheck& told) {
  const bool container = row.audience == DoctorRow::Audience::container;
  const QString advised = options_for_all(in);
  if (const QString why = failure(in, first); !why.isEmpty()) {
    const bool only_here = is_loopback_text(in.listener.bind_address) && first.outcome == ListenerCheck::Outcome::refused;
    QString advice = only_here ? Doctor::tr("Listen on every address, and advertise one that they can use. Whoever can reach "
                                            "it can then read and write.")
                               : Doctor::tr("Look at the address and at firewalls.");
    if (container && only_here) {
      advice += QLatin1Char(' ') + Doctor::tr("Or run the container with --network=host and use %1.")
                                       .arg(host_port(QStringLiteral("localhost"), in.listener.port));
    }
    fails(row,
          only_here ? Doctor::tr("They cannot connect: the broker listens on %1 only, which is this machine talking to itself.")
                          .arg(in.listener.bind_address)
                    : Doctor::tr("They cannot connect to %1, %2.").arg(host_port(tried, in.listener.port), why),
          advice, only_here ? advised : QString());
    return;
  }
  const QString& host = in.listener.advertised_host;
  if (is_loopback_text(host) || is_wildcard(host)) {
    fails(row,
          container ? Doctor::tr("They connect to %1, but are sent on to %2, which inside a container is the container itself.")
                          .arg(row.bootstrap, row.told)
                    : Doctor::tr("They connect to %1, but are sent on to %2, which on their side is their own machine.")
                          .arg(row.bootstrap, row.told),
          Doctor::tr("Advertise an address that means the same everywhere."), advised);
    return;
  }
  if (host == kContainerName) {
    if (container) {
      row.verdict = DoctorRow::Verdict::unsure;
      row.sentence = Doctor::tr("They are sent on to %1. Docker Desktop knows this name; on Linux a container needs "
                                "--add-host=host.docker.internal:host-gateway.")
                         .arg(row.told);
    } else {
      fails(row, Doctor::tr("They are sent on to %1, a name that only containers know.").arg(row.told),
            Doctor::tr("Advertise an address that means the same everywhere."), advised);
    }
    return;
  }
  if (told.outcome == ListenerCheck::Outcome::pending) {
    return;
  }
  const bool loops = !told.addresses.isEmpty() && std::all_of(told.addresses.begin(), told.addresses.end(), is_loopback_text);
  if (told.outcome == ListenerCheck::Outcome::not_resolved || loops) {
    row.verdict = DoctorRow::Verdict::unsure;
    row.sentence = loops ? Doctor::tr("They are sent on to %1. On this machine the name means %2; they have to resolve it to an "
                                      "address of this machine.")
                               .arg(row.told, told.addresses.join(QStringLiteral(", ")))
                         : Doctor::tr("They are sent on to %1, a name that this machine does not know, so it cannot be tried "
                                      "from here. They have to resolve it.")
                               .arg(row.told);
    row.advice = Doctor::tr("An address instead of a name leaves nothing to resolve.");
    row.options = advised;
    return;
  }
  if (const QString why = failure(in, told); !why.isEmpty()) {
    fails(row, Doctor::tr("They connect to %1, but are sent on to %2, %3.").arg(row.bootstrap, row.told, why),
          Doctor::tr("Advertise an address at which the broker listens."), advised);
    return;
  }
  works(row, Doctor::tr("They connect to %1, are sent on to %2, and get there, unless a firewall between stops them.")
                 .arg(row.bootstrap, row.told));
}

}  // namespace

QString host_port(const QString& host, std::uint16_t port) {
  return (host.contains(QLatin1Char(':')) ? QStringLiteral("[%1]:%2") : QStringLiteral("%1:%2")).arg(host).arg(port);
}

std::vector<DoctorAddress> to_ask(const DoctorInput& input) {
  std::vector<DoctorAddress> out;
  const auto add = [&](const QString& host, std::uint16_t port) {
    const bool known = std::any_of(out.begin(), out.end(),
                                   [&](const DoctorAddress& a) { return a.host == host && a.port == port; });
    if (!known) {
      out.push_back({host, port});
    }
  };
  for (const auto audience : {DoctorRow::Audience::here, DoctorRow::Audience::network, DoctorRow::Audience::container}) {
    if (const auto host = entrance(input, audience); host) {
      add(*host, input.listener.port);
    }
  }
  add(input.listener.advertised_host, input.listener.advertised_port);
  return out;
}

std::vector<DoctorRow> diagnose(const DoctorInput& input) {
  std::vector<DoctorRow> rows;
  const ListenerCheck told = check_of(input, input.listener.advertised_host, input.listener.advertised_port);
  for (const auto audience : {DoctorRow::Audience::here, DoctorRow::Audience::network, DoctorRow::Audience::container}) {
    DoctorRow row;
    row.audience = audience;
    row.who = name_of(audience);
    row.told = host_port(input.listener.advertised_host, input.listener.advertised_port);
    const auto host = entrance(input, audience);
    if (!host) {
      row.verdict = DoctorRow::Verdict::unsure;
      row.sentence = Doctor::tr("This machine has no network address at the moment.");
      rows.push_back(std::move(row));
      continue;
    }
    row.bootstrap = host_port(audience == DoctorRow::Audience::container ? kContainerName : *host, input.listener.port);
    const ListenerCheck first = check_of(input, *host, input.listener.port);
    if (first.outcome == ListenerCheck::Outcome::pending) {
      row.sentence = Doctor::tr("Trying %1 …").arg(host_port(*host, input.listener.port));
    } else if (audience == DoctorRow::Audience::here) {
      judge_here(row, input, first, told);
    } else {
      judge_outside(row, input, *host, first, told);
    }
    if (row.verdict == DoctorRow::Verdict::checking && row.sentence.isEmpty()) {
      row.sentence = Doctor::tr("Trying %1 …").arg(row.told);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace hw::ui
