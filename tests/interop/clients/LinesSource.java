// SPDX-License-Identifier: Apache-2.0
// A source connector for Kafka Connect: each line of a file is a record; the offset is the number of lines sent.
import java.nio.file.*;
import java.util.*;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.connect.connector.Task;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.source.*;

public class LinesSource extends SourceConnector {
  private Map<String, String> config;

  @Override public void start(Map<String, String> config) { this.config = config; }
  @Override public Class<? extends Task> taskClass() { return LinesTask.class; }
  @Override public List<Map<String, String>> taskConfigs(int most) { return List.of(config); }
  @Override public void stop() {}
  @Override public ConfigDef config() { return new ConfigDef(); }
  @Override public String version() { return "1"; }

  public static class LinesTask extends SourceTask {
    private Map<String, String> config;
    private long sent;

    @Override public String version() { return "1"; }
    @Override public void start(Map<String, String> config) {
      this.config = config;
      var stored = context.offsetStorageReader().offset(Map.of("file", config.get("file")));
      sent = stored == null ? 0 : (Long) stored.get("lines");
    }
    @Override public void stop() {}
    @Override public List<SourceRecord> poll() throws InterruptedException {
      var records = new ArrayList<SourceRecord>();
      try {
        List<String> lines = Files.readAllLines(Path.of(config.get("file")));
        while (sent < lines.size()) {
          String line = lines.get((int) sent++);
          records.add(new SourceRecord(Map.of("file", config.get("file")), Map.of("lines", sent), config.get("topic"), Schema.STRING_SCHEMA, line));
        }
      } catch (java.io.IOException e) {
        throw new org.apache.kafka.connect.errors.ConnectException(e);
      }
      if (records.isEmpty()) Thread.sleep(100);
      return records;
    }
  }
}
