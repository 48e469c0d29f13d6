import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.FileWriter;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.net.HttpURLConnection;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A JVM service whose threads wait for each other in one known way, PROBLEM, or no longer, with FIXED=1. GET
 * /work?cpu=US&calls=N&delay=US. On SIGTERM one JSON line for each time that a lock was taken goes to $LOG: when it
 * was asked for, had and left, on the kernel's monotonic clock, by which thread. GC pauses are the JVM's own to log.
 */
public class Locks {
    static final boolean FIXED = "1".equals(System.getenv("FIXED"));
    static final String UPSTREAM = System.getenv("UPSTREAM");
    static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    static final Queue<String> LOG = new ConcurrentLinkedQueue<>();
    static final ThreadLocal<String> TID = ThreadLocal.withInitial(Locks::tid);

    interface Problem {
        void serve(Request r) throws Exception;
    }

    /** A lock held over a call: a monitor. Fixed: callers ask side by side. */
    static final class Tokens implements Problem {
        @Override public void serve(Request r) throws IOException {
            if (FIXED) {
                renew(r);
                return;
            }
            r.asks();
            synchronized (this) {
                r.has();
                renew(r);
                r.leaves();
            }
        }

        void renew(Request r) throws IOException {
            var c = (HttpURLConnection) new URL("http://" + UPSTREAM + "/answer?delay=" + r.delay).openConnection();
            c.setRequestProperty("X-Request-Id", r.id);
            try (InputStream in = c.getInputStream()) {
                in.readAllBytes();
            }
        }
    }

    /** A lock held over computing: a ReentrantLock. Fixed: only what is shared is under it. */
    static final class Ledger implements Problem {
        final ReentrantLock lock = new ReentrantLock();
        long total;

        @Override public void serve(Request r) {
            long sum = FIXED ? checksum(r.cpu) : 0;
            r.asks();
            lock.lock();
            try {
                r.has();
                total += FIXED ? sum : checksum(r.cpu);
                r.leaves();
            } finally {
                lock.unlock();
            }
        }

        long checksum(long us) {
            long until = THREADS.getCurrentThreadCpuTime() + us * 1000, sum = us;
            while (THREADS.getCurrentThreadCpuTime() < until) {
                for (int i = 0; i < 5000; i++) sum = sum * 31 + i;
            }
            return sum;
        }
    }

    /** A pool of two connections. Fixed: as many as there are threads. */
    static final class ConnectionPool implements Problem {
        final BlockingQueue<Connection> idle = new ArrayBlockingQueue<>(64);

        ConnectionPool() throws IOException {
            for (int i = 0; i < (FIXED ? WORKERS : 2); i++) idle.add(new Connection());
        }

        Connection borrow() throws InterruptedException {
            return idle.take();
        }

        void giveBack(Connection c) throws InterruptedException {
            idle.put(c);
        }

        @Override public void serve(Request r) throws Exception {
            r.asks();
            Connection c = borrow();
            r.has();
            c.query(r);
            r.leaves();
            giveBack(c);
        }
    }

    static final class Connection {
        final Socket socket = new Socket(UPSTREAM.split(":")[0], Integer.parseInt(UPSTREAM.split(":")[1]));

        Connection() throws IOException {
            socket.setTcpNoDelay(true);
        }

        void query(Request r) throws IOException {
            String text = "GET /answer?delay=" + r.delay + " HTTP/1.1\r\nHost: upstream\r\nX-Request-Id: " + r.id + "\r\n\r\n";
            socket.getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
            byte[] answer = new byte[4096];
            for (int n = 0; !new String(answer, 0, n, StandardCharsets.US_ASCII).endsWith("answer\n"); ) {
                int more = socket.getInputStream().read(answer, n, answer.length - n);
                if (more < 0) throw new IOException("the upstream closed");
                n += more;
            }
        }
    }

    /** Live data that fills the heap and is replaced all the time. Fixed: little of it. */
    static final class Cache implements Problem {
        record Entry(Entry next, byte[] value) { }

        final Entry[] entries = new Entry[FIXED ? 1 << 8 : 1 << 15];
        final Random random = new Random(7);

        Cache() {
            for (int i = 0; i < entries.length; i++) entries[i] = entry();
        }

        Entry entry() {
            Entry e = null;
            for (int i = 0; i < 16; i++) e = new Entry(e, new byte[32]);
            return e;
        }

        @Override public void serve(Request r) {
            for (int i = 0; i < r.cpu; i++) entries[random.nextInt(entries.length)] = entry();
        }
    }

    static final class Request {
        final HttpExchange exchange;
        final String id;
        long cpu, delay, asked, had, left;

        Request(HttpExchange exchange) {
            this.exchange = exchange;
            id = exchange.getRequestHeaders().getFirst("X-Request-Id");
            for (String part : exchange.getRequestURI().getQuery().split("&")) {
                if (part.startsWith("cpu=")) cpu = Long.parseLong(part.substring(4));
                if (part.startsWith("delay=")) delay = Long.parseLong(part.substring(6));
            }
        }

        void asks() {
            asked = System.nanoTime();
        }

        void has() {
            had = System.nanoTime();
        }

        void leaves() {
            left = System.nanoTime();
        }

        /** Later, so that it is held no longer than it is said to be. */
        void log() {
            if (left > 0) {
                LOG.add("{\"lock\":\"it\",\"id\":" + id + ",\"thread\":" + TID.get() + ",\"asked\":" + asked
                    + ",\"had\":" + had + ",\"left\":" + left + "}\n");
            }
        }
    }

    static final int WORKERS = 24;

    static Problem problem() throws IOException {
        switch (System.getenv("PROBLEM")) {
            case "call": return new Tokens();
            case "cpu": return new Ledger();
            case "pool": return new ConnectionPool();
            case "gc": return new Cache();
            default: throw new IllegalArgumentException("no such problem");
        }
    }

    static String tid() {
        try {
            return Files.readSymbolicLink(Path.of("/proc/thread-self")).getFileName().toString();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static void writeLog() {
        try (FileWriter out = new FileWriter(System.getenv("LOG"))) {
            for (String line : LOG) out.write(line);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public static void main(String[] args) throws IOException {
        Problem problem = problem();
        if (System.getenv("LOG") != null) Runtime.getRuntime().addShutdownHook(new Thread(Locks::writeLog));
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(System.getenv("PORT"))), 1024);
        var names = new AtomicInteger();
        server.setExecutor(Executors.newFixedThreadPool(WORKERS, run -> new Thread(run, "worker-" + names.getAndIncrement())));
        server.createContext("/work", exchange -> {
            int status = 200;
            try {
                var request = new Request(exchange);
                problem.serve(request);
                request.log();
            } catch (Exception e) {
                e.printStackTrace();
                status = 500;
            }
            exchange.sendResponseHeaders(status, 3);
            exchange.getResponseBody().write("ok\n".getBytes(StandardCharsets.US_ASCII));
            exchange.close();
        });
        server.start();
        System.out.println("ready");
    }
}
