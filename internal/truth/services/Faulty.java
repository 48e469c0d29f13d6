import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509TrustManager;

/**
 * The JVM service of the fault bench; its environment is documented in internal/truth/cmd/faulty. The names with thing in
 * them are replaced by others in each run.
 */
public class Faulty {
    interface Fault {
        void serve() throws Exception;
    }

    static final boolean FIXED = "1".equals(System.getenv("FIXED"));
    static final long COST = Long.parseLong(System.getenv("COST"));
    static final int MANY = Integer.parseInt(System.getenv("MANY"));
    static final String[] ROUTES = System.getenv("ROUTES").split(",");
    static final String UPSTREAM = System.getenv("UPSTREAM"), SECURE = System.getenv("SECURE");
    static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    static long vary(double us) {
        return (long) (us * (0.5 + ThreadLocalRandom.current().nextDouble()));
    }

    static long compute(long us) {
        long until = THREADS.getCurrentThreadCpuTime() + us * 1000, sum = us;
        while (THREADS.getCurrentThreadCpuTime() < until) {
            for (int i = 0; i < 5000; i++) sum = sum * 31 + i;
        }
        return sum;
    }

    static long priceThing(long us) {
        return compute(us);
    }

    static long digestThing(long us) {
        return compute(us);
    }

    /** A connection that is kept. */
    static final class Connection {
        final Socket socket;

        Connection(String address, boolean secure) throws Exception {
            String[] at = address.split(":");
            socket = secure ? TRUSTING.getSocketFactory().createSocket(at[0], Integer.parseInt(at[1])) : new Socket(at[0], Integer.parseInt(at[1]));
            socket.setTcpNoDelay(true);
        }

        void ask(String method, String path, double delay) throws IOException {
            String text = method + " " + path + "?delay=" + vary(delay) + " HTTP/1.1\r\nHost: " + UPSTREAM + "\r\nContent-Length: 0\r\n\r\n";
            socket.getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
            byte[] answer = new byte[4096];
            for (int n = 0; !new String(answer, 0, n, StandardCharsets.US_ASCII).endsWith("answer\n"); ) {
                int more = socket.getInputStream().read(answer, n, answer.length - n);
                if (more < 0) throw new IOException("the upstream closed");
                n += more;
            }
        }
    }

    static final SSLContext TRUSTING = trusting();

