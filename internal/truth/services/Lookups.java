import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URL;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

/**
 * A JVM service that counts targets in a map by their URL, whose hash code resolves the host's name, though nothing is
 * connected to; with FIXED=1 by their URI, whose does not. PORT is in the environment.
 */
public class Lookups {
    static final boolean FIXED = "1".equals(System.getenv("FIXED"));
    static final Map<Object, LongAdder> COUNTS = new ConcurrentHashMap<>();

    static void count(String target) throws Exception {
        Object key = FIXED ? URI.create(target) : new URL(target);
        COUNTS.computeIfAbsent(key, k -> new LongAdder()).increment();
    }

    public static void main(String[] args) throws Exception {
        var server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(System.getenv("PORT"))), 256);
        server.setExecutor(Executors.newFixedThreadPool(16));
        var seen = new AtomicInteger();
        server.createContext("/", exchange -> {
            try {
                count("http://t" + seen.getAndIncrement() + ".hooks.test/in");
            } catch (Exception e) {
                e.printStackTrace();
            }
            exchange.sendResponseHeaders(200, 3);
            exchange.getResponseBody().write("ok\n".getBytes());
            exchange.close();
        });
        server.start();
        System.out.println("ready");
    }
}
