import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.PrintStream;
import java.net.HttpURLConnection;
import java.net.InetSocketAddress;
import java.net.URL;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A JVM service that hands its upstream calls to other threads, and logs what it did.
 *
 * <p>GET /work?cpu=US&calls=N&delay=US&flow=NAME computes, asks the upstream N times
 * (which answers after delay) and answers. Flows: direct (on the request's own thread),
 * fan (each call on the executor, all at once), chain (one CompletableFuture after the
 * other on the executor), threads (a CompletableFuture each on what the JDK takes by
 * itself), mixed (tasks on the executor that make no call, one or two, in turn, and take
 * locks that the requests' own threads take too), async (the executor makes the calls and
 * writes the response, the request's thread is free at once). A dispatcher thread accepts and hands
 * requests to a pool of their own. One JSON line per request goes to $LOG.
 */
public class Executor {
    static final String UPSTREAM = System.getenv("UPSTREAM");
    static final ExecutorService CALLS = Executors.newFixedThreadPool(size("POOL", 8));
    static final ReentrantLock LOCK = new ReentrantLock();
    static final Map<Integer, Integer> ORDINALS = new HashMap<>();
    static PrintStream log;

    static int size(String name, int otherwise) {
        String value = System.getenv(name);
        return value == null ? otherwise : Integer.parseInt(value);
    }

    static byte[] ask(String id, int delay) {
        try {
            URL url = new URL("http://" + UPSTREAM + "/answer?delay=" + delay);
            HttpURLConnection conn = (HttpURLConnection) url.openConnection();
            conn.setRequestProperty("X-Request-Id", id);
            try (var in = conn.getInputStream()) {
                return in.readAllBytes();
            }
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    static void compute(int us) {
        for (long until = System.nanoTime() + us * 1000L; System.nanoTime() < until; ) {
            Thread.onSpinWait();
        }
    }

    /** Computes under two locks, one after the other. */
    static void locked(int us) {
        LOCK.lock();
        try {
            compute(us);
        } finally {
            LOCK.unlock();
        }
        synchronized (ORDINALS) {
            compute(us);
        }
    }

    /** Makes the calls of one request in one of the ways. */
    static void calls(String flow, String id, int n, int delay) throws Exception {
        switch (flow) {
            case "fan" -> {
                List<Future<byte[]>> all = new ArrayList<>();
                for (int i = 0; i < n; i++) {
                    all.add(CALLS.submit(() -> ask(id, delay)));
                }
                for (Future<byte[]> one : all) {
                    one.get();
                }
            }
            case "chain" -> {
                CompletableFuture<byte[]> last = CompletableFuture.supplyAsync(() -> ask(id, delay), CALLS);
                for (int i = 1; i < n; i++) {
                    last = last.thenApplyAsync(x -> ask(id, delay), CALLS);
                }
                last.join();
            }
            case "threads" -> {
                List<CompletableFuture<byte[]>> all = new ArrayList<>();
                for (int i = 0; i < n; i++) {
                    all.add(CompletableFuture.supplyAsync(() -> ask(id, delay)));
                }
                all.forEach(CompletableFuture::join);
            }
            case "mixed" -> {
                List<Future<?>> all = new ArrayList<>();
                for (int i = 0; i < n; i++) {
                    int asks = i % 3;
                    all.add(CALLS.submit(() -> {
                        locked(50);
                        for (int k = 0; k < asks; k++) {
                            ask(id, delay);
                        }
                        locked(50);
                    }));
                    locked(20);
                }
                for (Future<?> one : all) {
                    one.get();
                    locked(20);
                }
            }
            default -> {
                for (int i = 0; i < n; i++) {
                    ask(id, delay);
                }
            }
        }
    }

    static void handle(HttpExchange x) throws IOException {
        long start = System.nanoTime();
        Map<String, String> plan = new HashMap<>();
        for (String part : x.getRequestURI().getQuery().split("&")) {
            String[] pair = part.split("=", 2);
            plan.put(pair[0], pair[1]);
        }
        String flow = plan.getOrDefault("flow", "direct");
        if (flow.equals("async")) {
            CALLS.execute(() -> serve(x, plan, start));
        } else {
            serve(x, plan, start);
        }
    }

    /** Does what a request asks for, and answers it. */
    static void serve(HttpExchange x, Map<String, String> plan, long start) {
        String id = x.getRequestHeaders().getFirst("X-Request-Id");
        int cpu = Integer.parseInt(plan.getOrDefault("cpu", "0"));
        compute(cpu);
        long computed = System.nanoTime();
        long waited;
        try {
            calls(plan.getOrDefault("flow", "direct"), id == null ? "-1" : id,
                    Integer.parseInt(plan.getOrDefault("calls", "0")), Integer.parseInt(plan.getOrDefault("delay", "0")));
            waited = System.nanoTime();
            x.sendResponseHeaders(200, 3);
            x.getResponseBody().write("ok\n".getBytes());
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
        x.close();
        int port = x.getRemoteAddress().getPort();
        synchronized (ORDINALS) {
            log.printf("{\"id\":%s,\"port\":%d,\"ordinal\":%d,\"start\":%d,\"end\":%d,\"computed\":%d,\"waited\":%d}%n",
                    id, port, ORDINALS.merge(port, 1, Integer::sum) - 1, start, System.nanoTime(), cpu * 1000L, waited - computed);
        }
    }

    public static void main(String[] args) throws Exception {
        System.setProperty("sun.net.httpserver.nodelay", "true");
        System.setProperty("http.maxConnections", "256");
        log = new PrintStream(System.getenv("LOG"));
        var server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(System.getenv("PORT"))), 1024);
        server.createContext("/", Executor::handle);
        server.setExecutor(Executors.newFixedThreadPool(size("WORKERS", 64)));
        server.start();
        System.out.println("ready");
    }
}
