import de.bwaldvogel.mongo.MongoServer;
import de.bwaldvogel.mongo.MongoVersion;
import de.bwaldvogel.mongo.backend.AbstractMongoBackend;
import de.bwaldvogel.mongo.backend.h2.H2Backend;
import de.bwaldvogel.mongo.backend.memory.MemoryBackend;
import java.util.List;

/** Speaks MongoDB's protocol, with a wire version that current drivers accept: from memory, or from a file when one is named, which keeps all over an orderly end. */
public final class MongoEngine {
  private record Version(List<Integer> getVersionArray, int getWireVersion) implements MongoVersion {}

  public static void main(String[] arguments) {
    AbstractMongoBackend backend = arguments.length > 1 ? new H2Backend(arguments[1]) : new MemoryBackend();
    backend.version(new Version(List.of(5, 0, 0), 13));
    MongoServer server = new MongoServer(backend);
    server.bind(System.getProperty("host", "127.0.0.1"), Integer.parseInt(arguments[0]));
    Runtime.getRuntime().addShutdownHook(new Thread(server::shutdownNow));
  }
}