    static SSLContext trusting() {
        try {
            SSLContext c = SSLContext.getInstance("TLS");
            c.init(null, new TrustManager[] {new X509TrustManager() {
                @Override public void checkClientTrusted(X509Certificate[] chain, String type) { }
                @Override public void checkServerTrusted(X509Certificate[] chain, String type) { }
                @Override public X509Certificate[] getAcceptedIssuers() {
                    return new X509Certificate[0];
                }
            }}, null);
            return c;
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    static Connection open(String address, boolean secure) {
        try {
            return new Connection(address, secure);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    static final ThreadLocal<Connection> KEPT = ThreadLocal.withInitial(() -> open(UPSTREAM, false));
    static final ThreadLocal<Connection> SAFE = ThreadLocal.withInitial(() -> open(SECURE, true));

    static void asks(int route, String tail) throws IOException {
        KEPT.get().ask("GET", "/" + ROUTES[route] + tail, COST);
    }

    static final class Thing {
        final ReentrantLock lock = new ReentrantLock();
        final BlockingQueue<Connection> idle = new ArrayBlockingQueue<>(64);
        final ExecutorService helpers = Executors.newFixedThreadPool(32);
        final List<String> things = new ArrayList<>();
        final Map<String, Integer> known = new HashMap<>();
        final AtomicInteger hosts = new AtomicInteger();
        volatile boolean token;
        Entry[] entries;

        record Entry(Entry next, byte[] value) { }

        void connectionChurn() throws Exception {
            if (FIXED) {
                SAFE.get().ask("GET", "/" + ROUTES[1], COST);
                return;
            }
            Connection c = open(SECURE, true);
            c.ask("GET", "/" + ROUTES[1], COST);
            c.socket.close();
        }

        void nPlusOne() throws IOException {
            int n = FIXED ? 1 : 2 + ThreadLocalRandom.current().nextInt(MANY);
            for (int i = 0; i < n; i++) asks(1, "/" + (1000 + i));
        }

        void serialCalls() throws Exception {
            List<Integer> order = new ArrayList<>(List.of(1, 2, 3));
            Collections.shuffle(order);
            if (!FIXED) {
                for (int i : order) asks(i, "");
                return;
            }
            List<Callable<Void>> all = new ArrayList<>();
            for (int i : order) {
                all.add(() -> {
                    asks(i, "");
                    return null;
                });
            }
            helpers.invokeAll(all);
        }

        void slowPeer() throws IOException {
            boolean slow = !FIXED && ThreadLocalRandom.current().nextInt(5) == 0;
            KEPT.get().ask("GET", "/" + ROUTES[1], 1000 + (slow ? 5 * COST : 0));
        }

        void credentialFetch() throws IOException {
            if (FIXED && token) return;
            token = true;
            KEPT.get().ask("POST", "/oauth2/token", COST);
        }

        void lockConvoy() {
            if (FIXED) {
                digestThing(vary(COST));
                return;
            }
            lock.lock();
            try {
                digestThing(vary(COST));
            } finally {
                lock.unlock();
            }
        }

        void refreshUnderLock() throws IOException {
            if (FIXED) {
                asks(1, "");
                return;
            }
            synchronized (this) {
                asks(1, "");
            }
        }

        Connection borrow() throws InterruptedException {
            return idle.take();
        }

        void poolExhausted() throws Exception {
            Connection c = borrow();
            c.ask("GET", "/" + ROUTES[1], COST);
            idle.put(c);
        }

        void sleepRetry() throws InterruptedException {
            if (!FIXED) java.util.concurrent.TimeUnit.MICROSECONDS.sleep(vary(COST));
        }

        void disk() throws IOException {
            try (RandomAccessFile journal = new RandomAccessFile("/tmp/faulty-" + ProcessHandle.current().pid() + ".journal", "rw")) {
                journal.write(new byte[512]);
                if (!FIXED) journal.getFD().sync();
            }
        }

        void childProcess() throws Exception {
            if (!FIXED) new ProcessBuilder("/bin/true").start().waitFor();
        }

        void syncTelemetry() throws IOException {
            if (FIXED) return;
            String[] at = System.getenv("STATSD").split(":");
            for (int i = 0; i < MANY; i++) {
                byte[] text = ("thing.step" + i + ":1|c").getBytes(StandardCharsets.US_ASCII);
                METRICS.send(new DatagramPacket(text, text.length, InetAddress.getByName(at[0]), Integer.parseInt(at[1])));
            }
        }

        void gcPause() {
            for (int k = 0; k < MANY; k++) {
                Entry e = null;
                for (int i = 0; i < 16; i++) e = new Entry(e, new byte[32]);
                entries[ThreadLocalRandom.current().nextInt(entries.length)] = e;
            }
        }

        void cpuBound() {
            if (!FIXED && ThreadLocalRandom.current().nextInt(5) == 0) digestThing(5 * vary(COST));
        }

        void linearScan() {
            synchronized (known) {
                for (int i = 0; i < MANY; i++) {
                    known.put("thing-" + known.size(), i);
                    if (!FIXED) things.add("thing-" + known.size());
                }
                if (!FIXED) findThing("nobody");
            }
        }

        String findThing(String key) {
            for (String one : things) {
                if (one.equals(key)) return one;
            }
            return null;
        }

        void slowDns() throws IOException {
            if (!FIXED) lookUp(ROUTES[1] + ".thing.test");
            KEPT.get().ask("GET", "/" + ROUTES[1], 1000);
        }

        void lookUp(String name) throws IOException {
            ByteBuffer q = ByteBuffer.allocate(512);
            q.putShort((short) ThreadLocalRandom.current().nextInt(1 << 16)).putShort((short) 0x100).putShort((short) 1).putShort((short) 0).putInt(0);
            for (String part : name.split("\\.")) q.put((byte) part.length()).put(part.getBytes(StandardCharsets.US_ASCII));
            q.put((byte) 0).putShort((short) 1).putShort((short) 1);
            String[] at = System.getenv("DNS").split(":");
            try (DatagramSocket s = new DatagramSocket()) {
                s.send(new DatagramPacket(q.array(), q.position(), InetAddress.getByName(at[0]), Integer.parseInt(at[1])));
                s.receive(new DatagramPacket(new byte[512], 512));
            }
        }

        void tlsHandshake() throws Exception {
            int n = hosts.getAndIncrement();
            String at = "127.7." + n / 200 % 200 + "." + (n % 200 + 1) + ":";
            Connection c = FIXED ? open(at + UPSTREAM.split(":")[1], false) : open(at + SECURE.split(":")[1], true);
            c.ask("GET", "/" + ROUTES[1], 500);
            c.socket.close();
        }
    }

    static DatagramSocket METRICS;
    /** Requests, and ns in the fault or what stands in its place. */
    static final LongAdder SERVED = new LongAdder(), SPENT = new LongAdder();

    static Fault fault() throws Exception {
        Thing t = new Thing();
        METRICS = new DatagramSocket();
        switch (System.getenv("FAULT")) {
            case "none": case "delayed-ack": return () -> { };
            case "connection-churn": return t::connectionChurn;
            case "n-plus-one": return t::nPlusOne;
            case "serial-calls": return t::serialCalls;
            case "slow-peer": return t::slowPeer;
            case "credential-fetch": return t::credentialFetch;
            case "lock-convoy": return t::lockConvoy;
            case "refresh-under-lock": return t::refreshUnderLock;
            case "pool-exhausted":
                for (int i = 0; i < (FIXED ? 64 : 2); i++) t.idle.add(new Connection(UPSTREAM, false));
                return t::poolExhausted;
            case "sleep-retry": return t::sleepRetry;
            case "disk": return t::disk;
            case "child-process": return t::childProcess;
            case "sync-telemetry": return t::syncTelemetry;
            case "gc-pause":
                t.entries = new Thing.Entry[FIXED ? 1 << 8 : 1 << 15];
                for (int i = 0; i < t.entries.length * 4; i += MANY) t.gcPause(); // live data before it is ready
                return t::gcPause;
            case "cpu-bound": return t::cpuBound;
            case "linear-scan": return t::linearScan;
            case "slow-dns": return t::slowDns;
            case "tls-handshake": return t::tlsHandshake;
            default: throw new IllegalArgumentException("no such fault");
        }
    }

    public static void main(String[] args) throws Exception {
        Fault fault = fault();
        long ownCPU = Long.parseLong(System.getenv("OWN_CPU")), ownCall = Long.parseLong(System.getenv("OWN_CALL"));
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(System.getenv("PORT"))), 1024);
        var names = new AtomicInteger();
        server.setExecutor(Executors.newFixedThreadPool(64, run -> new Thread(run, "worker-" + names.getAndIncrement())));
        server.createContext("/", exchange -> {
            int status = 200;
            try {
                priceThing(vary(ownCPU));
                KEPT.get().ask("GET", "/" + ROUTES[0], ownCall);
                long begun = System.nanoTime();
                fault.serve();
                SPENT.add(System.nanoTime() - begun);
                SERVED.increment();
            } catch (Exception e) {
                e.printStackTrace();
                status = 500;
            }
            exchange.sendResponseHeaders(status, 3);
            exchange.getResponseBody().write("ok\n".getBytes(StandardCharsets.US_ASCII));
            exchange.close();
        });
        server.createContext("/cost", exchange -> {
            byte[] text = (SERVED.sum() + " " + SPENT.sum() + "\n").getBytes(StandardCharsets.US_ASCII);
            exchange.sendResponseHeaders(200, text.length);
            exchange.getResponseBody().write(text);
            exchange.close();
        });
        server.start();
        System.out.println("ready");
    }
}
